"""Where each printed result stands in a trace: the one definition of it.

Left out are results that nothing computes: the numbers invented for a picture, and those of an
experiment without a seed.
"""

from collections.abc import Sequence
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

    def example_of(self, notebook: str) -> str:
        """The name of the example that shows this place of a notebook."""
        return self.example or notebook

    def is_for(self, notebook: str, example: str) -> bool:
        """Whether an example shows this place of a notebook."""
        return self.example_of(notebook) == example

    def first_cell(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The first cell of the part, in a step of this shape; every place is counted from 0."""
        inside = (at % size for at, size in zip(self.index, shape, strict=False))
        return (*inside, *[0] * (len(shape) - len(self.index)))


_tokenize = partial(Place, "tokenize")
_simplified = partial(Place, "simplified")
_row_0 = partial(Place, "simplified", query=0)
_normalised = partial(Place, "softmax_or_sum", query=0)
_qkv = partial(Place, "qkv")
_token_1 = partial(Place, "qkv", query=1)
_token_0 = partial(Place, "qkv", query=0)
_linear = partial(Place, "qkv_linear")
_wrong_axis = partial(Place, "qkv_wrong_axis")
_causal = partial(Place, "causal")
_heads = partial(Place, "multi_head")
_heads_token_0 = partial(Place, "multi_head", query=0)
_wrong_heads = partial(Place, "multi_head_wrong_axis")
_on_tokens = partial(Place, "token_axis", example="sorry_dave_first_run")
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
        "dims": _qkv("W_query", what="shape"),
        "W_query": _qkv("W_query"),
        "W_key": _qkv("W_key"),
        "W_value": _qkv("W_value"),
        "query_1": _token_1("one_query"),
        "key_1": _token_1("one_key"),
        "value_1": _token_1("one_value"),
        "keys_shape": _qkv("keys", what="shape"),
        "keys": _qkv("keys"),
        "values_shape": _qkv("values", what="shape"),
        "values": _qkv("values"),
        "score_1_1": _qkv("scores", (1, 1)),
        "scores_1": _token_1("query_scores"),
        "scores_1_shape": _token_1("query_scores", what="shape"),
        "scores_1_reprint": _qkv("scores", (1,)),
        "scaled_scores_1": _token_1("scaled_query_scores"),
        "weights_1": _token_1("query_weights"),
        "weights_1_sum": _token_1("query_weights", what="sum"),
        "weights_1_reprint": _qkv("weights", (1,)),
        "values_reprint": _qkv("values"),
        "context_1_loop": _qkv("context_vectors", (1,), what="added_up"),
        "context_1_matmul": _token_1("query_context"),
        "context_P": _qkv("context_vectors"),
        "context_P_1": _qkv("context_vectors", (1,)),
        "context_1_reprint": _token_1("query_context"),
        "context_L": _linear("context_vectors"),
        "W_key_reprint": _qkv("W_key"),
        "linear_dims": _linear("W_key", what="shape"),
        "linear_key_weight": _linear("key_layer"),
        "context_L_equals_P": _linear(
            "linear_context_vectors", what="equal", against=("context_vectors", ())
        ),
    },
    "journey_123": {
        "inputs_print": _tokenize("embeddings"),
        "scores_2": _token_1("query_scores"),
        "scores_all": _qkv("scores"),
        "weights_2": _token_1("query_weights"),
        "context_2": _token_1("query_context"),
        "context_rand": _qkv("context_vectors"),
        "context_linear": _linear("context_vectors"),
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
        "causal_mask": _causal("mask", what="hidden"),
        "causal_scores_0": _causal("zero_filled_scores", (0,)),
        "causal_row_sums": _causal("zero_filled_weights", what="row_sums"),
        "causal_context_shape": _causal("zero_filled_context_vectors", what="shape"),
        "causal_context_3_equal": _causal(
            "zero_filled_context_vectors",
            (3,),
            what="needs_no_later",
            example="sorry_dave_first_run",
        ),
        "qkv_shape_equal": _on_tokens("queries", what="same_shape", against=("embeddings", ())),
        "param_context_shape": _on_tokens("context_vectors", what="shape"),
        "param_context_3_equal": _on_tokens("context_vectors", (3,), what="added_up_agrees"),
        "head_shape": _on_tokens("context_vectors", what="shape"),
        "multi_head_shape": _on_tokens("output", what="shape"),
        "decoder_shape": Place("decoder", "decoded", what="shape", example="sorry_dave_first_run"),
    },
    "life_is_short": {
        "dictionary": _tokenize("token_ids", what="vocabulary"),
        "dictionary_ids": _tokenize("token_ids", what="distinct"),
        "token_ids": _tokenize("token_ids"),
        "embedded_shape": _tokenize("embeddings", what="shape"),
        "word0_q_size": _token_0("one_query", what="shape"),
        "word0_k_size": _token_0("one_key", what="shape"),
        "word0_v_size": _token_0("one_value", what="shape"),
        "word1_q_size": _qkv("queries", (1,), what="shape"),
        "word1_k_size": _qkv("keys", (1,), what="shape"),
        "word1_v_size": _qkv("values", (1,), what="shape"),
        "queries_shape": _qkv("queries", what="shape"),
        "keys_shape": _qkv("keys", what="shape"),
        "values_shape": _qkv("values", what="shape"),
        "omega_1_5": _qkv("scores", (0, 4)),
        "omega_1_all": _token_0("query_scores"),
        "omega_all": _qkv("scores"),
        "omega_all_shape": _qkv("scores", what="shape"),
        "alpha_1": _token_0("query_weights"),
        "alpha_1_sum": _token_0("query_weights", what="sum"),
        "alpha_all_dim0": _wrong_axis("weights"),
        "alpha_all_sum": _wrong_axis("weights", what="sum"),
        "z_1_shape": _token_0("query_context", what="shape"),
        "z_1": _token_0("query_context"),
        "z_all_shape": _qkv("context_vectors", what="shape"),
        "z_all_dim0": _wrong_axis("context_vectors"),
        "mh_word0_q_size": _heads_token_0("one_head_query", what="shape"),
        "mh_word0_k_size": _heads_token_0("one_head_key", what="shape"),
        "mh_word0_v_size": _heads_token_0("one_head_value", what="shape"),
        "mh_input_shape": _heads("repeated_embeddings", what="shape"),
        "mh_q_shape_before": _heads("batched_queries", what="shape"),
        "mh_k_shape_before": _heads("batched_keys", what="shape"),
        "mh_v_shape_before": _heads("batched_values", what="shape"),
        "mh_q_shape_after": _heads("permuted_queries", what="shape"),
        "mh_k_shape_after": _heads("permuted_keys", what="shape"),
        "mh_v_shape_after": _heads("permuted_values", what="shape"),
        "mh_omega": _heads("head_scores"),
        "mh_omega_shape": _heads("head_scores", what="shape"),
        "mh_alpha_dim0": _wrong_heads("head_weights"),
        "mh_alpha_sum": _wrong_heads("head_weights", what="sum"),
        "mh_z_shape": _heads("head_context_vectors", what="shape"),
        "mh_z_dim0": _wrong_heads("head_context_vectors"),
    },
    "journey_789": {
        "inputs_shape": _tokenize("embeddings", what="shape"),
        "query_2": _token_1("one_query"),
        "key_2": _token_1("one_key"),
        "keys_shape": _qkv("keys", what="shape"),
        "values_shape": _qkv("values", what="shape"),
        "score_2_2": _qkv("scores", (1, 1)),
        "scores_2": _token_1("query_scores"),
        "weights_2": _token_1("query_weights"),
        "context_2": _token_1("query_context"),
        "context_rand_unreseeded": Place("qkv_again", "context_vectors"),
        "context_linear": _linear("context_vectors"),
    },
}
