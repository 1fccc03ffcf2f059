"""Tokenize and embed: its controls, and its trace as a function of their values."""

from attention_core.text.embedding import embed
from attention_core.text.inputs import TRAINED
from attention_core.trace import Step, Trace

from ...controls.shared import ACROSS, MAKES_VECTORS, SHOWN_TERMS, UP, inputs_of
from ...picture.matrix import Matrix
from ...reactive.control import Values
from .merges import MERGE_TEXT, MERGES, NEW_WORD
from .real_tokens import MODEL_WORD, NEAREST_TO

CONTROLS = (*MAKES_VECTORS, SHOWN_TERMS, ACROSS, UP, NEAREST_TO)
CONTROLS += (MERGE_TEXT, NEW_WORD, MERGES, MODEL_WORD)


def trace_of(values: Values) -> Trace:
    """The lesson's trace: from ids to embeddings, and the lookup as a product."""
    return embed(inputs_of(values), with_product=True)


def looked_up_in(trace: Trace) -> Step:
    """The rows of the table, as they were picked."""
    return trace["token_embeddings" if "token_embeddings" in trace else "embeddings"]


def is_small(trace: Trace) -> bool:
    """Whether the table is small enough to be seen whole."""
    return "one_hot" in trace


def picked(trace: Trace, count: int | None = None) -> list[Matrix]:
    """Ids, table and lookup, the first tokens strong, or all, and the table's rows for them."""
    ids, table = trace["token_ids"], trace["embedding_table"]
    each = ids.value.tolist()
    rows = None if is_small(trace) else tuple(dict.fromkeys(each))
    later = frozenset() if count is None else frozenset(range(count, len(each)))
    others = frozenset(range(len(table.value)) if rows is None else rows) - {*each[:count]}
    return [
        Matrix(ids, faint=later, row_numbers=True),
        Matrix(table, rows=rows, faint=others, row_numbers=True),
        Matrix(looked_up_in(trace), faint=later, row_numbers=True),
    ]


def origin_words(values: Values) -> str:
    """Where the vectors come from."""
    if is_trained(values):
        return (
            "These are what a trained network’s second layer reads: the first has already mixed "
            "them, so the same word differs from place to place."
        )
    own = inputs_of(values)
    is_random = [a != b for a, b in zip(own.labels, own.tokens, strict=True)]
    if own.has_given_vectors() and not all(is_random):
        but = ", but for the random ones, whose tokens end in \\*" if any(is_random) else ""
        return f"These vectors were set by hand, not trained{but}."
    return "They are random, not trained: tokens that lie close together need not be alike."


def is_trained(values: Values) -> bool:
    """Whether the vectors are those that a network learned, for tokens that it knows."""
    return values.vocabulary == TRAINED and inputs_of(values).has_given_vectors()
