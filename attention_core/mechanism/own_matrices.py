"""Attention with one's own matrices: vectors go in, and each step from them can be taken apart."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from .. import operations as ops
from ..recipes import PLURAL, ROLES
from ..stored import quoted
from ..trace import Step, Trace
from .any_tensors import attend_steps, check_shapes
from .options import Options, is_number
from .own_tensors import PRECISIONS, check_same_kind, give, own, sizes

BASES = "a number from 1e-6 to 1e12"
"""What the base of rotary positions must be, or one far out gives angles that are not finite."""


def is_base(value: object) -> bool:
    """Whether rotary positions can have it as a base."""
    return is_number(value, float) and 1e-6 <= value <= 1e12


@dataclass(frozen=True)
class Slowed:
    """Rotary positions of which the slow pairs turn `factor` times slower: those that turn less
    than `low` times over the `places` that a model was first trained on. Those that turn more than
    `high` times are left; in between, the rates go over from the one to the other.

    Source: Llama Team 2024, The Llama 3 Herd of Models; Meta's reference code, `apply_scaling`.
    """

    factor: float
    low: float
    high: float
    places: int

    def __post_init__(self) -> None:
        numbers = (self.factor, self.low, self.high, self.places)
        right = all(isinstance(each, int | float) and each > 0 for each in numbers)
        if not right or self.high <= self.low:
            raise ValueError(
                f"rotary positions slowed by {numbers}: choose four numbers above 0, the third "
                "above the second"
            )

    def rates(self, base: float, n_pairs: int) -> tuple[float, ...]:
        """The angle by which each pair turns from one place to the next."""
        made = []
        for pair in range(n_pairs):
            rate = base ** (-pair / n_pairs)
            turns = self.places * rate / (2 * math.pi)
            share = min(max((turns - self.low) / (self.high - self.low), 0.0), 1.0)
            made.append(rate * (share + (1 - share) / self.factor))
        return tuple(made)


@dataclass(frozen=True)
class Heads:
    """How the columns of queries, keys and values are dealt out to heads, and what happens to the
    heads before they are compared. Raises ValueError, in words, for what cannot be shared.
    """

    n_heads: int = 1
    n_kv_heads: int | None = None
    """How many heads keys and values have; None for as many as queries."""
    rotary_base: float | None = None
    """The base of rotary positions; None for none."""
    slowed: "Slowed | None" = None
    """How a model that was trained on further places slows its rotary positions down."""

    def __post_init__(self) -> None:
        for name in ("n_heads", "n_kv_heads"):
            count = getattr(self, name)
            if count is not None and (not is_number(count, int) or count < 1):
                raise ValueError(
                    f"{name} is {quoted(count)}, but must be a whole number of 1 or more"
                )
        if self.rotary_base is not None and not is_base(self.rotary_base):
            raise ValueError(f"rotary_base is {quoted(self.rotary_base)}, but must be {BASES}")
        if self.n_heads % self.of_keys:
            raise ValueError(
                f"{self.n_heads} query heads cannot be shared evenly among {self.of_keys} key heads"
            )

    @property
    def of_keys(self) -> int:
        """How many heads keys and values have."""
        return self.n_kv_heads or self.n_heads

    def of(self, role: str) -> int:
        """How many heads a role has."""
        return self.n_heads if role == "query" else self.of_keys

    @property
    def front(self) -> tuple[str, ...]:
        """The axis of query heads, where there are several."""
        return ("head",) if self.n_heads > 1 else ()

    @property
    def key_front(self) -> tuple[str, ...]:
        """The axis of key heads."""
        return self.front if self.of_keys == self.n_heads else ("kv_head",)

    def check(self, n_columns: dict[str, int]) -> None:
        """Raises ValueError, in words, where the columns of a role cannot be dealt out."""
        for role, columns in n_columns.items():
            if columns % self.of(role):
                raise ValueError(
                    f"{columns} columns of {PLURAL[role]} cannot be shared evenly among "
                    f"{self.of(role)} heads"
                )
        query, key = (n_columns[role] // self.of(role) for role in ("query", "key"))
        if query != key:
            raise ValueError(
                f"a head's query is {query} wide and its key {key}: they are compared entry by "
                "entry, so they need the same width"
            )

    def joined(self, role: str) -> str:
        """The name of the width of a role's vectors before they are dealt out."""
        if self.n_heads == 1:
            return "d_v" if role == "value" else "d_out"
        if role == "query" or self.of_keys == self.n_heads:
            return "d_concat" if role == "value" else "d_queries"
        return f"d_{PLURAL[role]}"


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
    past_keys: Tensor | Sequence | None = None,
    past_values: Tensor | Sequence | None = None,
    tokens: Sequence[str] = (),
    other_tokens: Sequence[str] = (),
    **options: object,
) -> Trace:
    """Attention of vectors of your own with matrices of your own.

    `embeddings` (token, d_in) or (batch, token, d_in) are multiplied by `W_query` and `W_key`
    (d_in, d_out) and `W_value` (d_in, d_v), with a bias (d_out,) or (d_v,) added where one is
    given; torch keeps such matrices upright, as `W.T`. Keys and values are made of `others`
    (other, d_other) where these are given, which is cross-attention. The columns are dealt out to
    `n_heads` heads, those of keys and values to `n_kv_heads`. With a `rotary_base`, such as
    10,000, queries and keys are turned by their places: in float32, then rounded to the kind of
    numbers that was given. `past_keys` and `past_values` (past, d), or
    (kv_head, past, d_head) with several heads, are put before the new ones as they are.

    Steps: the tensors given; `queries`, `keys`, `values`; `head_queries`, … (head, query, d_head)
    with several heads; `query_angles`, `turned_queries`, … with rotary positions; `all_keys`,
    `all_values` with past ones; the steps of `attention`; `concat` (query, d_concat) with several
    heads, and `output` (query, d_model) with `W_output`. All options of `attend_tensors` are taken
    as well. Raises ValueError, in words, for what does not fit.
    """
    chosen, heads = Options.of(options), Heads(n_heads, n_kv_heads, rotary_base)
    given = {"embeddings": embeddings, "W_query": W_query, "W_key": W_key, "W_value": W_value}
    optional = {"other_embeddings": others, "W_output": W_output}
    optional |= {"b_query": b_query, "b_key": b_key, "b_value": b_value, "b_output": b_output}
    optional |= {"past_keys": past_keys, "past_values": past_values}
    given |= {name: numbers for name, numbers in optional.items() if numbers is not None}
    tensors = {name: own(name, numbers, _n_axes(name)) for name, numbers in given.items()}
    check_same_kind(tensors)
    _check_widths(tensors)
    heads.check({role: tensors[f"W_{role}"].shape[-1] for role in ROLES})
    batch = ("batch",) if tensors["embeddings"].ndim == 3 else ()
    trace = Trace(**_labels(tokens, other_tokens, "past_keys" in tensors, others is not None))
    asked = give(trace, "embeddings", tensors["embeddings"], (*batch, "token", "d_in"))
    answered, d_other = asked, "d_in"
    if others is not None:
        d_other = "d_other"
        axes = (*batch, "other", d_other)
        answered = give(trace, "other_embeddings", tensors["other_embeddings"], axes)
    made = []
    for role in ROLES:
        vectors, d_in = (asked, "d_in") if role == "query" else (answered, d_other)
        width = heads.joined(role)
        if width == "d_v" and tensors["W_value"].shape[-1] == tensors["W_query"].shape[-1]:
            width = "d_out"
        matrix = give(trace, f"W_{role}", tensors[f"W_{role}"], (d_in, width))
        bias = None
        if f"b_{role}" in tensors:
            bias = give(trace, f"b_{role}", tensors[f"b_{role}"], (width,))
        axes = (*vectors.axes[:-2], row_of(role, "past_keys" in tensors), width)
        made.append(times(trace, PLURAL[role], vectors, matrix, bias, axes))
    past = {name: tensors[name] for name in ("past_keys", "past_values") if name in tensors}
    context = attend_projected(trace, made, heads, chosen, past)
    if W_output is not None:
        check_rows("W_output", tensors["W_output"].shape, context.value.shape[-1])
        axes = (context.axes[-1], "d_model")
        matrix = give(trace, "W_output", tensors["W_output"], axes)
        bias = None
        if b_output is not None:
            bias = give(trace, "b_output", tensors["b_output"], axes[1:])
        times(trace, "output", context, matrix, bias, (*context.axes[:-1], "d_model"))
    return trace


