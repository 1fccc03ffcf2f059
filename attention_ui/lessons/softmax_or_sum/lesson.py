"""Softmax or sum: its controls, and its traces as functions of their values."""

from functools import lru_cache
from typing import Any

from torch import Tensor

from attention_core.largest_effect import parting_row, passes_zero, spreads_most
from attention_core.mechanism.simplified import SimplifiedOptions, attend
from attention_core.mechanism.softmax import compare_row, given_row, normalise_row
from attention_core.operations import Given
from attention_core.text.embedding import embed
from attention_core.text.inputs import Inputs
from attention_core.trace import Trace

from ...controls import shared
from ...controls.fields import ScoreRow
from ...reactive.control import Control, Values
from ...reactive.fields import Choice, Decimal
from ...words import true_minus

GOOD, FAIR = 2.0, 1.0
MAX_SCORE, MAX_SCORES = 1_000.0, 16


def _row_of_example(values: Values) -> int:
    """The row that the notebook looks at; else the one shared out least alike by the two ways."""
    example = shared.example_of(values)
    if example.notebook and values.sentence == example.inputs.sentence:
        return shared.last_or(example.query, values)
    return _parting(shared.inputs_of(shared.as_drawn(values)))


@lru_cache(maxsize=64)
def _parting(inputs: Inputs) -> int:
    return parting_row(attend(embed(inputs))["scores"].value) if inputs.tokens else 0


POOR = Control("poor", Decimal(-6, 2), "Score of the poor match", -4.0, look={"step": 0.5})
ROW_FROM = Control(
    "row_from", Choice({"example": "The example", "hand": "By hand"}), "Scores from", "example"
)
ROW_QUERY = shared.place_of_token("row_query", "Query of the row", _row_of_example)
TYPED = Control(
    "typed",
    ScoreRow(MAX_SCORE, MAX_SCORES),
    "Scores",
    (3.0, 1.0, -1.0, -1.0),
    hint=f"1 to {MAX_SCORES} numbers",
    look={
        "help": f"Numbers from −{MAX_SCORE:,.0f} to {MAX_SCORE:,.0f} with commas between them. "
        "Type -inf for a key that is hidden."
    },
)
STEP, MOST_ADDED, MOST_MAGNIFIED = 0.5, 10.0, 16.0
SHIFT = Control(
    "shift",
    Decimal(-MOST_ADDED, MOST_ADDED),
    "Add to all scores",
    lambda values: passes_zero(_scores_as_drawn(values), STEP, MOST_ADDED),
    look={"step": STEP},
)
MAGNIFY = Control(
    "magnify",
    Decimal(0, MOST_MAGNIFIED),
    "Multiply all scores by",
    lambda values: spreads_most(_scores_as_drawn(values), STEP, MOST_MAGNIFIED),
    look={"step": STEP},
)
PUSH = Control(
    "push", Decimal(-150, 150), "Add to all scores, until they overflow", 90.0, look={"step": 0.5}
)
PRECISION = Control(
    "precision",
    Choice({name: name for name in ("float32", "float16", "bfloat16")}),
    "Numbers are kept in",
    "float32",
)
MAKES_ROW = (*shared.MAKES_VECTORS, shared.SIMILARITY, shared.DIVIDE, ROW_FROM, ROW_QUERY, TYPED)
CONTROLS = (*MAKES_ROW, POOR, SHIFT, MAGNIFY, PUSH, PRECISION)


def _scores_as_drawn(values: Values) -> Tensor:
    """The row before any number of its vectors was changed: what the page opens with stays."""
    return row_of(shared.as_drawn(values))["score_row"].value


def row_of(values: Values) -> Trace:
    """A trace with `score_row` (key): a row of the example's scores, or the typed one."""
    if values.row_from == "hand":
        return given_row(values.typed)
    options = SimplifiedOptions(values.similarity, values.divide)
    return compare_row(embed(shared.inputs_of(values)), values.row_query, options)


def row_below_0(values: Values) -> dict[str, Any]:
    """The settings of a row with scores below 0: the example's lowest query, or typed ones."""
    if values.row_from == "example":
        vectors = embed(shared.inputs_of(values))["embeddings"].value
        lowest = (vectors @ vectors.mT).min(dim=-1).values
        if lowest.min() < 0:
            return {"row_query": int(lowest.argmin())}
    return {"row_from": "hand", "typed": TYPED.start}


def trace_of(values: Values) -> Trace:
    """The lesson's trace: one row of scores, and both ways from it to weights."""
    return normalise_row(row_of(values))


def matches_of(poor: float) -> Trace:
    """Three scores of words that match a query more or less, and both ways to their weights."""
    trace = Trace()
    trace.label("key", ("good", "fair", "poor"))
    trace.step("score_row", Given((GOOD, FAIR, poor)), axes=("key",))
    return normalise_row(trace)


def numbered_keys(values: Values) -> tuple[str, ...]:
    """The keys as choices: the tokens, or the typed scores, each with its place."""
    if values.row_from == "example":
        return tuple(shared.numbered_tokens(values).values())
    return tuple(
        f"{place}: score {true_minus(f'{score:g}')}" for place, score in enumerate(values.typed)
    )
