"""One way to attention, and all of it: vectors are projected, dealt out to heads, turned by their
places, put behind those of a cache, compared, weighed, joined. What calls it says what differs:
the projections, the heads of queries and of keys, the positions, and all that `Options` may vary.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .. import operations as ops
from ..files.tensor_file import quoted
from ..operations.base import kind_of
from ..recipes import PLURAL, ROLES, check_least, shared_by
from ..trace import Step, Trace
from ..utils.validation import among, shown
from .attention import attention
from .options import Options, is_number, mask_and_bias
from .own_tensors import PRECISIONS, give, sizes

BASES = "a number from 1e-6 to 1e12"
"""What the base of rotary positions must be, or one far out gives angles that are not finite."""


def is_base(value: Any) -> bool:
    """Whether rotary positions can have it as a base."""
    return is_number(value, float) and 1e-6 <= value <= 1e12


@dataclass(frozen=True)
class Heads:
    """How columns are dealt out to heads, and changed. Raises ValueError, in words."""

    n_heads: int = 1
    n_kv_heads: int | None = None
    """How many heads keys and values have; None for as many as queries."""
    rotary_base: float | None = None
    """The base of rotary positions; None for none."""
    rates: tuple[float, ...] = ()
    """How far each pair of columns turns per place, where the base alone does not say it."""
    neighbours: bool = False
    """Whether columns 2k and 2k + 1 turn together, and not k and k + d/2."""
    rest: int = 0
    """So many columns at the end of each head are left as they are."""
    stretch: float = 1.0
    """How many times longer becomes what is turned."""

    def __post_init__(self) -> None:
        check_least(self, 1, "n_heads")
        shared_by(self.n_heads, self.of_keys)

    @property
    def of_keys(self) -> int:
        """How many heads keys and values have."""
        return self.n_kv_heads or self.n_heads

    def of(self, role: str) -> int:
        """How many heads a role has."""
        return self.n_heads if role == "query" else self.of_keys

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
            return "d_value" if role == "value" else "d_query"
        if role == "query" or self.of_keys == self.n_heads:
            return "d_concat" if role == "value" else "d_queries"
        return f"d_{PLURAL[role]}"


def project(
    trace: Trace,
    vectors: Step | Mapping[str, Step],
    weight: Callable[[str], tuple[Step, Step | None]],
    prefix: str = "",
    key_axis: str = "key",
) -> list[Step]:
    """Add queries, keys and values to a trace: vectors (…, token, d_in), the same for all roles or
    those of each, times the matrix (d_in, width) or (head, d_in, width) that `weight` gives for a
    role, and its bias where it has one. Steps: `queries` (…, query, width), `keys`, `values`
    (…, key, width), with `prefix` before their names and `key_axis` in the place of `key`.
    """
    made = []
    for role in ROLES:
        source = vectors if isinstance(vectors, Step) else vectors[role]
        matrix, bias = weight(role)
        row = "query" if role == "query" else key_axis
        lead = (*source.axes[:-2], *matrix.axes[:-2], row)
        made.append(times(trace, f"{prefix}{PLURAL[role]}", source, matrix, bias, lead))
    return made


def times(
    trace: Trace,
    name: str,
    vectors: Step,
    matrix: Step,
    bias: Step | None = None,
    lead: tuple[str, ...] | None = None,
) -> Step:
    """Add vectors times a matrix and a bias; `lead` are the result's axes but the last."""
    axes = (*(vectors.axes[:-1] if lead is None else lead), matrix.axes[-1])
    if bias is None:
        return trace.step(name, ops.MatMul(), vectors, matrix, axes=axes)
    return trace.step(name, ops.Affine(), vectors, matrix, bias, axes=axes)


def attend_projected(
    trace: Trace,
    projected: Sequence[Step],
    heads: Heads,
    options: Options,
    prefix: str = "",
    joined: str = "d_concat",
    normed: Callable[[str, Step], Step] | None = None,
) -> Step:
    """Add attention to a trace that has queries, keys and values (…, row, columns), all heads side
    by side: `head_queries`, … (head, query, d_head); `query_angles`, `turned_queries`, … with
    rotary positions; the steps of `attention`, `head_` before their names; and `concat`. All names
    begin with `prefix`. Returns the context vectors, joined along the axis `joined`. `normed` adds
    what is done to the heads of queries and of keys before they are turned. Raises ValueError, in
    words, for what does not fit.
    """
    batch = projected[0].axes[:-2]
    made = {}
    for role, step in zip(ROLES, projected, strict=True):
        head = "head" if heads.of(role) == heads.n_heads else "kv_head"
        axes = (*batch, head, step.axes[-2], "d_value" if role == "value" else "d_head")
        split = ops.SplitHeads(heads.of(role), bool(batch))
        made[role] = trace.step(f"{prefix}head_{PLURAL[role]}", split, step, axes=axes)
    check_shapes({PLURAL[role]: made[role].value for role in ROLES}, (*batch, "head"))
    for role in ("query", "key") if normed else ():
        made[role] = normed(role, made[role])
    if (base := heads.rotary_base) is not None:
        how = ops.Rotate(heads.neighbours, heads.rest, heads.stretch)
        for role in ("query", "key"):
            made[role] = rotated(trace, role, made[role], base, 0, heads.rates, how=how)
    named: dict[str, Any] = {"prefix": f"{prefix}head_", "mask_prefix": prefix}
    context = attend_steps(trace, *made.values(), options=options, **named)
    axes = (*batch, "query", joined)
    return trace.step(f"{prefix}concat", ops.JoinHeads(bool(batch)), context, axes=axes)


