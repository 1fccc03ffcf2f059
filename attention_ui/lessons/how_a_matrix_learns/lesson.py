"""How a matrix learns: the controls, and traces as functions of their values."""

from functools import lru_cache

from attention_core import operations as ops
from attention_core.experiments.learning import (
    LOSSES,
    MATRICES,
    Goal,
    attend_to_learn,
    gradients_of,
    moved,
    updated,
    with_gradients,
)
from attention_core.experiments.training import Matrices, TrainingSettings, start
from attention_core.gradients import backward
from attention_core.mechanism.builder import times
from attention_core.mechanism.multi_head import attend_heads
from attention_core.mechanism.trainable import attend_trainable
from attention_core.recipes import HeadsRecipe, Projections
from attention_core.text.embedding import embed
from attention_core.text.inputs import Inputs
from attention_core.text.tokenizers import visible
from attention_core.trace import Trace

from ...controls.control import Control, Values
from ...controls.fields import MAX_TOKENS, Choice, Decimal, Whole
from ...controls.shared import (
    MAX_SEED,
    MAX_WIDTH,
    SOURCE,
    TEMPERATURE,
    entries,
    example_of,
    inputs_of,
    numbered_tokens,
)

RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
REACH_WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512)
CHANGE = 3
"""An entry can be moved by so much, up and down."""
WAYS = {
    "mask": "Causal mask",
    "dropout": "Dropout",
    "residual": "Residual",
    "heads": "Several heads",
}


def _asks(values: Values) -> int:
    """The example's query; the last token where that is the first, which has nothing before it."""
    last = max(len(inputs_of(values).tokens) - 1, 0)
    return min(example_of(values).query or last, last)


def _answers(values: Values) -> int:
    """The token before the query that the example's own matrices look at most."""
    if not values.learning_query:
        return 0
    return _looked_at(inputs_of(values), example_of(values).projections, values.learning_query)


@lru_cache(maxsize=64)
def _looked_at(inputs: Inputs, recipe: Projections, query: int) -> int:
    weights = attend_trainable(embed(inputs), recipe)["weights"].value
    return int(weights[query, :query].argmax())


def _losses(values: Values) -> dict[str, str]:
    """A sentence of one token has no next token."""
    alone = len(inputs_of(values).tokens) < 2
    return {name: title for name, title in LOSSES.items() if name != "next_token" or not alone}


def _before(values: Values) -> dict[int, str]:
    tokens = numbered_tokens(values)
    return {at: name for at, name in tokens.items() if at <= values.learning_query}


def _learning(values: Values) -> dict[str, str]:
    """The matrices that the loss depends on."""
    return {name: name for name in _names(values.loss)}


def _names(loss: str) -> tuple[str, ...]:
    return MATRICES[: {"weight": 2, "context": 3, "next_token": 4}[loss]]


def _rows(values: Values) -> dict[int, str]:
    if values.entry_matrix == "W_output":
        return _counted(values.learning_width)
    return entries(values)


def _columns(values: Values) -> dict[int, str]:
    if values.entry_matrix != "W_output":
        return _counted(values.learning_width)
    distinct = dict.fromkeys(inputs_of(values).tokens)
    return {at: f"{at}: {visible(token)}" for at, token in enumerate(distinct)}


def _counted(n: int) -> dict[int, str]:
    return {at: f"d{at}" for at in range(n)}


LOSS = Control("loss", Choice(LOSSES), "What is to be learned", "weight", options=_losses,
               widget="segmented_control")  # fmt: skip
ASKS = Control("learning_query", Whole(0, MAX_TOKENS - 1), "Query", _asks, options=numbered_tokens)
ANSWERS = Control("wanted_key", Whole(0, MAX_TOKENS - 1), "Key", _answers, options=_before)
WIDTH = Control("learning_width", Whole(1, 16), "Width of the layer", 4, undoes=("cell",))
STARTS = Control("learning_seed", Whole(0, MAX_SEED), "Seed of the layer", 28, "text_input")
ENTRY_MATRIX = Control(
    "entry_matrix", Choice({name: name for name in MATRICES}), "Matrix", "W_query",
    options=_learning,
)  # fmt: skip
ENTRY_ROW = Control("entry_row", Whole(0, MAX_WIDTH - 1), "Row", 0, options=_rows)
ENTRY_COLUMN = Control("entry_column", Whole(0, MAX_TOKENS - 1), "Column", 0, options=_columns)
ENTRY_CHANGE = Control(
    "entry_change", Decimal(-CHANGE, CHANGE), "Add to this entry", 0.0, look={"step": 0.2}
)
REACH = Control("reach_width", Whole(1, 512, REACH_WIDTHS), "Width d", 64)
WAY = Control("gradient_way", Choice(WAYS), "Look at", "mask")
RATE = Control("update_rate", Decimal(RATES[0], RATES[-1], RATES), "Learning rate", 1)
OF_LAYER = (*SOURCE, LOSS, ASKS, ANSWERS, WIDTH, STARTS)
OF_ENTRY = (ENTRY_MATRIX, ENTRY_ROW, ENTRY_COLUMN)
CONTROLS = (*OF_LAYER, *OF_ENTRY, ENTRY_CHANGE, TEMPERATURE, REACH, WAY, RATE)


