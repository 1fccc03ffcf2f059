"""Attention with one's own matrices: vectors go in, and each step from them can be taken apart."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor

from ..asked import answers
from ..recipes import ROLES
from ..trace import Trace
from .builder import Heads, attend_projected, check_rows, gated, head_norm, project, times
from .options import Options
from .own_tensors import check_same_kind, give, given_labels, own, sizes

NORM_EPSILON = 1e-6
"""What is added under the root of a norm of queries and keys, if nothing else is said."""


@answers
def attend_vectors(
    embeddings: Tensor | Sequence,
    W_query: Tensor | Sequence,
    W_key: Tensor | Sequence,
    W_value: Tensor | Sequence,
    W_output: Tensor | Sequence | None = None,
    *,
    b_query: Tensor | Sequence | None = None,
    b_key: Tensor | Sequence | None = None,
    b_value: Tensor | Sequence | None = None,
    b_output: Tensor | Sequence | None = None,
    others: Tensor | Sequence | None = None,
    n_heads: int = 1,
    n_kv_heads: int | None = None,
    rotary_base: float | None = None,
    rotary_columns: int | None = None,
    query_gain: Tensor | Sequence | None = None,
    key_gain: Tensor | Sequence | None = None,
    norm_epsilon: float = NORM_EPSILON,
    W_gate: Tensor | Sequence | None = None,
    b_gate: Tensor | Sequence | None = None,
    past_keys: Tensor | Sequence | None = None,
    past_values: Tensor | Sequence | None = None,
    tokens: Sequence[str] = (),
    other_tokens: Sequence[str] = (),
    **options: Any,
) -> Trace:
    """Attention of vectors of your own with matrices of your own.

    `embeddings` (token, d_in) or (batch, token, d_in) are multiplied by `W_query` and `W_key`
    (d_in, d_query) and `W_value` (d_in, d_value), with a bias (d_query,) or (d_value,) added where
    one is given; torch keeps such matrices upright, as `W.T`. Keys and values are made of `others`
    (other, d_other) where these are given, which is cross-attention. The columns are dealt out to
    `n_heads` heads, those of keys and values to `n_kv_heads`. With a `rotary_base`, such as 10,000,
    queries and keys are turned by their places: in float32, then rounded to the kind of
    numbers that was given; of each head all columns, or the first `rotary_columns`. With a
    `query_gain` and a `key_gain` (d_head,), ones for none, each head's queries and keys have a norm
    of their own before that (QK-norm). With a `W_gate` (d_in, d_value) what attention gives is
    multiplied, number by number, by a gate that each token makes of its own vector. `past_keys`
    and `past_values` (past, d), or (kv_head, past, d_head) with several heads, are put before the
    new ones as they are.

    Steps: the tensors given; `queries`, `keys`, `values`; `head_queries`, … (head, query, d_head)
    with several heads; `query_angles`, `turned_queries`, … with rotary positions; `all_keys`,
    `all_values` with past ones; `normed_queries`, … with gains; the steps of `attention`; `concat`
    (query, d_concat) with several heads; `gate_scores`, `gates` and `gated_vectors` with a gate;
    and `output` (query, d_model) with `W_output`. All options of `attend_tensors` are taken
    as well. Raises ValueError, in words, for what does not fit.
    """
    chosen = Options.of(options)
    heads = Heads(n_heads, n_kv_heads, rotary_base)
    if (query_gain is None) != (key_gain is None):
        raise ValueError("query_gain and key_gain belong together: give both or neither")
    if rotary_columns is not None and rotary_base is None:
        raise ValueError("rotary_columns are there without a rotary_base: nothing is turned")
    if norm_epsilon < 0:
        raise ValueError(f"norm_epsilon is {norm_epsilon!r}, but must be 0 or a small number")
    if norm_epsilon != NORM_EPSILON and query_gain is None:
        raise ValueError("norm_epsilon is there without query_gain and key_gain: nothing is normed")
    given = {"embeddings": embeddings, "W_query": W_query, "W_key": W_key, "W_value": W_value}
    optional = {"other_embeddings": others, "W_output": W_output}
    optional |= {"b_query": b_query, "b_key": b_key, "b_value": b_value, "b_output": b_output}
    optional |= {"past_keys": past_keys, "past_values": past_values}
    optional |= {"query_gain": query_gain, "key_gain": key_gain}
    optional |= {"W_gate": W_gate, "b_gate": b_gate}
    given |= {name: numbers for name, numbers in optional.items() if numbers is not None}
    tensors = {name: own(name, numbers, _n_axes(name)) for name, numbers in given.items()}
    check_same_kind(tensors)
    _check_widths(tensors)
    heads.check({role: tensors[f"W_{role}"].shape[-1] for role in ROLES})
    if rotary_columns is not None:
        d_head = tensors["W_query"].shape[-1] // n_heads
        if rotary_columns % 2 or not 2 <= rotary_columns <= d_head:
            raise ValueError(
                f"rotary_columns is {rotary_columns}, but must be an even number from 2 to "
                f"{d_head}, the width of a head: columns are turned in pairs"
            )
        heads = replace(heads, rest=d_head - rotary_columns)
    batch = ("batch",) if tensors["embeddings"].ndim == 3 else ()
    key_axis = "new_key" if "past_keys" in tensors else "key"
    labels = {"token": tokens, "query": tokens, "other": other_tokens}
    labels[key_axis] = tokens if others is None else other_tokens
    trace = Trace(**given_labels(**labels))
    asked = give(trace, "embeddings", tensors["embeddings"], (*batch, "token", "d_in"))
    sources = dict.fromkeys(ROLES, asked)
    if others is not None:
        axes = (*batch, "other", "d_other")
        other = give(trace, "other_embeddings", tensors["other_embeddings"], axes)
        sources |= {"key": other, "value": other}

    def weight(role: str, rows: str | None = None, width: str | None = None) -> tuple:
        axes = (rows or sources[role].axes[-1], width or heads.joined(role))
        matrix = give(trace, f"W_{role}", tensors[f"W_{role}"], axes)
        bias = tensors.get(f"b_{role}")
        return matrix, bias if bias is None else give(trace, f"b_{role}", bias, axes[1:])

    past: dict[str, Tensor] = {
        name: tensors[name] for name in ("past_keys", "past_values") if name in tensors
    }
    made = project(trace, sources, weight, key_axis=key_axis)

    def normed(role: str, step: Any) -> Any:
        gain = tensors[f"{role}_gain"]
        if len(gain) != step.value.shape[-1]:
            width = step.value.shape[-1]
            raise ValueError(f"{role}_gain has {len(gain)} numbers, but a head is {width} wide")
        given = give(trace, f"{role}_norm_gain", gain, step.axes[-1:])
        return head_norm(trace, role, step, norm_epsilon, given)

    own_norm = normed if query_gain is not None else None
    context = attend_projected(trace, made, heads, chosen, past, normed=own_norm)
    if W_gate is not None:
        has, width = tensors["W_gate"].shape[-1], context.value.shape[-1]
        if has != width:
            raise ValueError(
                f"W_gate has {has} columns, but what it opens and closes is {width} wide"
            )
        gate = weight("gate", asked.axes[-1], context.axes[-1])
        context = gated(trace, asked, context, *gate)
    if W_output is not None:
        check_rows("W_output", tensors["W_output"].shape, context.value.shape[-1])
        times(trace, "output", context, *weight("output", context.axes[-1], "d_model"))
    return trace


def _n_axes(name: str) -> tuple[int, ...]:
    if name.startswith("past"):
        return (2, 3, 4)
    is_row = name.startswith("b_") or name.endswith("_gain")
    return (2, 3) if name.endswith("embeddings") else (1,) if is_row else (2,)


def _check_widths(tensors: dict[str, Tensor]) -> None:
    """Raises ValueError, in words, where vectors, matrices and biases do not fit each other."""
    vectors = tensors["embeddings"]
    answered = tensors.get("other_embeddings", vectors)
    if answered.shape[:-2] != vectors.shape[:-2]:
        raise ValueError(
            f"embeddings are {sizes(vectors)} and other_embeddings {sizes(answered)}: both need "
            "the same batch in front, or none"
        )
    for role in ROLES:
        width = (vectors if role == "query" else answered).shape[-1]
        check_rows(f"W_{role}", tensors[f"W_{role}"].shape, width)
    if "W_gate" in tensors:
        check_rows("W_gate", tensors["W_gate"].shape, vectors.shape[-1])
    for role in (*ROLES, "output", "gate"):
        bias, matrix = tensors.get(f"b_{role}"), tensors.get(f"W_{role}")
        if bias is None:
            continue
        if matrix is None:
            raise ValueError(f"b_{role} is there without W_{role}: a bias is added to its product")
        if len(bias) != matrix.shape[-1]:
            raise ValueError(
                f"b_{role} has {len(bias)} numbers, but W_{role} has {matrix.shape[-1]} columns"
            )
