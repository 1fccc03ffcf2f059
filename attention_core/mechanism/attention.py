"""Scaled dot-product attention from queries, keys and values, as steps of a trace."""

import math

from ..operations import (
    Draw,
    Drop,
    Hide,
    Magnify,
    MatMul,
    Scale,
    Softmax,
    SoftmaxOfSeen,
    SumNormalise,
)
from ..recipes import NORMALISERS, check_choice, check_scale
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
    temperature: float = 1.0,
    normalise: str = "softmax",
    dropout: float = 0.0,
    dropout_seed: int = 0,
) -> Step:
    """Add attention to a trace: softmax(Q Kᵀ / √d) V. Returns the context vectors.

    `queries` (…, query, d), `keys` (…, key, d) and `values` (…, key, d_v) may be single or have
    heads in front. Steps, each with `prefix` before its name: `scores`, `scaled_scores` where they
    are divided, `tempered_scores` where the temperature is not 1, `masked_scores` where there is a
    mask (True = may look), `weights`, `kept` and `dropped_weights` with dropout, all
    (…, query, key), and `context_vectors` (…, query, d_v). `softmax_dim` other than -1 shows a
    mistake, `scale` is a key of `recipes.SCALES`, and `normalise` one of `recipes.NORMALISERS`: a
    sum in place of softmax hides with 0, which changes no sum. Raises ValueError for any other, and
    for a temperature that is not positive.

    Source: Vaswani et al. 2017, Attention Is All You Need, section 3.2.1.
    """
    check_scale(scale)
    check_choice("normalise", normalise, NORMALISERS)
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature:g}, but must be above 0")
    lead = queries.axes[:-2]
    table = (*lead, "query", "key")
    scores = trace.step(f"{prefix}scores", MatMul(transpose=True), queries, keys, axes=table)
    if scale != "none":
        divide = Scale(queries.value.shape[-1], root=scale == "sqrt_d")
        symbol = None if divide.root else rf"{scores.symbol}_{{/d}}"
        name = f"{prefix}scaled_scores"
        scores = trace.step(name, divide, scores, axes=table, symbol=symbol)
    if temperature != 1:
        cooled = Magnify(1 / temperature)
        scores = trace.step(f"{prefix}tempered_scores", cooled, scores, axes=table)
    shares = SumNormalise() if normalise == "sum" else Softmax(softmax_dim)
    if mask is not None:
        fill = 0.0 if normalise == "sum" else -math.inf
        scores = trace.step(f"{prefix}masked_scores", Hide(fill), scores, mask, axes=table)
        shares = shares if normalise == "sum" else SoftmaxOfSeen(softmax_dim)
    weights = trace.step(f"{prefix}weights", shares, scores, axes=table)
    if dropout:
        draw = Draw("uniform", tuple(weights.value.shape), seed=dropout_seed)
        kept = trace.step(f"{prefix}kept", draw, axes=table)
        weights = trace.step(f"{prefix}dropped_weights", Drop(dropout), weights, kept, axes=table)
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
