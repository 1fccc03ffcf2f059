"""Multi-head attention: its controls, and its traces as functions of their values."""

from dataclasses import replace
from functools import lru_cache

from attention_core.mechanism import multi_head
from attention_core.operations import Subtract
from attention_core.recipes import MAX_HEADS, HeadsRecipe
from attention_core.text.embedding import embed
from attention_core.text.inputs import Inputs
from attention_core.trace import Step, Trace

from ...controls import shared
from ...picture.equation_parts import NEW_LINE, Parts
from ...picture.matrix import Matrix
from ...reactive.control import Control, Values
from ...reactive.fields import Choice, Whole

DRAWN_CELLS = 8_192
"""So many cells are drawn of the heads side by side; with more, the page would be slow."""
MOST_COLUMNS = 48
"""Of heads side by side; with more, a line could not be read."""
MIX = Control("mix", Choice({"given": "As given", "identity": "Identity"}), "W_output", "given")
HEAD_OFF = Control(
    "head_off",
    Whole(0, MAX_HEADS - 1),
    "Head that is off",
    lambda values: _adds_most(values),
    options=shared.heads_called,
)
HEAD_CUT = Control(
    "head_cut",
    Whole(0, MAX_HEADS - 1),
    "Head that is cut",
    0,
    widget="segmented_control",
    options=shared.heads_called,
)
CUT_BY = Control(
    "cut_by",
    Choice({"split": "Split, then transpose", "reshape": "Reshape alone"}),
    "Cut by",
    "reshape",
)
CONTROLS = (*shared.MAKES_VECTORS, *shared.HEADS, MIX, shared.QUERY, HEAD_OFF, CUT_BY, HEAD_CUT)


def trace_of(values: Values) -> Trace:
    """The lesson's trace: all heads, other ways to make them, and what each gives to the output."""
    trace = multi_head.attend_heads(
        embed(shared.inputs_of(values)), shared.heads_recipe_of(values), mixes=values.mix == "given"
    )
    for add in (multi_head.add_batched, multi_head.add_big_projection, multi_head.add_head_parts):
        add(trace)
    return multi_head.expand_word(trace, values.query)


def _adds_most(values: Values) -> int:
    """The head that the output would miss most; of a notebook the first."""
    if shared.example_of(values).notebook:
        return 0
    return _most_added(shared.inputs_of(values), shared.heads_recipe_of(values))


@lru_cache(maxsize=64)
def _most_added(inputs: Inputs, recipe: HeadsRecipe) -> int:
    trace = multi_head.attend_heads(embed(inputs), recipe)
    multi_head.add_head_parts(trace)
    return int(trace["head_outputs"].value.norm(dim=(1, 2)).argmax())


def without_a_head(trace: Trace, head: int) -> Trace:
    """The lesson's trace with one head switched off, and what the output loses by it."""
    branch = multi_head.switch_off(trace.branch(), head)
    given = (branch["output"], branch["output_left"])
    branch.step("output_lost", Subtract(), *given, axes=given[0].axes)
    return branch


def heads_compete(values: Values) -> Trace:
    """The lesson's trace with a softmax over the heads instead of the keys, and no mask."""
    recipe = replace(shared.heads_recipe_of(values), causal=False)
    return multi_head.attend_heads(embed(shared.inputs_of(values)), recipe, softmax_dim=-3)


def n_drawn(step: Step) -> int:
    """How many heads of a step are drawn side by side."""
    return min(len(step.value), max(1, DRAWN_CELLS // step.value[0].numel()))


def side_by_side(step: Step, briefly: bool = False) -> Parts:
    """All heads of a step, or the first of very large ones; `briefly`: by short names."""
    most = max(1, MOST_COLUMNS // step.value.shape[-1])
    n_lines = -(-n_drawn(step) // most)
    in_a_line = -(-n_drawn(step) // n_lines)
    parts: list[Matrix | str] = []
    for head in range(n_drawn(step)):
        is_new_line = head and head % in_a_line == 0
        parts += [NEW_LINE] if is_new_line else []
        title = f"head {head}" if briefly else None
        parts.append(Matrix(step, lead=(head,), title=title, column_labels=head < in_a_line))
    return tuple(parts)