def rotated(
    trace: Trace,
    role: str,
    step: Step,
    base: float,
    first_place: int = 0,
    rates: tuple[float, ...] = (),
    prefix: str = "",
    how: ops.Rotate = ops.Rotate(),  # noqa: B008
) -> Step:
    """Add queries or keys (…, row, d) turned by place. Raises ValueError for what cannot turn."""
    if not is_base(base):
        raise ValueError(f"rotary_base is {quoted(base)}, but must be {BASES}")
    n_rows, width = step.value.shape[-2], step.value.shape[-1] - how.rest
    if width % 2:
        raise ValueError(f"rotary positions turn pairs of columns, but a head is {width} wide")
    turn = ops.RotaryAngles(n_rows, width // 2, base, first_place, rates)
    angles = trace.step(f"{prefix}{role}_angles", turn, axes=(step.axes[-2], "d_pairs"))
    name, kind = f"{prefix}turned_{PLURAL[role]}", PRECISIONS[step.value.dtype]
    if kind is None:
        return trace.step(name, how, step, angles, axes=step.axes)
    # As Llama's own code has it: turned in float32, in which the angles are, and rounded once.
    exact = trace.step(f"{name}_in_float32", how, step, angles, axes=step.axes)
    return trace.step(name, ops.Cast(kind), exact, axes=step.axes)


def head_norm(
    trace: Trace, role: str, step: Step, epsilon: float, gain: Step | None = None, prefix: str = ""
) -> Step:
    """Add queries or keys (…, row, d) with a norm of their own, before they are turned: each row of
    each head divided by the root of its mean square, times a `gain` (d,) where there is one. That
    of 16 bits is divided in float32, as Qwen3's own code has it, and rounded before the gain.
    Source: Dehghani et al. 2023, Scaling Vision Transformers to 22 Billion Parameters, section 2,
    and Zhang and Sennrich 2019, Root Mean Square Layer Normalization.
    """
    of, made = f"{prefix}{role}_norm", f"{prefix}normed_{PLURAL[role]}"
    one, kind = (*step.axes[:-1], "one"), PRECISIONS[step.value.dtype]
    name, exact = made if gain is None else f"{of}_standardised", "_in_float32" if kind else ""
    if kind:  # the squares of what float16 holds are more than it can hold
        step = trace.step(f"{of}_in_float32", ops.Cast("float32"), step, axes=step.axes)
    square = trace.step(f"{of}_mean_square", ops.RowMeanSquare(), step, axes=one)
    divided = trace.step(f"{name}{exact}", ops.DivideByRoot(epsilon), step, square, axes=step.axes)
    if kind:
        divided = trace.step(name, ops.Cast(kind), divided, axes=step.axes)
    if gain is None:
        return divided
    return trace.step(made, ops.ScaleShift(), divided, gain, axes=step.axes)


def gated(
    trace: Trace,
    vectors: Step,
    context: Step,
    matrix: Step,
    bias: Step | None = None,
    prefix: str = "",
) -> Step:
    """Add context vectors (…, query, d) times a gate for each of their numbers, a share from 0 to 1
    that each token makes of its own vector (…, token, d_in): `gate_scores`, `gates` and
    `gated_vectors`. Source: Qiu et al. 2025, Gated Attention for Large Language Models, section 2.
    """
    scores = times(trace, f"{prefix}gate_scores", vectors, matrix, bias, context.axes[:-1])
    gates = trace.step(f"{prefix}gates", ops.Sigmoid(), scores, axes=scores.axes)
    return trace.step(f"{prefix}gated_vectors", ops.Multiply(), context, gates, axes=context.axes)


def append_to_past(trace: Trace, name: str, past: Tensor, new: Step, joined: str) -> Step:
    """Add past keys or values, `past_keys` (…, past, d), and the new ones behind them."""
    *front, _, width = new.axes
    before = give(trace, f"past_{name}", past, (*front, "past", width))
    return trace.step(joined, ops.JoinRows(), before, new, axes=(*front, "key", width))


def attend_steps(
    trace: Trace,
    queries: Step,
    keys: Step,
    values: Step,
    *,
    options: Options,
    n_past: int = 0,
    prefix: str = "",
    mask_prefix: str = "",
    scored: Step | None = None,
) -> Step:
    """Add attention with all options to a trace that has queries, keys and values. Returns the
    context vectors.

    Key heads that several query heads share have the axis `kv_head`; of the keys, the first
    `n_past` were there before. Steps: `shared_keys` and `shared_values` for shared heads, `mask`
    with what it is made of, `added_mask`, `distance_bias` with ALiBi, `added_bias` where both are
    added; these with `mask_prefix` before their names, and those of `attention`, from scores that
    are `scored` already where there are some. Raises ValueError for options that do not fit.
    """
    front = queries.axes[:-2]
    n_heads = queries.value.shape[front.index("head")] if "head" in front else 1
    shared = []
    for name, step in (("keys", keys), ("values", values)):
        if "kv_head" in step.axes:
            times = n_heads // step.value.shape[step.axes.index("kv_head")]
            axes = (*front, *step.axes[-2:])
            step = trace.step(f"{prefix}shared_{name}", ops.RepeatHeads(times), step, axes=axes)
        shared.append(step)
    axes = (*front, "query", keys.axes[-2])
    shape, dtype = (*queries.value.shape[:-1], keys.value.shape[-2]), queries.value.dtype
    mask, added = mask_and_bias(trace, axes, shape, dtype, options, n_past, mask_prefix)
    return attention(
        trace,
        queries,
        *shared,
        scale=options.scale if isinstance(options.scale, str) else float(options.scale),
        mask=mask,
        prefix=prefix,
        temperature=options.temperature,
        dropout=options.dropout,
        dropout_seed=options.dropout_seed,
        added_mask=added,
        soft_cap=options.soft_cap,
        key_axis=keys.axes[-2],
        scored=scored,
        sink=_sink(trace, options.sink_logits, front, n_heads, dtype, mask_prefix),
    )


def _sink(
    trace: Trace,
    logits: float | Sequence[float] | None,
    front: tuple[str, ...],
    n_heads: int,
    dtype: torch.dtype,
    prefix: str,
) -> Step | None:
    """Add the logits of sinks, one for each head, where there are some."""
    if logits is None:
        return None
    each = tuple(logits) if isinstance(logits, Sequence) else (logits,) * n_heads
    if len(each) != n_heads:
        raise ValueError(
            f"there are {len(each)} sink_logits, but {n_heads} head{'s' * (n_heads > 1)}: each has "
            "one"
        )
    numbers = torch.tensor(each, dtype=dtype)
    if not numbers.isfinite().all():
        raise ValueError(
            f"{max(each, key=abs):g} in sink_logits is more than {kind_of(numbers)} holds"
        )
    head = ("head",) * ("head" in front)
    axes = (*head, "one_query", "sink")
    numbers = numbers.reshape(*[n_heads] * len(head), 1, 1)
    return give(trace, f"{prefix}sink_logits", numbers, axes)


def check_shapes(tensors: dict[str, Tensor], front: tuple[str, ...]) -> None:
    """Raises ValueError, in words, where queries, keys, values and past ones do not fit."""
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if len({len(shape) for shape in shapes.values()}) > 1:
        found = ", ".join(f"{name} {len(shape)}" for name, shape in shapes.items())
        raise ValueError(f"all need the same number of axes, but they have: {found}")
    queries, keys, values = (shapes[name] for name in ("queries", "keys", "values"))
    if queries[-1] != keys[-1]:
        raise ValueError(
            f"a query is {queries[-1]} wide and a key {keys[-1]}: they are compared entry by "
            "entry, so they need the same width"
        )
    if keys[-2] != values[-2]:
        raise ValueError(f"there are {keys[-2]} keys but {values[-2]} values: each key has one")
    for at, axis in enumerate(front):
        if keys[at] != values[at]:
            raise ValueError(f"axis {axis!r} is {keys[at]} long for keys, {values[at]} for values")
        if axis == "head":
            shared_by(queries[at], keys[at])
        elif queries[at] != keys[at]:
            raise ValueError(
                f"axis {axis!r} is {queries[at]} long for queries, {keys[at]} for keys"
            )
    for name, new in (("past_keys", keys), ("past_values", values)):
        past = shapes.get(name)
        if past and (past[:-2], past[-1]) != (new[:-2], new[-1]):
            raise ValueError(
                f"{name} is {sizes(tensors[name])}, but must fit the new ones, "
                f"{' × '.join(map(str, new))}, in all but their number"
            )
    if "past_keys" in shapes and shapes["past_keys"][-2] != shapes["past_values"][-2]:
        raise ValueError(
            f"there are {shapes['past_keys'][-2]} past keys but {shapes['past_values'][-2]} past "
            "values: each key has one"
        )


def check_matrices(given: Mapping[str, Step], there: Sequence[str]) -> None:
    """Raises ValueError, in words, for a matrix that nothing would read, or that is no step."""
    for name, matrix in given.items():
        if name not in there:
            raise ValueError(f"there is no use for a matrix {shown(name)}{among(name, there)}")
        if not isinstance(matrix, Step):
            raise ValueError(f"{name} is {shown(matrix)}, but must be a step of the trace")
