"""Projections on the wrong axis, and a decoder layer built on them, as one notebook has them.
`U_query @ embeddings` with U (token, token) mixes tokens before any attention, so no mask hides the
future, and only one length fits. Kept to be shown beside `trainable`.
"""

from ..operations import Add, Draw, JoinHeads, LayerNorm, Linear, MatMul, ReLU
from ..recipes import PLURAL, ROLES
from ..trace import Step, Trace
from ..utils.validation import validated
from .attention import attention
from .trainable import last_draw


@validated
def attend_on_tokens(trace: Trace) -> Trace:
    """Add a single head to a trace that has `embeddings` (token, d_in). Steps: `U_query` (query,
    token), `U_key`, `U_value` (key, token), `queries` (query, d_in), `keys`, `values` (key, d_in),
    then as in `attention`, without dividing.
    """
    made = [_mixed(trace, role, {role: trace["embeddings"]}, (), "") for role in ROLES]
    attention(trace, *made, scale="none")
    return trace


def attend_on_tokens_by_heads(
    trace: Trace,
    n_heads: int,
    prefix: str = "head_",
    sources: tuple[str, str, str] = ("embeddings", "embeddings", "embeddings"),
    output: str = "output",
) -> Step:
    """Add heads of full width to a trace that has steps on the token axis. Returns their output.

    `sources` are the steps that queries, keys and values are made from. Steps, with `prefix`:
    `U_query` (head, query, token) and so on, attention, `concat` (query, d_concat), `W_output`
    (d_concat, d_in), and `output` (query, d_in) under the name given.
    """
    heads = ("head",) if prefix == "head_" else (f"{prefix}head",)
    vectors_of = dict(zip(ROLES, (trace[name] for name in sources), strict=True))
    d_in = vectors_of["query"].value.shape[-1]
    made = [_mixed(trace, role, vectors_of, (n_heads,), prefix, heads) for role in ROLES]
    context = attention(trace, *made, scale="none", prefix=prefix)
    d_concat = f"{prefix}d_concat"
    concat = trace.step(f"{prefix}concat", JoinHeads(), context, axes=("query", d_concat))
    draw = Draw.behind(last_draw(trace), "uniform", (n_heads * d_in, d_in))
    W_output = trace.step(f"{prefix}W_output", draw, axes=(d_concat, "d_in"))
    return trace.step(output, MatMul(), concat, W_output, axes=("query", "d_in"))


def _mixed(
    trace: Trace,
    role: str,
    vectors_of: dict[str, Step],
    lead: tuple[int, ...],
    prefix: str,
    heads: tuple[str, ...] = (),
) -> Step:
    """One matrix on the token axis, and what it makes of the vectors."""
    vectors = vectors_of[role]
    n_tokens = len(vectors.value)
    row = "query" if role == "query" else "key"
    draw = Draw.behind(last_draw(trace), "uniform", (*lead, n_tokens, n_tokens))
    matrix = trace.step(f"{prefix}U_{role}", draw, axes=(*heads, row, "token"))
    name = f"{prefix}{PLURAL[role]}"
    return trace.step(name, MatMul(), matrix, vectors, axes=(*heads, row, "d_in"))


@validated
def decode(trace: Trace, n_heads: int = 2) -> Trace:
    """Add the notebook's decoder layer, with the name repaired that stops its cell.

    Self-attention, added and normalised; cross-attention, added and normalised; two linear layers
    and a rectifier, in the notebook's order. Its mistakes are kept: projections on the token axis,
    queries and keys of the cross-attention both from the source, a normalisation over the whole
    matrix, the rectifier last. The output is `decoded` (query, d_in). Returns the same trace.
    """
    attended = attend_on_tokens_by_heads(trace, n_heads, "self_", output="self_output")
    axes = attended.axes
    added = trace.step("self_added", Add(), attended, trace["embeddings"], axes=axes)
    normed = trace.step("self_normed", LayerNorm(whole=True), added, axes=axes)
    sources = ("embeddings", "embeddings", "self_normed")
    crossed = attend_on_tokens_by_heads(trace, n_heads, "cross_", sources, "cross_output")
    added = trace.step("cross_added", Add(), crossed, normed, axes=axes)
    normed = trace.step("cross_normed", LayerNorm(whole=True), added, axes=axes)
    wide = _linear(trace, "linear_1", normed, 2, ("query", "d_hidden"))
    trace.step("decoded", ReLU(), _linear(trace, "linear_2", wide, 0.5, axes), axes=axes)
    return trace


def _linear(trace: Trace, name: str, vectors: Step, factor: float, axes: tuple[str, ...]) -> Step:
    """A `torch.nn.Linear`, drawn behind the last draw, its width `factor` times the old one."""
    d_in = vectors.value.shape[-1]
    d_hidden = int(d_in * factor)
    draw = Draw.behind(last_draw(trace), "linear", (d_hidden, d_in))
    matrix = trace.step(f"{name}_matrix", draw, axes=(axes[-1], vectors.axes[-1]))
    draw = Draw.behind(last_draw(trace), "linear", (d_hidden,), fan_in=d_in)
    bias = trace.step(f"{name}_bias", draw, axes=(axes[-1],))
    return trace.step(f"{name}_output", Linear(), vectors, matrix, bias, axes=axes)
