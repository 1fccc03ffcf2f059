"""Scores of a small network of our own (`small_models.network`) taken apart, as `score_parts` and
`score_trace` do it for a model that is read: there are few parts, and each number of what they
wrote is taken apart further, down to what was learned. Source: Elhage et al. 2021, A Mathematical
Framework for Transformer Circuits.
"""

from collections.abc import Mapping, Sequence

from torch import Tensor

from .. import operations as ops
from ..operations.layers import EPSILON
from ..small_models.figures import Head
from ..small_models.tracing import pass_through, read_by
from ..trace import Step, Trace
from .score_parts import ScoreParts, table_of
from .score_trace import labels_of, pairs, standardised
from .settings import one_over_root
from .written import Writer


def writers(layer: int, n_heads: int) -> tuple[Writer, ...]:
    """What writes to the stream before a layer."""
    heads = [Writer("head", each, head) for each in range(layer) for head in range(n_heads)]
    return Writer("token"), Writer("position"), *heads


def _read(trace: Trace, layer: int, head: int, role: str) -> Tensor:
    """What each part wrote, as a head's queries, keys or values (part, token, d_head)."""
    return read_by(trace, layer, trace[f"layer_{layer}_W_{role}"].value[head])


def small_score_parts(trace: Trace, layer: int, head: int, query: int, key: int) -> ScoreParts:
    """A score of a trace of `pass_through`, as `score_parts`. Raises ValueError for a later key."""
    if key > query:
        raise ValueError(f"token {query} does not see token {key}, which stands behind it")
    n_heads = len(trace[f"layer_{layer}_W_query"].value)
    queries, keys = (_read(trace, layer, head, role) for role in ("query", "key"))
    queries = queries[:, query] * one_over_root(queries.shape[-1])
    parts = writers(layer, n_heads)
    return table_of((layer, head, query, key), parts, queries, keys, range(query + 1))


def carried(trace: Trace, layer: int, head: int, key: int) -> Tensor:
    """Which share of a head's value at a key each part wrote (part,), along it: they sum to 1."""
    values = _read(trace, layer, head, "value")[:, key]
    whole = values.sum(0)
    return values @ whole / whole.square().sum()


def small_score_trace(
    weights: Mapping[str, Tensor],
    vocabulary: Sequence[str],
    words: Sequence[str],
    layer: int,
    head: int,
    query: int,
    key: int,
    off: Head | None = None,
) -> Trace:
    """A score: the steps of `pass_through`, then of `score_trace`. Raises ValueError as they do."""
    names = labels_of(writers(layer, len(weights["W_query"][layer])))
    trace = pass_through(weights, vocabulary, words, off, query_part=names, key_part=names)
    sides = []
    for role, token in (("query", query), ("key", key)):
        written = _written(trace, role, token, layer)
        normed = standardised(trace, written, f"{role}_stream", f"{role}_normed", EPSILON)
        whole = trace[f"layer_{layer}_W_{role}"]
        matrix = trace.step(f"W_{role}", ops.Row(head), whole, axes=whole.axes[1:])
        axes = (normed.axes[0], "d_head")
        sides.append(trace.step(f"{role}_vectors", ops.MatMul(), normed, matrix, axes=axes))
    pairs(trace, ops.Scale(sides[0].value.shape[-1]), *sides)
    return trace


def _written(trace: Trace, role: str, token: int, layer: int) -> Step:
    """What each part wrote to the stream at a token, a row each."""

    def row(name: str, whole: Step) -> Step:
        axes = (*whole.axes[:-2], "one", "d_model")
        return trace.step(f"{role}_{name}", ops.Rows(token, token + 1), whole, axes=axes)

    rows = [row(name, trace[f"{name}_embeddings"]) for name in ("token", "position")]
    for each in range(layer):
        of_heads = row(f"from_layer_{each}", trace[f"layer_{each}_head_outputs"])
        name, axes = f"{role}_from_heads_{each}", (of_heads.axes[0], "d_model")
        rows.append(trace.step(name, ops.JoinRowsOfHeads(), of_heads, axes=axes))
    axes = (f"{role}_part", "d_model")
    return trace.step(f"{role}_written", ops.JoinRows(len(rows)), *rows, axes=axes)
