"""A cheap indexer: every key is scored in a few columns, and only the best are left to attention.

Source: DeepSeek-AI 2025, DeepSeek-V3.2, section 2.1 (lightning indexer).
"""

from .. import operations as ops
from ..trace import Step, Trace
from ..utils.validation import validated


@validated
def choose_keys(
    trace: Trace, queries: Step, keys: Step, shares: Step, top_k: int, mask: Step | None = None
) -> Step:
    """Add an indexer to a trace that has its `queries` (index_head, query, d_index), `keys`
    (key, d_index), one for all its heads, and `shares` (index_head, query, row): how much each of
    its heads counts for a query. Returns `chosen` (query, key), a mask for attention: True at the
    `top_k` keys of each query with the largest scores, of those that `mask` leaves visible.

    Steps: `index_products` (index_head, query, key), `index_scaled` by √d_index, `index_found`,
    which is 0 where they are negative, `index_counted` times the shares, and `index_scores`
    (query, key), the sum of all heads; `index_masked` where there is a mask. Nothing is learned
    through a choice: an indexer is trained apart, to score as attention weighs. Raises ValueError,
    in words, for a `top_k` below 1 and for shapes that do not fit.
    """
    table = (*queries.axes[:-1], keys.axes[-2])
    products = trace.step("index_products", ops.MatMul(transpose=True), queries, keys, axes=table)
    scores = trace.step("index_scaled", ops.Scale(queries.value.shape[-1]), products, axes=table)
    scores = trace.step("index_found", ops.ReLU(), scores, axes=table)
    scores = trace.step("index_counted", ops.Multiply(), scores, shares, axes=table)
    scores = trace.step("index_scores", ops.SumHeads(), scores, axes=table[-2:])
    if mask is not None:
        scores = trace.step("index_masked", ops.MaskedFill(), scores, mask, axes=table[-2:])
    return trace.step("chosen", ops.TopK(top_k), scores, axes=table[-2:])