def times(
    trace: Trace,
    name: str,
    vectors: Step,
    matrix: Step,
    bias: Step | None,
    axes: tuple[str, ...],
) -> Step:
    """Add vectors times a matrix, and a bias where there is one."""
    if bias is None:
        return trace.step(name, ops.MatMul(), vectors, matrix, axes=axes)
    return trace.step(name, ops.Affine(), vectors, matrix, bias, axes=axes)


def row_of(role: str, has_past: bool = False) -> str:
    """The axis of the rows of queries, keys or values, before past ones are put there."""
    if role == "query":
        return "query"
    return "new_key" if has_past else "key"


def attend_projected(
    trace: Trace,
    projected: Sequence[Step],
    heads: Heads,
    options: Options,
    past: dict[str, Tensor] | None = None,
) -> Step:
    """Add attention to a trace that has queries, keys and values (…, row, columns), all heads side
    by side; the steps are those of `attend_vectors`. Returns the context vectors, joined where
    there are several heads. Raises ValueError, in words, for what does not fit.
    """
    past = past or {}
    if len(past) == 1:
        raise ValueError("past keys and past values belong together: give both or neither")
    batch = projected[0].axes[:-2]
    made = {
        role: _dealt(trace, role, step, heads, batch)
        for role, step in zip(ROLES, projected, strict=True)
    }
    check_shapes({PLURAL[role]: made[role].value for role in ROLES} | past, (*batch, *heads.front))
    n_past = past["past_keys"].shape[-2] if past else 0
    if heads.rotary_base is not None:
        for role in ("query", "key"):
            made[role] = _turned(trace, role, made[role], heads, n_past)
    for role in ("key", "value"):
        if past:
            name, front, width = PLURAL[role], made[role].axes[:-2], made[role].axes[-1]
            before = give(trace, f"past_{name}", past[f"past_{name}"], (*front, "past", width))
            axes = (*front, "key", width)
            made[role] = trace.step(f"all_{name}", ops.JoinRows(), before, made[role], axes=axes)
    prefix = "head_" if heads.front else ""
    context = attend_steps(trace, *(made[role] for role in ROLES), options, n_past, prefix)
    if not heads.front:
        return context
    join = ops.JoinHeadsInBatch() if batch else ops.JoinHeads()
    return trace.step("concat", join, context, axes=(*batch, "query", "d_concat"))


