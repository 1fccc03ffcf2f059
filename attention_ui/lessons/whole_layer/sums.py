"""What the rows of weights of the layer sum to."""

from attention_core.trace import Trace

from ...words import number

NEAR = 1e-5


def sums_verdict(trace: Trace) -> tuple[bool, str]:
    """Whether the weights sum to 1 for every query of every head, in words; and what dropout leaves
    of them, where there is some.
    """
    sums = trace["head_weights"].value.sum(dim=-1)
    if not sums.isfinite().all():
        return False, "A row of scores sums to 0, and nothing can be divided by it. Choose softmax."
    off = (sums - 1).abs().max().item()
    if off < NEAR:
        words = f"Every row of `weights` sums to 1: largest deviation {off:.1g}."
        return True, words + left_by_dropout(trace)
    rows = f"Rows of `weights` sum to {number(sums.min().item())} up to {number(sums.max().item())}"
    return False, f"{rows}, not to 1."


def left_by_dropout(trace: Trace) -> str:
    """What the rows of the dropped weights, which mix the values, sum to; "" without dropout."""
    dropped = trace.get("head_dropped_weights")
    if dropped is None:
        return ""
    sums = dropped.value.sum(dim=-1)
    return (
        " Then dropout sets some of them to 0 and stretches the rest: rows of `dropped`, which mix "
        f"the values, sum to {number(sums.min().item(), 2)} up to {number(sums.max().item(), 2)}, "
        f"on average {number(sums.mean().item(), 2)}."
    )