def goal_of(values: Values) -> Goal:
    """What the layer is to do better."""
    return Goal(values.loss, values.learning_query, values.wanted_key)


def matrices_of(values: Values) -> Matrices:
    """The matrices before anything is learned: those that *Train it* begins with, at this width."""
    inputs = inputs_of(values)
    vectors = embed(inputs)["embeddings"].value
    settings = TrainingSettings(width=values.learning_width, seed=values.learning_seed)
    n_distinct = len(dict.fromkeys(inputs.tokens))
    return start(vectors.shape[1], n_distinct, settings, vectors.dtype)


def learning(values: Values, matrices: Matrices, temperature: float = 1.0) -> Trace:
    """The layer with its loss, and the backward pass."""
    embedded = embed(inputs_of(values))
    return with_gradients(attend_to_learn(embedded, matrices, goal_of(values), temperature,
                                          target=_target(values)))  # fmt: skip


def loss_of(values: Values, matrices: Matrices) -> float:
    """The loss alone, of one real pass."""
    embedded = embed(inputs_of(values))
    made = attend_to_learn(embedded, matrices, goal_of(values), target=_target(values))
    return made["loss"].value.item()


def _target(values: Values):
    """The vector that a context vector is to be like: it stays when the matrices move."""
    vector = embed(inputs_of(values))["embeddings"].value[values.wanted_key]
    return vector @ matrices_of(values).W_value


def trace_of(values: Values) -> Trace:
    """The lesson's trace."""
    return learning(values, matrices_of(values))


def entry_of(values: Values) -> tuple[str, tuple[int, int]]:
    """The entry that is moved."""
    return values.entry_matrix, (values.entry_row, values.entry_column)


def with_entry(values: Values, change: float) -> Matrices:
    """The matrices with the entry moved."""
    return moved(matrices_of(values), *entry_of(values), change)


def after(values: Values, trace: Trace, rate: float) -> Matrices:
    """The matrices after one update."""
    return updated(matrices_of(values), gradients_of(trace), rate)


def one_row(trace: Trace, query: int) -> Trace:
    """One row of the softmax on its own: `query_weights` p, `grad_query_weights` g, their weighted
    mean, and `grad_query_scores` p (g − mean), all (key) but the mean.
    """
    made, key = trace.branch(), ("key",)
    weights = trace["weights"]
    gradient = trace["grad_weights"]
    p = made.step("query_weights", ops.Row(query), weights, axes=key)
    g = made.step("grad_query_weights", ops.Row(query), gradient, axes=key)
    products = made.step("weighed_grad_query_weights", ops.Multiply(), g, p, axes=key)
    mean = made.step("mean_grad_query_weights", ops.RowSum(), products, axes=("one",))
    centred = made.step("centred_grad_query_weights", ops.Subtract(), g, mean, axes=key)
    made.step("grad_query_scores", ops.Multiply(), p, centred, axes=key)
    return made


def way_trace(values: Values) -> Trace:
    """A trace with gradients that shows what a way of building a layer does to them."""
    embedded = embed(inputs_of(values))
    goal = Goal("weight", values.learning_query, values.wanted_key)
    if values.gradient_way == "heads":
        return _of_heads(embedded, goal)
    if values.gradient_way == "residual":
        return _with_residual(embedded, matrices_of(values), goal)
    dropout = 0.3 if values.gradient_way == "dropout" else 0.0
    made = attend_to_learn(embedded, matrices_of(values), goal_of(values), dropout=dropout,
                           target=_target(values))  # fmt: skip
    return with_gradients(made)


def _of_heads(embedded: Trace, goal: Goal) -> Trace:
    """Two heads, of which the first is to look more at the key."""
    made = attend_heads(embedded, HeadsRecipe(causal=True), joined=False)
    place = ops.Entry((0, goal.query, goal.key))
    wanted = made.step("wanted_weight", place, made["head_weights"], axes=())
    made.step("loss", ops.ScaleBy(-1.0), wanted, axes=())
    return backward(made, "loss", ("W_query", "W_key"))


def _with_residual(embedded: Trace, matrices: Matrices, goal: Goal) -> Trace:
    """Attention whose output is added to what it read; the query's row is to become larger."""
    made = attend_to_learn(embedded, matrices, goal)
    width, d_in = matrices.W_value.shape[1], matrices.W_value.shape[0]
    mixes = ops.Draw("linear", (width, d_in), seed=0)
    back = made.step("W_back", mixes, axes=("d_value", "d_in"))
    added = times(made, "attention_output", made["context_vectors"], back)
    stream = made.step("after_attention", ops.Add(), made["embeddings"], added,
                       axes=("token", "d_in"))  # fmt: skip
    one = made.step("one_row", ops.Row(goal.query), stream, axes=("d_in",))
    made.step("grows", ops.SumLast(), one, axes=())
    return backward(made, "grows", ("embeddings",))
