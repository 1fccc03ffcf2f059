"""What stands between scores and weights: masks of all kinds, made into one, and added biases."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ..operations import Add, Both, DistanceBias, LookWithin, LookWithinLengths, Operation
from ..operations.distances import alibi_slopes
from ..operations.masks import check_mask
from ..trace import Step, Trace
from .options import Options, is_number
from .own_tensors import PRECISIONS, as_tensor, give


def mask_and_bias(
    trace: Trace,
    axes: tuple[str, ...],
    table: tuple[int, ...],
    queries: Step,
    options: Options,
    n_past: int,
    prefix: str,
) -> tuple[Step | None, Step | None]:
    """Add to a trace what hides keys, and what is added to scores, in a table of scores with these
    axes and sizes: `mask` (True = may look) with the rules it is made of, and `added_mask`,
    `distance_bias`, or `added_bias` for both. None for none. The first `n_past` keys were there
    before; names begin with `prefix`. Raises ValueError for options that do not fit.
    """
    mask, added = _masks(trace, axes, table, queries, options, n_past, prefix)
    if not options.alibi:
        return mask, added
    far = _distances(trace, axes, table, queries, options, n_past, prefix)
    if added is None:
        return mask, far
    named = _named(torch.broadcast_shapes(far.value.shape, added.value.shape), axes, table)
    return mask, trace.step(f"{prefix}added_bias", Add(), far, added, axes=named)


def _masks(
    trace: Trace,
    axes: tuple[str, ...],
    table: tuple[int, ...],
    queries: Step,
    options: Options,
    n_past: int,
    prefix: str,
) -> tuple[Step | None, Step | None]:
    """The mask, True = may look, made of all rules; and the numbers to be added. None for none."""
    n_queries, n_keys = table[-2:]
    rules: list[tuple[str, Operation | Tensor]] = []
    added = None
    if options.mask is not None:
        given = _own_mask(options.mask, table, queries.value.dtype)
        if given.dtype == torch.bool:
            rules.append(("given_mask", given))
        else:
            added = give(trace, f"{prefix}added_mask", given, _named(given.shape, axes, table))
    left, right = options.window
    if options.causal:
        right = 0 if right is None else min(right, 0)
    if (left, right) != (None, None):
        offset = _first_place(options, table, n_past)
        near = LookWithin(n_queries, n_keys, left, right, offset, options.sinks)
        rules.append(("near", near))
    if options.lengths is not None:
        rules.append(("not_padding", _padding(options.lengths, axes, table)))
    made = None
    for at, (rule_name, rule) in enumerate(rules):
        name = prefix + ("mask" if len(rules) == 1 else rule_name)
        shape = rule.shape if isinstance(rule, Tensor) else rule.value().shape
        named = _named(shape, axes, table)
        if isinstance(rule, Tensor):
            step = give(trace, name, rule, named)
        else:
            step = trace.step(name, rule, axes=named)
        if made is not None:
            name = prefix + ("mask" if at == len(rules) - 1 else "given_and_near")
            shape = torch.broadcast_shapes(made.value.shape, step.value.shape)
            step = trace.step(name, Both(), made, step, axes=_named(shape, axes, table))
        made = step
    return made, added


def _distances(
    trace: Trace,
    axes: tuple[str, ...],
    table: tuple[int, ...],
    queries: Step,
    options: Options,
    n_past: int,
    prefix: str,
) -> Step:
    """The bias of ALiBi: with heads, a slope for each; without, that of a single one."""
    if "head" in axes and axes[-3] != "head":
        raise ValueError(
            f"alibi adds a bias for each head, query and key, but the axes are {', '.join(axes)}: "
            "let 'head' stand last in `lead`"
        )
    n_queries, n_keys = table[-2:]
    slopes = alibi_slopes(table[-3] if "head" in axes else 1)
    bias = DistanceBias(
        slopes if "head" in axes else slopes[0],
        n_queries,
        n_keys,
        _first_place(options, table, n_past),
        PRECISIONS[queries.value.dtype],
    )
    named = axes[-3:] if "head" in axes else axes[-2:]
    return trace.step(f"{prefix}distance_bias", bias, axes=named)


def _first_place(options: Options, table: tuple[int, ...], n_past: int) -> int:
    """Where the first query stands among the keys."""
    n_queries, n_keys = table[-2:]
    return n_past if options.corner == "top_left" else n_keys - n_queries


def _own_mask(mask: Tensor | Sequence, table: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """A mask of one's own. Raises ValueError where it neither hides nor adds in this table."""
    given = as_tensor("mask", mask)
    check_mask(torch.ones(given.shape, dtype=torch.bool), torch.empty(table, device="meta"))
    if given.dtype == torch.bool:
        return given
    if given.dtype != dtype:
        kind, wanted = (str(each).removeprefix("torch.") for each in (given.dtype, dtype))
        raise ValueError(
            f"a mask is True where a query may look, or {wanted} numbers that are added, but this "
            f"one is {kind}: make it one of True and False, such as `mask > 0`, or of {wanted}"
        )
    if given.isnan().any() or given.isposinf().any():
        raise ValueError("a mask that is added has finite numbers, and −∞ where it hides")
    return given


def _padding(
    lengths: int | Sequence[int], axes: tuple[str, ...], table: tuple[int, ...]
) -> LookWithinLengths:
    """The mask of lengths: one for all, or one for each text."""
    if isinstance(lengths, Tensor):
        lengths = lengths.tolist()
    found = tuple(lengths) if isinstance(lengths, Sequence) else (lengths,)
    for length in found:
        if not is_number(length, int):
            raise ValueError(f"a length of {length!r}: lengths are whole numbers")
    if not isinstance(lengths, Sequence):
        return LookWithinLengths(found, table[-1])
    if "batch" not in axes:
        raise ValueError(
            f"there are {len(found)} lengths, but no axis 'batch' that they could belong to: give "
            "one number, or name the axes in front with `lead`"
        )
    at = axes.index("batch")
    if len(found) != table[at]:
        raise ValueError(f"there are {len(found)} lengths for {table[at]} texts: each has one")
    return LookWithinLengths(found, table[-1], len(axes) - at - 2)


def _named(shape: Sequence[int], axes: tuple[str, ...], table: tuple[int, ...]) -> tuple[str, ...]:
    """The names of a mask's axes: those of the table, but for an axis of 1 that is repeated."""
    last = len(axes) - len(shape)
    return tuple(
        axis if size == wanted else f"one_{axis}"
        for axis, size, wanted in zip(axes[last:], shape, table[last:], strict=True)
    )
