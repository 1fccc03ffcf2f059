"""Simplified self-attention: no trainable matrices, each embedding is query, key and value."""

from dataclasses import dataclass

from .. import operations as ops
from ..recipes import check_choice
from ..trace import Step, Trace
from ..utils.validation import validated
from .attention import attention
from .own_tensors import Vectors, trace_of

CHOICES = {
    "similarity": ("dot", "cosine"),
    "divide": ("none", "sqrt_d"),
    "normalise": ("softmax", "sum"),
}


@validated
@dataclass(frozen=True)
class SimplifiedOptions:
    """What may be varied: the likeness (`dot`, `cosine`), the divisor (`none`, `sqrt_d`), the
    normalisation (`softmax`, `sum`), and one token's vector stretched by a factor.
    """

    similarity: str = "dot"
    divide: str = "none"
    normalise: str = "softmax"
    stretched: int = 0
    factor: float = 1.0

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            check_choice(name, getattr(self, name), choices)


@validated
def attend(trace: Vectors, options: SimplifiedOptions = SimplifiedOptions()) -> Trace:
    """Add simplified self-attention to a trace that has `embeddings` (token, d_in). Steps:
    `scores_by_loop` and `scores` (query, key), `scaled_scores` if divided, `weights` (query, key),
    `context_vectors` (query, d_in); before them `stretched_embeddings` and `unit_embeddings`
    (token, d_in) where the options ask for them.
    """
    trace = trace_of(trace)
    vectors, compared = _vectors(trace, options)
    trace.step("scores_by_loop", ops.MatMulByLoop(), compared, compared, axes=("query", "key"))
    operands = (compared, compared, vectors)
    attention(trace, *operands, scale=options.divide, normalise=options.normalise)
    return trace


def _vectors(trace: Trace, options: SimplifiedOptions) -> tuple[Step, Step]:
    vectors = trace["embeddings"]
    if options.factor != 1:
        stretch = ops.ScaleRow(options.stretched, options.factor)
        vectors = trace.step("stretched_embeddings", stretch, vectors, axes=vectors.axes)
    if options.similarity == "cosine":
        return vectors, trace.step("unit_embeddings", ops.L2Normalize(), vectors, axes=vectors.axes)
    return vectors, vectors


@validated
def expand_query(trace: Trace, query: int) -> Trace:
    """Add one row of simplified attention, a term at a time, to a trace made by `attend`. Steps:
    `query` (d_in), `query_key_products` (key, d_in), `query_scores` (key), `scaled_query_scores` if
    divided, `query_weights` (key), `weighted_embeddings` and `running_context` (key, d_in); the
    last row of `running_context` is the context vector.
    """
    compared = trace["scores"].inputs[0]
    vectors = trace["context_vectors"].inputs[1]
    one_query = trace.step("query", ops.Row(query), compared, axes=("d_in",))
    axes = ("key", "d_in")
    products = trace.step("query_key_products", ops.Multiply(), one_query, compared, axes=axes)
    scores = trace.step("query_scores", ops.SumLast(), products, axes=("key",))
    if "scaled_scores" in trace:
        scale = trace["scaled_scores"].operation
        scores = trace.step("scaled_query_scores", scale, scores, axes=("key",))
    weights = trace.step("query_weights", trace["weights"].operation, scores, axes=("key",))
    by_row = ops.Multiply(by_row=True)
    weighted = trace.step("weighted_embeddings", by_row, weights, vectors, axes=axes)
    trace.step("running_context", ops.RunningSum(), weighted, axes=axes)
    return trace
