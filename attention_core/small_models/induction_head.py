"""The induction head that a run ended with, as a trace: why it looks where it looks."""

from ..mechanism.attention import attention
from ..mechanism.builder import project
from ..operations import AttentionMask, Given
from ..trace import Step, Trace
from .induction import EXAMPLE, FinishedRun, best_head


def induction_head(run: FinishedRun) -> Trace:
    """The head of the second layer with the largest prefix-matching score, on the tokens of
    `EXAMPLE`.

    Steps: `read` (token, d_model), what the second layer reads of each token; `W_query` and `W_key`
    (d_model, d_head), `W_value` (d_model, d_value), `queries`, `keys`, `values`, `mask` (causal),
    and attention on them.
    """
    _, head = best_head(run.records[-1])
    layer = run.last_layer
    trace = Trace(token=EXAMPLE, query=EXAMPLE, key=EXAMPLE)
    read = trace.step("read", Given.of(layer["read"]), axes=("token", "d_model"))

    def weight(role: str) -> tuple[Step, None]:
        numbers = Given.of(layer[f"W_{role}"][head])
        width = "d_value" if role == "value" else "d_head"
        return trace.step(f"W_{role}", numbers, axes=("d_model", width)), None

    made = project(trace, read, weight)
    mask = trace.step("mask", AttentionMask(len(EXAMPLE), len(EXAMPLE)), axes=("query", "key"))
    attention(trace, *made, mask=mask)
    return trace
