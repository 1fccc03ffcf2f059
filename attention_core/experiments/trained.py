"""A trained layer as a trace: every number of one recorded step of a run."""

from typing import Any

from ..mechanism.attention import attention
from ..mechanism.builder import project, times
from ..operations import AttentionMask, Given, Softmax
from ..trace import Step, Trace
from ..utils.validation import validated
from .training import Matrices


@validated
def attend_trained(trace: Trace, matrices: Matrices, scaled: bool = True) -> Trace:
    """Add the layer that `training.train` trains, with given matrices, to a trace of embeddings.
    Steps: `W_query`, `W_key` (d_in, d_query), `W_value` (d_in, d_value), `queries`, `keys`,
    `values`, `mask` (causal), attention on them, `W_output` (d_value, next), `logits` and
    `probabilities` (query, next): what each position expects to come next, among the distinct
    tokens of the sentence.
    """
    context = attend_given(trace, matrices, "sqrt_d" if scaled else "none")
    logits = logits_of(trace, matrices, context)
    trace.step("probabilities", Softmax(), logits, axes=logits.axes)
    return trace


def attend_given(
    trace: Trace,
    matrices: Matrices,
    scale: str = "sqrt_d",
    temperature: float = 1.0,
    dropout: float = 0.0,
) -> Step:
    """Add causal attention with given matrices to a trace of embeddings; the context vectors."""
    n_tokens = trace.size("token")

    def weight(role: str) -> tuple[Step, None]:
        width = "d_value" if role == "value" else "d_query"
        return _given(trace, matrices, f"W_{role}", "d_in", width), None

    made = project(trace, trace["embeddings"], weight)
    mask = trace.step("mask", AttentionMask(n_tokens, n_tokens), axes=("query", "key"))
    chosen: dict[str, Any] = {"temperature": temperature, "dropout": dropout}
    return attention(trace, *made, scale=scale, mask=mask, **chosen)


def logits_of(trace: Trace, matrices: Matrices, context: Step) -> Step:
    """Add `W_output` (d_value, next), and `logits` (query, next) of the distinct tokens."""
    trace.label("next", list(dict.fromkeys(trace.labels("token"))))
    return times(trace, "logits", context, _given(trace, matrices, "W_output", "d_value", "next"))


def _given(trace: Trace, matrices: Matrices, name: str, *axes: str) -> Step:
    return trace.step(name, Given.of(getattr(matrices, name)), axes=axes)
