"""Scaled dot-product attention from queries, keys and values, as steps of a trace."""

import math

from .. import operations as ops
from ..recipes import NORMALISERS, check_choice, check_scale
from ..trace import Step, Trace
from ..utils.validation import validated


@validated
def attention(
    trace: Trace,
    queries: Step,
    keys: Step,
    values: Step,
    *,
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
    sink: Step | None = None,
) -> Step:
    """Add attention to a trace: softmax(Q Kᵀ / √d) V. Returns the context vectors.

    `queries` (…, query, d), `keys` (…, key, d) and `values` (…, key, d_value) may be single or have
    heads in front. Steps, each with `prefix` before its name: `scores`, `scaled_scores` where they
    are divided or multiplied, `capped_scores` with a `soft_cap`, `tempered_scores` where the
    temperature is not 1, `biased_scores` with an `added_mask` (numbers that are added), and
    `masked_scores` where there is a mask (True = may look), `weights`, `kept` and `dropped_weights`
    with dropout, all (…, query, key), and `context_vectors` (…, query, d_value). `softmax_dim`
    other than -1 shows a mistake, `scale` is a key of `recipes.SCALES`, or the number that scores
    are multiplied by, and `normalise` one of `recipes.NORMALISERS`: a sum in place of softmax hides
    with 0, which changes no sum. `key_axis` names the axis of the keys where `key` is that of
    others in the trace. `scored` are divided scores that are there already, so that none are made.
    A `sink` (1, 1) or (head, 1, 1) is one more score in each row, which no key stands for: it gets
    weight, and its column is dropped, so that a row of `weights` sums to less than 1. Steps:
    `scores_and_sink` and `weights_and_sink` (…, query, key_or_sink). Raises ValueError for any
    other, for a temperature or a cap that is not positive, for a sum of scores to which a mask is
    added, and for a sink without a softmax along the keys.

    Source: Vaswani et al. 2017, Attention Is All You Need, section 3.2.1; OpenAI 2025, gpt-oss-120b
    & gpt-oss-20b Model Card, section 2 (the sink), and Miller 2023, Attention Is Off By One.
    """
    if isinstance(scale, str):
        check_scale(scale)
    check_choice("normalise", normalise, NORMALISERS)
    if normalise == "sum" and added_mask is not None:
        raise ValueError("a mask that is added hides from a softmax, and not from a sum")
    if sink is not None and (normalise == "sum" or softmax_dim != -1):
        raise ValueError("a sink takes part in a softmax along the keys, and in nothing else")
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature:g}, but must be above 0")
    table = (*queries.axes[:-2], "query", key_axis)

    def step(name: str, operation: ops.Operation, *operands: Step) -> Step:
        return trace.step(f"{prefix}{name}", operation, *operands, axes=table)

    scores = scored or score(trace, queries, keys, scale, prefix, key_axis)
    if soft_cap is not None:
        scores = step("capped_scores", ops.SoftCap(soft_cap), scores)
    if temperature != 1:
        scores = step("tempered_scores", ops.ScaleBy(1 / temperature), scores)
    if added_mask is not None:
        scores = step("biased_scores", ops.Add(), scores, added_mask)
    if mask is not None:
        fill = 0.0 if normalise == "sum" else -math.inf
        scores = step("masked_scores", ops.MaskedFill(fill), scores, mask)
    if sink is not None:
        weights = _beside_sink(trace, scores, sink, prefix)
    else:
        hides = mask is not None or added_mask is not None
        softmax = ops.MaskedSoftmax if hides else ops.Softmax
        shares = ops.SumNormalise() if normalise == "sum" else softmax(softmax_dim)
        weights = step("weights", shares, scores)
    if dropout:
        draw = ops.Draw("uniform", tuple(weights.value.shape), seed=dropout_seed)
        weights = step("dropped_weights", ops.Drop(dropout), weights, step("kept", draw))
    axes = (*table[:-1], values.axes[-1])
    return trace.step(f"{prefix}context_vectors", ops.MatMul(), weights, values, axes=axes)


def _beside_sink(trace: Trace, scores: Step, sink: Step, prefix: str) -> Step:
    """Add the weights of scores (…, query, key) beside a sink, whose column is dropped."""
    key_axis, n_keys = scores.axes[-1], scores.value.shape[-1]
    wide = (*scores.axes[:-1], f"{key_axis}_or_sink")
    if not trace.has_axis(wide[-1]):
        trace.label(wide[-1], [*trace.labels(key_axis), "sink"])
    joined = trace.step(f"{prefix}scores_and_sink", ops.JoinColumns(), scores, sink, axes=wide)
    # A sink hides nothing and is seen by every query, so no row sees nothing.
    shares = trace.step(f"{prefix}weights_and_sink", ops.Softmax(), joined, axes=wide)
    return trace.step(f"{prefix}weights", ops.Columns(0, n_keys), shares, axes=scores.axes)


def score(
    trace: Trace,
    queries: Step,
    keys: Step,
    scale: str | float,
    prefix: str = "",
    key_axis: str = "key",
) -> Step:
    """Add `scores`, and `scaled_scores` where they are divided or multiplied. Returns the last."""
    table, product = (*queries.axes[:-2], "query", key_axis), ops.MatMul(transpose=True)
    scores = trace.step(f"{prefix}scores", product, queries, keys, axes=table)
    if scale == "none":
        return scores
    if isinstance(scale, str):
        scaling: ops.Operation = ops.Scale(queries.value.shape[-1], root=scale == "sqrt_d")
        below = None if scale == "sqrt_d" else "/d"
    else:
        scaling, below = ops.ScaleBy(scale), r"\times c"
    symbol = rf"{scores.symbol}_{{{below}}}" if below else None
    return trace.step(f"{prefix}scaled_scores", scaling, scores, axes=table, symbol=symbol)


def scale_of(trace: Trace, prefix: str = "") -> str | float:
    """What `attention` divided the scores of a trace by: a key of `SCALES`, or a factor."""
    scaled = trace.get(f"{prefix}scaled_scores")
    if scaled is None:
        return "none"
    if isinstance(scaled.operation, ops.ScaleBy):
        return scaled.operation.factor
    return "sqrt_d" if scaled.operation.root else "d"


def divisor_of(trace: Trace, prefix: str = "") -> float:
    """The number that the scores of a trace made by `attention` are divided by."""
    width = trace[f"{prefix}scores"].inputs[0].value.shape[-1]
    scale = scale_of(trace, prefix)
    divisors = {"none": 1.0, "sqrt_d": width**0.5, "d": float(width)}
    return divisors[scale] if isinstance(scale, str) else 1 / scale
