"""A trained layer as a trace: every number of one recorded step of a run."""

from ..mechanism.attention import attention
from ..mechanism.builder import project, times
from ..operations import AttentionMask, Given, Softmax
from ..trace import Step, Trace
from .training import Matrices


def attend_trained(trace: Trace, matrices: Matrices, scaled: bool = True) -> Trace:
    """Add the layer that `training.train` trains, with given matrices, to a trace of embeddings.

    Steps: `W_query`, `W_key` (d_in, d_query), `W_value` (d_in, d_value), `queries`, `keys`,
    `values`, `mask` (causal), attention on them, `W_output` (d_value, next), `logits` and
    `probabilities` (query, next): what each position expects to come next, among the distinct
    tokens of the sentence. Returns the same trace.
    """
    tokens = trace.labels("token")
    trace.label("next", list(dict.fromkeys(tokens)))

    def weight(role: str) -> tuple[Step, None]:
        numbers = Given.of(getattr(matrices, f"W_{role}"))
        width = "d_value" if role == "value" else "d_query"
        return trace.step(f"W_{role}", numbers, axes=("d_in", width)), None

    made = project(trace, trace["embeddings"], weight)
    mask = trace.step("mask", AttentionMask(len(tokens), len(tokens)), axes=("query", "key"))
    context = attention(trace, *made, "sqrt_d" if scaled else "none", mask)
    W_output = trace.step("W_output", Given.of(matrices.W_output), axes=("d_value", "next"))
    logits = times(trace, "logits", context, W_output)
    trace.step("probabilities", Softmax(), logits, axes=("query", "next"))
    return trace
