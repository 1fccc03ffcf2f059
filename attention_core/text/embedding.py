"""From a sentence to embeddings, as a trace."""

from collections.abc import Sequence
from typing import Any

from .. import operations as ops
from ..small_models import shipped
from ..small_models.given import tables
from ..small_models.tracing import add_layer
from ..trace import Step, Trace
from ..utils.validation import validated
from .inputs import DRAWN, RANDOM_ID_ROWS, TRAINED, Inputs
from .vocabulary import Vocabulary

MAX_DRAWN_ROWS = 64
"""Up to this many rows the lookup is also written as a product with one-hot rows."""


@validated
def embed(
    inputs: Inputs | str, with_product: bool = False, keys: Sequence[str] | None = None
) -> Trace:
    """The trace from token ids to embeddings, of a text or of all that decides them.

    Steps: `token_ids` (token), `embedding_table` (vocabulary, d_in) (and `drawn_table` before it
    where cells were typed by hand), `embeddings` (token, d_in); with positions also
    `token_embeddings` and `position_embeddings`; `with_product`, for tables of at most 64 rows,
    also `one_hot` (token, vocabulary) and `embeddings_by_product` (token, d_in).

    With the trained vectors of the tiny language, the positions are trained too (`position_table`,
    `place_ids`), and the network's first layer follows, from `stream` (token, d_in), what goes in,
    to `layer_0_stream`: `embeddings` are this, normed, which is what the second layer reads.

    `keys` names the keys where they are another sentence's tokens, for cross-attention; None where
    they are this one's.

    Raises ValueError where the sentence has no tokens, or one that the vocabulary cannot hold, and
    for keys of another sentence with the trained vectors: the layer below has its own keys there.
    """
    inputs = Inputs(inputs) if isinstance(inputs, str) else inputs
    if not inputs.tokens:
        raise ValueError("there is no token in this sentence: type at least one word")
    trained = inputs.vocabulary == TRAINED and inputs.has_given_vectors()
    if trained and keys is not None:
        raise ValueError(
            "the trained vectors come from a layer with keys of its own: leave `keys` out, and "
            "give these embeddings to another trace"
        )
    labels = inputs.labels
    trace = Trace(
        token=labels, query=labels, key=labels if keys is None else keys, **_labels(inputs)
    )
    token_ids, table = _ids_and_table(trace, inputs)
    if with_product and table.value.shape[0] <= MAX_DRAWN_ROWS:
        one_hot = trace.step(
            "one_hot", ops.OneHot(table.value.shape[0]), token_ids, axes=("token", "vocabulary")
        )
        trace.step("embeddings_by_product", ops.MatMul(), one_hot, table, axes=("token", "d_in"))
    last = "stream" if trained else "embeddings"
    looked_up = "token_embeddings" if inputs.positions or trained else last
    vectors = trace.step(looked_up, ops.Lookup(), table, token_ids, axes=("token", "d_in"))
    if inputs.positions:
        places = _positions(trace, inputs, trained)
        vectors = trace.step(last, ops.Add(), vectors, places, axes=("token", "d_in"))
    if trained:
        _first_layer(trace, vectors)
    return trace


def _positions(trace: Trace, inputs: Inputs, trained: bool) -> Step:
    """Record `position_embeddings`: trained with the vectors, else sines and cosines."""
    n_tokens, axes = len(inputs.tokens), ("token", "d_in")
    if not trained:
        return trace.step("position_embeddings", ops.Sinusoid(n_tokens, inputs.d_in), axes=axes)
    table = trace.step("position_table", ops.Given(tables()["W_position"]), axes=("place", "d_in"))
    places = trace.step("place_ids", ops.Given(tuple(range(n_tokens))), axes=("token",))
    return trace.step("position_embeddings", ops.Lookup(), table, places, axes=axes)


def _first_layer(trace: Trace, stream: Step) -> None:
    """Record the tiny language's first layer, and `embeddings`: what its second layer reads."""
    n_tokens = trace.size("token")
    mask = trace.step("layer_0_mask", ops.AttentionMask(n_tokens, n_tokens), axes=("query", "key"))
    of_heads = ("layer_0_head", "d_layer_0_head", "d_layer_0_value")
    read = add_layer(trace, shipped.weights(), 0, stream, mask, of_heads)
    trace.step("embeddings", ops.LayerNorm(), read, axes=("token", "d_in"))


def _labels(inputs: Inputs) -> dict[str, tuple[str, ...]]:
    """Names of the table's rows, none for random ids; and what a vector's entries mean."""
    rows: dict[str, tuple[str, ...]] = {}
    if inputs.vocabulary != "random":
        texts = inputs.build_vocabulary().rows()
        rows["vocabulary"] = tuple(text + DRAWN * inputs.is_drawn(text) for text in texts)
    named = inputs.components and inputs.has_given_vectors()
    return rows | {"d_in": inputs.components} if named else rows


def _ids_and_table(trace: Trace, inputs: Inputs) -> tuple[Step, Step]:
    """Record `token_ids` and `embedding_table`, in the order the example draws them."""
    start: dict[str, Any] = {**_start(inputs)}
    table: ops.Operation
    if inputs.vocabulary == "random":
        ids_draw = ops.Draw("integers", (len(inputs.tokens),), **start, below=RANDOM_ID_ROWS)
        token_ids = trace.step("token_ids", ids_draw, axes=("token",))
        table = ops.Draw("normal", (RANDOM_ID_ROWS, inputs.d_in), after=ids_draw)
    else:
        vocabulary = inputs.build_vocabulary()
        token_ids = trace.step("token_ids", _encode(inputs, vocabulary), axes=("token",))
        if inputs.vocabulary == TRAINED and inputs.has_given_vectors():
            table = ops.Given(tables()["W_token"])
        elif inputs.has_given_vectors():
            table = ops.Given(tuple(map(inputs.vector_of, vocabulary.rows())))
        else:
            table = ops.Draw("normal", (vocabulary.n_rows, inputs.d_in), **start)
    return token_ids, _edited(trace, table, inputs)


def _encode(inputs: Inputs, vocabulary: Vocabulary) -> ops.Encode:
    ids = vocabulary.ids(inputs.tokens)
    rows = dict(zip(inputs.tokens, ids, strict=True))
    unknown = [rows.pop(token) for token in vocabulary.unknown(inputs.tokens)]
    unknown_row = unknown[0] if unknown else None
    return ops.Encode(inputs.tokens, tuple(ids), tuple(rows.items()), unknown_row)


def _edited(trace: Trace, table: ops.Draw | ops.Given, inputs: Inputs) -> Step:
    axes = ("vocabulary", "d_in")
    if not inputs.edits:
        return trace.step("embedding_table", table, axes=axes)
    drawn_table = trace.step("drawn_table", table, axes=axes)
    return trace.step("embedding_table", ops.Edit(inputs.edits), drawn_table, axes=axes)


def _start(inputs: Inputs) -> dict[str, int | ops.Draw]:
    """Where the first draw stands: at its seed, or behind numbers that are given away."""
    if inputs.skipped_draws:
        return {"after": ops.Draw("uniform", (inputs.skipped_draws,), seed=inputs.seed)}
    return {"seed": inputs.seed}
