"""Scaled dot-product attention from queries, keys and values, as steps of a trace."""

from ..operations import Hide, MatMul, Scale, Softmax, SoftmaxOfSeen
from ..recipes import check_scale
from ..trace import Step, Trace


def attention(
    trace: Trace,
    queries: Step,
    keys: Step,
    values: Step,
    scale: str = "sqrt_d",
    mask: Step | None = None,
    prefix: str = "",
    softmax_dim: int = -1,
) -> Step:
    """Add attention to a trace: softmax(Q Kᵀ / √d) V. Returns the context vectors.

    `queries` (…, query, d), `keys` (…, key, d) and `values` (…, key, d_v) may be single or have
    heads in front. Steps, each with `prefix` before its name: `scores`, `scaled_scores` where they
    are divided, `masked_scores` where there is a mask (True = may look), `weights`, all
    (…, query, key), and `context_vectors` (…, query, d_v). `softmax_dim` other than -1 shows a
    mistake, and `scale` is a key of `recipes.SCALES`. Raises ValueError for any other.

    Source: Vaswani et al. 2017, Attention Is All You Need, section 3.2.1.
    """
    check_scale(scale)
    lead = queries.axes[:-2]
    table = (*lead, "query", "key")
    scores = trace.step(f"{prefix}scores", MatMul(transpose=True), queries, keys, axes=table)
    if scale != "none":
        divide = Scale(queries.value.shape[-1], root=scale == "sqrt_d")
        symbol = None if divide.root else rf"{scores.symbol}_{{/d}}"
        name = f"{prefix}scaled_scores"
        scores = trace.step(name, divide, scores, axes=table, symbol=symbol)
    softmax = Softmax(softmax_dim)
    if mask is not None:
        scores = trace.step(f"{prefix}masked_scores", Hide(), scores, mask, axes=table)
        softmax = SoftmaxOfSeen(softmax_dim)
    weights = trace.step(f"{prefix}weights", softmax, scores, axes=table)
    return trace.step(
        f"{prefix}context_vectors",
        MatMul(),
        weights,
        values,
        axes=(*lead, "query", values.axes[-1]),
    )


def scale_of(trace: Trace, prefix: str = "") -> str:
    """What the scores of a trace made by `attention` are divided by: a key of `recipes.SCALES`."""
    scaled = trace.get(f"{prefix}scaled_scores")
    if scaled is None:
        return "none"
    return "sqrt_d" if scaled.operation.root else "d"
