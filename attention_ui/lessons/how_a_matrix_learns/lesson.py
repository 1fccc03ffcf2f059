"""How a matrix learns: the controls, and traces as functions of their values."""

from collections.abc import Callable
from functools import lru_cache

from attention_core.experiments.learning import LOSSES, MATRICES, Goal
from attention_core.largest_effect import largest_cell
from attention_core.mechanism.trainable import attend_trainable
from attention_core.recipes import Projections
from attention_core.text.embedding import embed
from attention_core.text.inputs import Inputs
from attention_core.text.tokenizers import visible
from attention_core.trace import Trace

from ...controls import shared
from ...controls.fields import MAX_TOKENS, CellPlace
from ...reactive.control import Control, Values
from ...reactive.fields import Choice, Decimal, Whole
from .layer import Layer, layer

RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
CHANGE = 3
"""An entry can be moved by so much, up and down."""
WAYS = {
    "mask": "Causal mask",
    "dropout": "Dropout",
    "residual": "Residual",
    "heads": "Several heads",
}


def _asks(values: Values) -> int:
    """The query with the largest effect; the last where that is the first and sees no other."""
    return shared.telling_query(values) or max(len(shared.inputs_of(values).tokens) - 1, 0)


def _answers(values: Values) -> int:
    """The token before the query that the example's own matrices look at most."""
    if not values.learning_query:
        return 0
    inputs = shared.inputs_of(shared.as_drawn(values))
    return _looked_at(inputs, shared.example_of(values).projections, values.learning_query)


@lru_cache(maxsize=64)
def _looked_at(inputs: Inputs, recipe: Projections, query: int) -> int:
    return int(attend_trainable(embed(inputs), recipe)["weights"].value[query, :query].argmax())


def _losses(values: Values) -> dict[str, str]:
    """A sentence of one token has no next token."""
    alone = len(shared.inputs_of(values).tokens) < 2
    return {name: title for name, title in LOSSES.items() if name != "next_token" or not alone}


def _learning(values: Values) -> dict[str, str]:
    """The matrices that the loss depends on."""
    n_matrices = {"weight": 2, "context": 3, "next_token": 4}[values.loss]
    return {name: name for name in MATRICES[:n_matrices]}


def _rows(values: Values) -> dict[int, str]:
    if values.entry_matrix == "W_output":
        return _counted(values.learning_width)
    return shared.entries(values)


def _columns(values: Values) -> dict[int, str]:
    if values.entry_matrix != "W_output":
        return _counted(values.learning_width)
    distinct = dict.fromkeys(shared.inputs_of(values).tokens)
    return {at: f"{at}: {visible(token)}" for at, token in enumerate(distinct)}


def _steepest(axis: int) -> Callable[[Values], int]:
    """The row or the column of the entry with the largest gradient: an update moves it most."""

    def place(values: Values) -> int:
        return largest_cell(layer_of(shared.as_drawn(values)).gradients[values.entry_matrix])[axis]

    return place


def _counted(n: int) -> dict[int, str]:
    return {at: f"d{at}" for at in range(n)}


LOSS = Control("loss", Choice(LOSSES), "What is to be learned", "weight", options=_losses,
               widget="segmented_control")  # fmt: skip
LEARNING_QUERY = shared.place_of_token("learning_query", "Query", _asks)
WANTED_KEY = Control(
    "wanted_key", Whole(0, MAX_TOKENS - 1), "Key", _answers,
    options=lambda v: dict([*shared.numbered_tokens(v).items()][: v.learning_query + 1]),
)  # fmt: skip
LEARNING_WIDTH = Control("learning_width", Whole(1, 16), "Width of the layer", 4, undoes=("cell",))
LEARNING_SEED = shared.seed_of("learning_seed", "Seed of the layer", 28)
ENTRY_MATRIX = Control(
    "entry_matrix", Choice({name: name for name in MATRICES}), "Matrix", "W_query",
    options=_learning,
)  # fmt: skip
ENTRY_ROW = Control("entry_row", Whole(0, shared.MAX_WIDTH - 1), "Row", _steepest(0), options=_rows)
ENTRY_COLUMN = Control(
    "entry_column", Whole(0, MAX_TOKENS - 1), "Column", _steepest(1), options=_columns
)
ENTRY_CHANGE = Control(
    "entry_change", Decimal(-CHANGE, CHANGE), "Add to this entry", 0.0, look={"step": 0.2}
)
GRADIENT_WAY = Control("gradient_way", Choice(WAYS), "Look at", "mask")
UPDATE_RATE = Control("update_rate", Decimal.among(*RATES), "Learning rate", 1)
CONTROLS = (
    *(*shared.MAKES_VECTORS, LOSS, LEARNING_QUERY, WANTED_KEY, LEARNING_WIDTH, LEARNING_SEED),
    *(ENTRY_MATRIX, ENTRY_ROW, ENTRY_COLUMN, ENTRY_CHANGE, shared.TEMPERATURE),
    *(GRADIENT_WAY, UPDATE_RATE),
)


def layer_of(values: Values) -> Layer:
    """The layer that learns."""
    goal = Goal(values.loss, values.learning_query, values.wanted_key)
    return layer(shared.inputs_of(values), goal, values.learning_width, values.learning_seed)


def trace_of(values: Values) -> Trace:
    """The lesson's trace."""
    return layer_of(values).trace()


def entry_at(place: CellPlace) -> dict[str, str | int]:
    """The values of the controls that choose an entry, for a cell of a matrix."""
    name, index = place
    if name not in MATRICES:
        return {}
    return {"entry_matrix": name, "entry_row": index[0], "entry_column": index[1]}


def entry_of(values: Values) -> tuple[str, tuple[int, int]]:
    """The entry that is moved."""
    return values.entry_matrix, (values.entry_row, values.entry_column)
