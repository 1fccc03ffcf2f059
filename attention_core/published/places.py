"""Where each printed result stands in a trace: the one definition of it.

Left out are results that nothing computes: the numbers invented for a picture, and those of an
experiment without a seed.
"""

from dataclasses import dataclass
from functools import partial


@dataclass(frozen=True)
class Place:
    """Where a printed result stands: in which lesson's trace, in which part of which step."""

    lesson: str
    """Whose trace it is: a key of `building.BUILDERS`."""
    step: str
    index: tuple[int, ...] = ()
    """The leading places of the part that is printed: `(0,)` is row 0, `()` all of it."""
    what: str = "values"
    """What is read of that part: a key of `reading.READINGS`."""
    query: int | None = None
    """The row that must be expanded into steps of its own, for a place in those."""
    against: tuple[str, tuple[int, ...]] | None = None
    """Step and index of the part it is compared with, where `what` compares two."""
    example: str | None = None
    """The example that gives it; None for the example that is named like the notebook."""

    def is_for(self, notebook: str, example: str) -> bool:
        """Whether an example shows this place of a notebook."""
        return (self.example or notebook) == example


_tokenize = partial(Place, "tokenize")
_simplified = partial(Place, "simplified")
_row_0 = partial(Place, "simplified", query=0)
_normalised = partial(Place, "softmax_or_sum", query=0)
_first_run = partial(Place, "simplified", example="sorry_dave_first_run")

PLACES: dict[str, dict[str, Place]] = {
    "wild_cat": {
        "tokens": _tokenize("token_ids", what="labels"),
        "token_ids": _tokenize("token_ids"),
        "embeddings": _tokenize("embeddings"),
        "embedding_0_inline": _tokenize("embeddings", (0,)),
        "scores_0_loop": _simplified("scores_by_loop", (0,)),
        "scores_0_dot": _row_0("query_scores"),
        "scores_all_loop": _simplified("scores_by_loop"),
        "scores_all_matmul": _simplified("scores"),
        "scores_0_reprint": _simplified("scores", (0,)),
        "sumnorm_weights_0": _normalised("sum_weights"),
        "sumnorm_weights_0_sum": _normalised("sum_weights", what="sum"),
        "softmax_weights_0": _normalised("softmax_weights"),
        "softmax_weights_0_sum": _normalised("softmax_weights", what="sum"),
        "softmax_weights_0_builtin": _normalised("softmax_weights"),
        "weights_all": _simplified("weights"),
        "embeddings_reprint": _simplified("embeddings"),
        "query_0": _row_0("query"),
        "weights_0_reprint": _row_0("query_weights"),
        "zeros_3": _row_0("running_context", what="start"),
        "trace0_weights": _row_0("query_weights"),
        "trace0_embeddings": _simplified("embeddings"),
        "trace0_terms": _row_0("weighted_embeddings"),
        "context_0": _row_0("running_context", (-1,)),
        "context_shape": _simplified("context_vectors", what="shape"),
        "trace_all0_weights": _simplified("weights", (0,)),
        "trace_all0_embeddings": _simplified("embeddings"),
        "trace_all0_terms": _row_0("weighted_embeddings"),
        "trace_all1_first_weight": _simplified("weights", (1, 0)),
        "trace_all1_first_embedding": _simplified("embeddings", (0,)),
        "context_all_loop": _simplified("context_vectors"),
        "context_0_equal": _simplified("context_vectors", (0,), what="loops_equal"),
        "context_all_matmul": _simplified("context_vectors"),
    },
    "journey_123": {
        "inputs_print": _tokenize("embeddings"),
    },
    "sorry_dave": {
        "token_ids": _tokenize("token_ids"),
        "embedded_shape": _tokenize("embeddings", what="shape"),
        "embedding_parameters": _tokenize("embedding_table", what="size"),
        "scores_shape": _simplified("scores", what="shape"),
        "scores_equal": _simplified("scores", what="agrees", against=("scores_by_loop", ())),
        "row_sums": _simplified("weights", what="row_sums"),
        "context_shape": _simplified("context_vectors", what="shape"),
        "context_3": _first_run("context_vectors", (3,)),
        "context_3_equal": _first_run(
            "context_vectors", (3,), "agrees", query=3, against=("running_context", (-1,))
        ),
    },
    "life_is_short": {
        "dictionary": _tokenize("token_ids", what="vocabulary"),
        "dictionary_ids": _tokenize("token_ids", what="distinct"),
        "token_ids": _tokenize("token_ids"),
        "embedded_shape": _tokenize("embeddings", what="shape"),
    },
    "journey_789": {
        "inputs_shape": _tokenize("embeddings", what="shape"),
    },
}
