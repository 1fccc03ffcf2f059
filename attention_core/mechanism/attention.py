"""Scaled dot-product attention from queries, keys and values, as steps of a trace."""

import math

from .. import operations as ops
from ..recipes import NORMALISERS, check_choice, check_scale
from ..trace import Step, Trace


def attention(
    trace: Trace,
    queries: Step,
    keys: Step,
    values: Step,
    scale: str | float = "sqrt_d",
    mask: Step | None = None,
    prefix: str = "",
    softmax_dim: int = -1,
    temperature: float = 1.0,
    normalise: str = "softmax",
    dropout: float = 0.0,
    dropout_seed: int = 0,
    added_mask: Step | None = None,
    soft_cap: float | None = None,
    key_axis: str = "key",
    scored: Step | None = None,
) -> Step:
    """Add attention to a trace: softmax(Q Kᵀ / √d) V. Returns the context vectors.

    `queries` (…, query, d), `keys` (…, key, d) and `values` (…, key, d_v) may be single or have
    heads in front. Steps, each with `prefix` before its name: `scores`, `scaled_scores` where they
    are divided or multiplied, `capped_scores` with a `soft_cap`, `tempered_scores` where the
    temperature is not 1, `biased_scores` with an `added_mask` (numbers that are added), and
    `masked_scores` where there is a mask (True = may look), `weights`, `kept` and `dropped_weights`
    with dropout, all (…, query, key), and `context_vectors` (…, query, d_v). `softmax_dim` other
    than -1 shows a mistake, `scale` is a key of `recipes.SCALES`, or the number that scores are
    multiplied by, and `normalise` one of `recipes.NORMALISERS`: a sum in place of softmax hides
    with 0, which changes no sum. `key_axis` names the axis of the keys where `key` is that of
    others in the trace. `scored` are divided scores that are there already, so that none are made.
    Raises ValueError for any other, for a temperature or a cap that is not
    positive, and for a sum of scores to which a mask is added.

    Source: Vaswani et al. 2017, Attention Is All You Need, section 3.2.1.
    """
    if isinstance(scale, str):
        check_scale(scale)
    check_choice("normalise", normalise, NORMALISERS)
    if normalise == "sum" and added_mask is not None:
        raise ValueError("a mask that is added hides from a softmax, and not from a sum")
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature:g}, but must be above 0")
    lead = queries.axes[:-2]
    table = (*lead, "query", key_axis)
    scores = scored or _scaled(trace, queries, keys, scale, prefix, table)
    if soft_cap is not None:
        scores = trace.step(f"{prefix}capped_scores", ops.SoftCap(soft_cap), scores, axes=table)
    if temperature != 1:
        cooled = ops.Magnify(1 / temperature)
        scores = trace.step(f"{prefix}tempered_scores", cooled, scores, axes=table)
    shares = ops.SumNormalise() if normalise == "sum" else ops.Softmax(softmax_dim)
    if added_mask is not None:
        scores = trace.step(f"{prefix}biased_scores", ops.Add(), scores, added_mask, axes=table)
        shares = ops.SoftmaxOfSeen(softmax_dim)
    if mask is not None:
        fill = 0.0 if normalise == "sum" else -math.inf
        scores = trace.step(f"{prefix}masked_scores", ops.Hide(fill), scores, mask, axes=table)
        shares = shares if normalise == "sum" else ops.SoftmaxOfSeen(softmax_dim)
    weights = trace.step(f"{prefix}weights", shares, scores, axes=table)
    if dropout:
        draw = ops.Draw("uniform", tuple(weights.value.shape), seed=dropout_seed)
        kept = trace.step(f"{prefix}kept", draw, axes=table)
        weights = trace.step(
            f"{prefix}dropped_weights", ops.Drop(dropout), weights, kept, axes=table
        )
    return trace.step(
        f"{prefix}context_vectors",
        ops.MatMul(),
        weights,
        values,
        axes=(*lead, "query", values.axes[-1]),
    )


def _scaled(
    trace: Trace,
    queries: Step,
    keys: Step,
    scale: str | float,
    prefix: str,
    table: tuple[str, ...],
) -> Step:
    """Add scores, and what they are when they are divided or multiplied."""
    scores = trace.step(f"{prefix}scores", ops.MatMul(transpose=True), queries, keys, axes=table)
    name = f"{prefix}scaled_scores"
    if not isinstance(scale, str):
        symbol = rf"{scores.symbol}_{{\times c}}"
        return trace.step(name, ops.Magnify(scale), scores, axes=table, symbol=symbol)
    if scale == "none":
        return scores
    divide = ops.Scale(queries.value.shape[-1], root=scale == "sqrt_d")
    symbol = None if divide.root else rf"{scores.symbol}_{{/d}}"
    return trace.step(name, divide, scores, axes=table, symbol=symbol)


def scale_of(trace: Trace, prefix: str = "") -> str | float:
    """What the scores of a trace made by `attention` are divided by: a key of `recipes.SCALES`; or
    the number that they are multiplied by.
    """
    scaled = trace.get(f"{prefix}scaled_scores")
    if scaled is None:
        return "none"
    if isinstance(scaled.operation, ops.Magnify):
        return scaled.operation.factor
    return "sqrt_d" if scaled.operation.root else "d"
