"""The induction head that a run ended with, as a trace: why it looks where it looks."""

from torch import Tensor

from ..mechanism.attention import attention
from ..operations import Given, MatMul, MayLook
from ..trace import Trace
from .induction import EXAMPLE, FinishedRun, best_head


def induction_head(run: FinishedRun) -> Trace:
    """The head of the second layer with the largest prefix-matching score, on the tokens of
    `EXAMPLE`.

    Steps: `read` (token, d_model), what the second layer reads of each token; `W_query`, `W_key`,
    `W_value` (d_model, d_head), `queries`, `keys`, `values`, `mask` (causal), and attention on
    them.
    """
    _, head = best_head(run.records[-1])
    layer = run.last_layer
    trace = Trace(token=EXAMPLE, query=EXAMPLE, key=EXAMPLE)
    read = trace.step("read", _given(layer.read), axes=("token", "d_model"))
    made = []
    for role, name, row in (
        ("query", "queries", "query"),
        ("key", "keys", "key"),
        ("value", "values", "key"),
    ):
        numbers = _given(getattr(layer, f"W_{role}")[head])
        matrix = trace.step(f"W_{role}", numbers, axes=("d_model", "d_head"))
        made.append(trace.step(name, MatMul(), read, matrix, axes=(row, "d_head")))
    mask = trace.step("mask", MayLook(len(EXAMPLE), len(EXAMPLE)), axes=("query", "key"))
    attention(trace, *made, mask=mask)
    return trace


def _given(numbers: Tensor) -> Given:
    return Given(tuple(map(tuple, numbers.tolist())))
