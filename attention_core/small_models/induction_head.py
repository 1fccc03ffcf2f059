"""The induction head that a run ended with, as a trace: why it looks where it looks."""

from .. import operations as ops
from ..mechanism.attention import attention
from ..mechanism.builder import project
from ..trace import Step, Trace
from .induction import EXAMPLE, FinishedRun, best_head
from .repeated import NAMES
from .tracing import add_layer, embedded


def induction_head(run: FinishedRun) -> Trace:
    """The head of the second layer with the largest prefix-matching score, on the tokens of
    `EXAMPLE`. Steps: `embeddings` and the first layer as in `pass_through`; `read` (token,
    d_model), what the second layer reads of each token; `W_query` and `W_key` (d_model, d_head),
    `W_value` (d_model, d_value), `queries`, `keys`, `values`, and attention on them.
    """
    layer, head = best_head(run.records[-1])
    trace = Trace(token=EXAMPLE, query=EXAMPLE, key=EXAMPLE, vocabulary=NAMES)
    known = {token: place for place, token in enumerate(NAMES)}
    stream = embedded(trace, run.weights, EXAMPLE, known)
    hides = ops.AttentionMask(len(EXAMPLE), len(EXAMPLE))
    mask = trace.step("mask", hides, axes=("query", "key"))
    stream = add_layer(trace, run.weights, 0, stream, mask)
    read = trace.step("read", ops.LayerNorm(), stream, axes=stream.axes)

    def weight(role: str) -> tuple[Step, None]:
        numbers = ops.Given.of(run.weights[f"W_{role}"][layer, head])
        width = "d_value" if role == "value" else "d_head"
        return trace.step(f"W_{role}", numbers, axes=("d_model", width)), None

    attention(trace, *project(trace, read, weight), mask=mask)
    return trace
