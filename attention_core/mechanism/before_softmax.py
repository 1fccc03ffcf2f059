"""What stands between scores and weights: masks of all kinds, made into one, and added biases."""

from collections.abc import Sequence
from dataclasses import dataclass

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
    sizes: tuple[int, ...],
    dtype: torch.dtype,
    options: Options,
    n_past: int,
    prefix: str,
) -> tuple[Step | None, Step | None]:
    """Add to a trace what hides keys, and what is added to scores, in a table of scores with these
    axes and sizes: `mask` (True = may look) with the rules it is made of, and `added_mask`,
    `distance_bias`, or `added_bias` for both. None for none. The first `n_past` keys were there
    before; names begin with `prefix`. Raises ValueError for options that do not fit.
    """
    table = _Table(trace, axes, sizes, dtype, options, n_past, prefix)
    own = None if options.mask is None else _own_mask(options.mask, sizes, dtype)
    added = None
    if own is not None and own.dtype != torch.bool:
        added, own = give(trace, f"{prefix}added_mask", own, table.named(own.shape)), None
    mask = table.mask(own)
    if not options.alibi:
        return mask, added
    far = table.distances()
    if added is None:
        return mask, far
    named = table.named(torch.broadcast_shapes(far.value.shape, added.value.shape))
    return mask, trace.step(f"{prefix}added_bias", Add(), far, added, axes=named)


@dataclass(frozen=True)
class _Table:
    """A table of scores (…, query, key), and what is to happen to it."""

    trace: Trace
    axes: tuple[str, ...]
    sizes: tuple[int, ...]
    dtype: torch.dtype
    options: Options
    n_past: int
    prefix: str

    def mask(self, own: Tensor | None) -> Step | None:
        """The mask, True = may look, made of all rules; None for no rule."""
        options = self.options
        rules: list[tuple[str, Operation | Tensor]] = []
        if own is not None:
            rules.append(("given_mask", own))
        left, right = options.window
        if options.causal:
            right = 0 if right is None else min(right, 0)
        if (left, right) != (None, None):
            near = LookWithin(*self.sizes[-2:], left, right, self.first_place, options.sinks)
            rules.append(("near", near))
        if options.lengths is not None:
            rules.append(("not_padding", _padding(options.lengths, self.axes, self.sizes)))
        made = None
        for at, (rule_name, rule) in enumerate(rules):
            name = self.prefix + ("mask" if len(rules) == 1 else rule_name)
            shape = rule.shape if isinstance(rule, Tensor) else rule.value().shape
            if isinstance(rule, Tensor):
                step = give(self.trace, name, rule, self.named(shape))
            else:
                step = self.trace.step(name, rule, axes=self.named(shape))
            if made is not None:
                name = self.prefix + ("mask" if at == len(rules) - 1 else "given_and_near")
                shape = torch.broadcast_shapes(made.value.shape, step.value.shape)
                step = self.trace.step(name, Both(), made, step, axes=self.named(shape))
            made = step
        return made

    def distances(self) -> Step:
        """The bias of ALiBi: with heads, a slope for each; without, that of a single one."""
        has_heads = "head" in self.axes
        if has_heads and self.axes[-3] != "head":
            raise ValueError(
                "alibi adds a bias for each head, query and key, but the axes are "
                f"{', '.join(self.axes)}: let 'head' stand last in `lead`"
            )
        slopes = alibi_slopes(self.sizes[-3] if has_heads else 1)
        bias = DistanceBias(
            slopes if has_heads else slopes[0],
            *self.sizes[-2:],
            self.first_place,
            PRECISIONS[self.dtype],
        )
        axes = self.axes[-3:] if has_heads else self.axes[-2:]
        return self.trace.step(f"{self.prefix}distance_bias", bias, axes=axes)

    @property
    def first_place(self) -> int:
        """Where the first query stands among the keys."""
        n_queries, n_keys = self.sizes[-2:]
        return self.n_past if self.options.corner == "top_left" else n_keys - n_queries

    def named(self, shape: Sequence[int]) -> tuple[str, ...]:
        """The names of a mask's axes: the table's, but for an axis of 1 that is repeated."""
        last = len(self.axes) - len(shape)
        return tuple(
            axis if size == wanted else f"one_{axis}"
            for axis, size, wanted in zip(self.axes[last:], shape, self.sizes[last:], strict=True)
        )


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
    """The mask of lengths: one for all, with as many axes as a table (query, key) has, or one for
    each text.
    """
    if isinstance(lengths, Tensor):
        lengths = lengths.tolist()
    found = tuple(lengths) if isinstance(lengths, Sequence) else (lengths,)
    for length in found:
        if not is_number(length, int):
            raise ValueError(f"a length of {length!r}: lengths are whole numbers")
    if not isinstance(lengths, Sequence):
        return LookWithinLengths(found, table[-1], ones=0)
    if "batch" not in axes:
        raise ValueError(
            f"there are {len(found)} lengths, but no axis 'batch' that they could belong to: give "
            "one number, or name the axes in front with `lead`"
        )
    at = axes.index("batch")
    if len(found) != table[at]:
        raise ValueError(f"there are {len(found)} lengths for {table[at]} texts: each has one")
    return LookWithinLengths(found, table[-1], len(axes) - at - 2)
