"""A round of *Find the mistake*: what is on the table, the guess, the reason, the next round."""

from dataclasses import dataclass, field

from attention_core.mistakes.layer import layer, right_inputs
from attention_core.mistakes.rounds import LEVELS, due, next_seed, switched_on
from attention_core.mistakes.switched import MISTAKES
from attention_core.operations import Given
from attention_core.operations.base import Meaning
from attention_core.recipes import PLURAL
from attention_core.trace import Trace

from ...cards.elements import equation
from ...cards.question import was_missed
from ...controls.lesson_session import this_session
from ...controls.shared import HEAD, seed_of
from ...picture.equation_parts import equation_of
from ...picture.layout import Layout
from ...picture.matrix import Matrix
from ...reactive import settings
from ...reactive.control import Control, Values
from ...reactive.fields import Choice
from .lesson import MAKES_LAYER, SWITCH, layer_of

LEVEL = Control(
    "level",
    Choice(dict(zip(LEVELS, ("One red light", "Several", "No red light"), strict=True))),
    "Level",
    "one",
    undoes=("cell",),
)
ROUND_SEED = seed_of("round_seed", "Round", 0, undoes=("cell",))
TENSOR = Control(
    "tensor",
    Choice(
        {
            "token_ids": "Ids",
            "embeddings": "Embeddings",
            "head_queries": "Queries, keys and values",
            "mask": "Mask",
            "head_weights": "Weights",
            "head_context_vectors": "Context vectors",
            "output": "Output of the heads",
            "normed": "After layer norm",
            "layer_output": "Output of the layer",
        }
    ),
    "Tensor",
    "head_weights",
)
CONTROLS = (*MAKES_LAYER, LEVEL, ROUND_SEED, TENSOR, SWITCH, HEAD)
MISTAKE = "mistake"
"""What the questions cover: which mistake it is."""
BEFORE = ("token_ids", "embeddings", "head_queries", "head_keys", "head_values", "mask")
BEFORE += ("head_weights", "W_output")
"""Steps whose numbers are on the table. Not how they came about: that would name the mistake."""
AFTER = {
    "head_context_vectors": ("head_weights", "head_values"),
    "concat": ("head_context_vectors",),
    "output": ("concat", "W_output"),
}
"""Steps that every layer makes from others in the same way."""


@dataclass
class Played:
    """The rounds of a visit, by their level: the mistake of each, and whether it was missed."""

    rounds: dict[str, list[tuple[str, bool]]] = field(default_factory=dict)


def hidden(values: Values) -> str:
    """The mistake of this round; "" where this text can show none."""
    return switched_on(*layer_of(values), values.level, values.round_seed)


def trace_of(values: Values) -> Trace:
    """The tensors on the table: numbers that were given, and what is made from them in any case."""
    (inputs, recipe), name = layer_of(values), hidden(values)
    made = MISTAKES[name].layer(inputs, recipe) if name else layer(right_inputs(inputs), recipe)
    weights, _ = made["head_context_vectors"].inputs  # whatever is done to them on the way
    found = {step: made[step] for step in (*BEFORE, *AFTER, *TENSOR.field.options)}
    found["head_weights"] = weights
    trace = made.emptied()
    for name, step in found.items():
        operation, operands = Given.of(step.value), []
        if name in AFTER:  # no mistake changes how these are made
            operation, operands = step.operation, [trace[each] for each in AFTER[name]]
        meaning = Meaning.SHARES if name == "head_weights" else None  # whatever the mistake made
        trace.step(name, operation, *operands, axes=step.axes, meaning=meaning)
    return trace


def of_head(trace: Trace, values: Values, name: str, tall: float) -> Layout:
    """A tensor of one head, with what it is made from where that may be told."""
    lead = (min(values.head, trace.size("head") - 1),)
    if name == "head_queries":
        roles = (Matrix(trace[f"head_{role}"], lead=lead) for role in PLURAL.values())
        return equation(trace, *roles, tall=tall)
    step = trace[name]
    drawn = [Matrix(each, lead=lead) for each in (*step.inputs, step) if each.value.ndim == 3]
    return equation(trace, *equation_of(step, drawn=drawn), tall=tall)


def name_of_round(values: Values) -> str:
    """What a question of this round is told by."""
    return f"{values.level}_{values.round_seed}"


def is_missed(values: Values) -> bool:
    """Whether the mistake of this round was not named at once."""
    return was_missed(f"mistake_{name_of_round(values)}")


def next_round() -> None:
    """From a button: the round after this one, or the one of a mistake that is to come again."""
    values = settings.values()
    if "level" not in values:
        return  # pressed on a page that is left
    played = this_session().own(Played).rounds.setdefault(values.level, [])
    played.append((hidden(values), is_missed(values)))
    seed = next_seed(*layer_of(values), values.level, values.round_seed, due(played))
    settings.change(round_seed=seed)
