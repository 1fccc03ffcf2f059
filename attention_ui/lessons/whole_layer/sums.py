"""What the rows of weights of the layer sum to."""

from attention_core.trace import Trace

from ...words import number

NEAR = 1e-5


def sums_verdict(trace: Trace) -> tuple[bool, str]:
    """Whether the weights that values are mixed by sum to 1 for every query of every head, in
    words.
    """
    weights = trace["head_context_vectors"].inputs[0]
    sums = weights.value.sum(dim=-1)
    if not sums.isfinite().all():
        return False, "A row of scores sums to 0, and nothing can be divided by it. Choose softmax."
    off = (sums - 1).abs().max().item()
    if off < NEAR:
        return True, f"Every row of weights sums to 1: largest deviation {off:.1g}."
    rows = f"Rows of weights sum to {number(sums.min().item())} up to {number(sums.max().item())}"
    return False, f"{rows}, not to 1."