def _dealt(trace: Trace, role: str, step: Step, heads: Heads, batch: tuple[str, ...]) -> Step:
    """Columns dealt out to heads, where there are several."""
    if not heads.front:
        return step
    front = heads.front if role == "query" else heads.key_front
    n_heads, d_head = heads.of(role), trace["queries"].value.shape[-1] // heads.n_heads
    differs = role == "value" and step.value.shape[-1] // n_heads != d_head
    split = ops.SplitHeadsInBatch(n_heads) if batch else ops.SplitHeads(n_heads)
    name, axes = (
        f"head_{PLURAL[role]}",
        (*batch, *front, step.axes[-2], "d_value" if differs else "d_head"),
    )
    return trace.step(name, split, step, axes=axes)


def _turned(trace: Trace, role: str, step: Step, heads: Heads, n_past: int) -> Step:
    """Queries or keys turned by their places."""
    n_tokens, width = step.value.shape[-2:]
    if width % 2:
        raise ValueError(f"rotary positions turn pairs of columns, but a head is {width} wide")
    rates = heads.slowed.rates(heads.rotary_base, width // 2) if heads.slowed else ()
    turn = ops.RotaryAngles(n_tokens, width // 2, heads.rotary_base, n_past, rates)
    angles = trace.step(f"{role}_angles", turn, axes=(step.axes[-2], "d_pairs"))
    name, kind = f"turned_{PLURAL[role]}", PRECISIONS[step.value.dtype]
    if kind is None:
        return trace.step(name, ops.Rotate(), step, angles, axes=step.axes)
    # As Llama's own code has it: turned in float32, in which the angles are, and rounded once.
    turned = trace.step(f"{name}_in_float32", ops.Rotate(), step, angles, axes=step.axes)
    return trace.step(name, ops.Cast(kind), turned, axes=step.axes)


def _n_axes(name: str) -> tuple[int, ...]:
    if name.startswith("past"):
        return (2, 3, 4)
    return (2, 3) if name.endswith("embeddings") else (1,) if name.startswith("b_") else (2,)


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
    for role in (*ROLES, "output"):
        bias, matrix = tensors.get(f"b_{role}"), tensors.get(f"W_{role}")
        if bias is None:
            continue
        if matrix is None:
            raise ValueError(f"b_{role} is there without W_{role}: a bias is added to its product")
        if len(bias) != matrix.shape[-1]:
            raise ValueError(
                f"b_{role} has {len(bias)} numbers, but W_{role} has {matrix.shape[-1]} columns"
            )


def check_rows(name: str, shape: Sequence[int], width: int) -> None:
    """Raises ValueError, in words, where a matrix does not fit vectors of a width."""
    if shape[0] != width:
        raise ValueError(
            f"{name} is {' × '.join(map(str, shape))}, but the vectors before it are {width} wide: "
            f"it needs {width} rows"
        )


def _labels(
    tokens: Sequence[str], other_tokens: Sequence[str], has_past: bool, has_others: bool
) -> dict[str, Sequence[str]]:
    """The names of places by axis."""
    labels = {"token": tokens, "query": tokens, "other": other_tokens}
    labels["new_key" if has_past else "key"] = other_tokens if has_others else tokens
    return {axis: names for axis, names in labels.items() if names}
