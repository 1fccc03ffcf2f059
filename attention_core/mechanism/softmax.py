"""One row of scores on its way to weights: divided by its sum, and through a softmax."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from .. import operations as ops
from ..trace import Step, Trace
from ..utils.validation import validated
from .own_tensors import Vectors, trace_of
from .simplified import SimplifiedOptions

KEY, ROW = ("key",), ("row",)


@validated
def compare_row(trace: Vectors, query: int, options: SimplifiedOptions) -> Trace:
    """Add one query's row of the scores of simplified attention to a trace with `embeddings`.
    Steps: `unit_embeddings` (token, d_in) for the cosine, `query` (d_in), and `score_row` (key),
    with `query_scores` (key) before it if those are divided.
    """
    trace = trace_of(trace)
    trace.label("score", trace.labels("key"))
    vectors = trace["embeddings"]
    if options.similarity == "cosine":
        vectors = trace.step("unit_embeddings", ops.L2Normalize(), vectors, axes=("token", "d_in"))
    one_query = trace.step("query", ops.Row(query), vectors, axes=("d_in",))
    product = ops.MatMul(transpose=True)
    if options.divide == "none":
        trace.step("score_row", product, one_query, vectors, axes=KEY)
    else:
        scores = trace.step("query_scores", product, one_query, vectors, axes=KEY)
        trace.step("score_row", ops.Scale(vectors.value.shape[-1]), scores, axes=KEY)
    return trace


@validated
def given_row(scores: Sequence[float]) -> Trace:
    """A trace with `score_row` (key), -inf for hidden. Raises ValueError for no scores."""
    if not scores:
        raise ValueError("a row has at least one score")
    trace = Trace()
    trace.step("score_row", ops.Given(tuple(map(float, scores))), axes=KEY)
    return trace


@validated
def normalise_row(trace: Trace, shift: float = 0.0, magnify: float = 1.0) -> Trace:
    """Add both ways from `score_row` to weights to a trace; its scores are moved first. Steps:
    `moved_scores` (key) if shifted, `magnified_scores` (key) if magnified; `score_sum` (row) and
    `sum_weights` (key); `largest` (row), `lowered_scores` and `exponentials` (key),
    `exponential_sum` (row) and `softmax_weights` (key); `jacobian` (key, score), the derivative of
    each softmax weight by each score that goes into the softmax.
    """
    scores = trace["score_row"]
    if shift:
        scores = trace.step("moved_scores", ops.Shift(shift), scores, axes=KEY)
    if magnify != 1:
        scores = trace.step("magnified_scores", ops.ScaleBy(magnify), scores, axes=KEY)
    score_sum = trace.step("score_sum", ops.RowSum(), scores, axes=ROW)
    trace.step("sum_weights", ops.Divide(), scores, score_sum, axes=KEY)
    trace.step("jacobian", ops.SoftmaxJacobian(), _stable(trace, scores), axes=("key", "score"))
    return trace


@validated
def store_row(trace: Trace, shift: float, precision: str) -> Trace:
    """Add a softmax in a given precision, as its formula is written and with the largest subtracted
    first. Steps, all (key) but for the sums and `largest` (row): `moved_scores`, `stored_scores`;
    `naive_exponentials`, `naive_sum`, `naive_weights`; `largest`, `lowered_scores`, `exponentials`,
    `exponential_sum`, `softmax_weights`.
    """
    moved = trace.step("moved_scores", ops.Shift(shift), trace["score_row"], axes=KEY)
    stored = trace.step("stored_scores", ops.Cast(precision), moved, axes=KEY)
    powers = trace.step("naive_exponentials", ops.Exp(), stored, axes=KEY)
    total = trace.step("naive_sum", ops.RowSum(), powers, axes=ROW)
    trace.step("naive_weights", ops.Divide(), powers, total, axes=KEY)
    _stable(trace, stored)
    return trace


def _stable(trace: Trace, scores: Step) -> Step:
    """A softmax step by step, no exponential above 1 (Goodfellow et al. 2016, section 4.1)."""
    largest = trace.step("largest", ops.RowLargest(), scores, axes=ROW)
    lowered = trace.step("lowered_scores", ops.Subtract(), scores, largest, axes=KEY)
    powers = trace.step("exponentials", ops.Exp(), lowered, axes=KEY)
    total = trace.step("exponential_sum", ops.RowSum(), powers, axes=ROW)
    return trace.step("softmax_weights", ops.Divide(), powers, total, axes=KEY)


@dataclass(frozen=True)
class Spread:
    """How a row of weights is spread over its keys; nan where a weight is."""

    largest: float
    entropy: float
    """In bits: 0 for all on one key, log2 of n for all alike (Shannon 1948, section 6)."""
    gradient: float
    """The length (Frobenius norm) of the softmax's Jacobian."""

    @staticmethod
    def of(weights: Tensor) -> "Spread":
        """The spread of softmax weights (key,), worked out in float64."""
        exact = weights.double()
        entropy = torch.special.entr(exact).sum().item() / math.log(2)
        jacobian = ops.SoftmaxJacobian().value(exact)
        return Spread(exact.max().item(), max(entropy, 0.0), jacobian.norm().item())


@lru_cache
def exp_limits(precision: str) -> tuple[float, float]:
    """The largest numbers whose exponentials a precision can hold, and loses: by halving."""
    dtype = ops.Cast(precision).dtype

    def last(passes) -> float:
        """The largest number that passes, where smaller ones do and larger ones do not."""
        low, high = torch.tensor([-1000.0, 1000.0], dtype=torch.float64).to(dtype)
        while True:
            middle = ((low.double() + high.double()) / 2).to(dtype)
            if middle in (low, high):
                return low.item()
            low, high = (middle, high) if passes(middle.exp()) else (low, middle)

    return last(torch.isfinite), last(lambda power: power == 0)
