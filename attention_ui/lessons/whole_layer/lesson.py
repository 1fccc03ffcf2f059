"""The whole layer: its controls, its trace as a function of their values, and what is drawn."""

from collections.abc import Sequence
from functools import lru_cache

from attention_core.largest_effect import telling_query
from attention_core.mechanism.multi_head import attend_heads
from attention_core.operations import Draw, Drop
from attention_core.recipes import HeadsRecipe
from attention_core.text.embedding import embed
from attention_core.text.inputs import Inputs
from attention_core.trace import Trace

from ...controls import shared
from ...picture.equation_parts import equation_of
from ...picture.matrix import Matrix
from ...reactive.control import Control, Values
from ...reactive.fields import Choice, Whole

SHOWN = ("queries", "keys", "values", "scores", "weights", "context_vectors", "output")
OPENED = Control("opened", Choice({name: name for name in SHOWN}), "Show the numbers of", "weights")
HEAD = Control(
    "head",
    Whole(0, shared.MAX_HEADS - 1),
    "Head",
    shared.telling_head,
    widget="segmented_control",
    options=shared.heads_called,
)
BEFORE_DROPOUT = (*shared.MAKES_VECTORS, *shared.HEADS)
BEFORE_DROPOUT += (shared.SCALE, shared.NORMALISE, shared.TEMPERATURE)
CONTROLS = (*BEFORE_DROPOUT, shared.DROPOUT, shared.DROP_SEED, OPENED, HEAD)


def trace_of(values: Values) -> Trace:
    """The lesson's trace: every step from tokens to output."""
    return attend_heads(embed(shared.inputs_of(values)), shared.layer_recipe_of(values))


def first_query(values: Values) -> int:
    """The query shown first: of largest effect in the first head, whatever the temperature."""
    return _first_query(shared.inputs_of(shared.as_drawn(values)), shared.heads_recipe_of(values))


@lru_cache(maxsize=64)
def _first_query(inputs: Inputs, recipe: HeadsRecipe) -> int:
    return telling_query(attend_heads(embed(inputs), recipe)["head_weights"].value[0])


def in_numbers(trace: Trace, values: Values) -> Sequence[Matrix | str]:
    """The chosen matrix as the equation that makes it, in one head."""
    name = f"head_{values.opened}" if f"head_{values.opened}" in trace else values.opened
    step = trace[name]
    return equation_of(
        step,
        drawn=[
            Matrix(each, lead=(values.head,), transposed=at == 1 and step.operation.transpose)
            for at, each in enumerate((*step.inputs, step))
            if each.axes[0] == "head"
        ],
    )


def with_dropout(layer: Trace, values: Values, rate: float) -> Trace:
    """The layer, and beside it what dropout at this rate would leave of its weights: at 0 all."""
    trace, weights = layer.branch(), layer["head_weights"]
    draw = Draw("uniform", tuple(weights.value.shape), seed=values.drop_seed)
    kept = trace.step("head_kept", draw, axes=weights.axes)
    trace.step("head_dropped_weights", Drop(rate), weights, kept, axes=weights.axes)
    return trace
