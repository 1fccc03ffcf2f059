"""What attention on any tensors may vary: masks of all kinds, made into one, and biases."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..operations import Add, DistanceBias, LengthMask, LogicalAnd, Operation, SoftCap, WindowMask
from ..operations.base import kind_of
from ..operations.distances import alibi_slopes
from ..operations.masks import check_mask
from ..recipes import check_choice, check_scale
from ..trace import Step, Trace
from ..utils.validation import validated
from .own_tensors import PRECISIONS, as_tensor, give

CORNERS = ("top_left", "bottom_right")
"""Where a mask's diagonal begins: the first query at the first key, or the last at the last."""


@validated
@dataclass(frozen=True)
class Options:
    """What `attend_tensors` may vary. Raises ValueError, in words, for what cannot be."""

    scale: str | float = "sqrt_d"
    mask: Tensor | Sequence | None = None
    causal: bool = False
    corner: str = "top_left"
    window: tuple[int | None, int | None] = (None, None)
    sinks: int = 0
    alibi: bool = False
    lengths: int | Sequence[int] | None = None
    soft_cap: float | None = None
    temperature: float = 1.0
    dropout: float = 0.0
    dropout_seed: int = 0
    sink_logits: float | Sequence[float] | None = None

    def __post_init__(self) -> None:
        check_choice("corner", self.corner, CORNERS)
        if isinstance(self.scale, str):
            check_scale(self.scale)
        logits = self.sink_logits if isinstance(self.sink_logits, Sequence) else [self.sink_logits]
        numbers = [(name, getattr(self, name)) for name in ("scale", "temperature", "dropout")]
        for name, number in (*numbers, *(("sink_logits", each) for each in logits)):
            if isinstance(number, int | float) and not is_number(number, float):
                raise ValueError(f"{name} is {number!r}, but must be a finite number")
        if self.soft_cap is not None:
            SoftCap(self.soft_cap)  # refuses what is not above 0
        if self.sinks < 0:
            raise ValueError(f"sinks is {self.sinks}, but must be a whole number of 0 or more")
        if self.sinks and self.window[0] is None:
            raise ValueError(
                f"sinks is {self.sinks}, but there is no window: sinks are the first keys, which "
                "stay visible outside of it, so give window=(how many keys to the left, …) too"
            )


def is_number(value: object, kind: type) -> bool:
    """Whether it is a whole number, or any finite one, and not True or False."""
    kinds = (int,) if kind is int else (int, float)
    if not isinstance(value, kinds) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max  # math.isfinite raises where an int is too large


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

    def named(shape: Sequence[int]) -> tuple[str, ...]:
        """The names of a mask's axes: the table's, but for an axis of 1 that is repeated."""
        last = len(axes) - len(shape)
        pairs = zip(axes[last:], shape, sizes[last:], strict=True)
        return tuple(axis if size == wanted else f"one_{axis}" for axis, size, wanted in pairs)

    def both(name: str, operation: Operation, left: Step, right: Step) -> Step:
        shape = torch.broadcast_shapes(left.value.shape, right.value.shape)
        return trace.step(f"{prefix}{name}", operation, left, right, axes=named(shape))

    n_queries, n_keys = sizes[-2:]
    first_place = n_past if options.corner == "top_left" else n_keys - n_queries
    own = None if options.mask is None else _own_mask(options.mask, sizes, dtype)
    mask = added = None
    if own is not None and own.dtype != torch.bool:
        added, own = give(trace, f"{prefix}added_mask", own, named(own.shape)), None
    rules = _rules(own, options, axes, sizes, first_place)
    for at, (name, rule) in enumerate(rules.items(), start=1):
        name = f"{prefix}{'mask' if len(rules) == 1 else name}"
        if isinstance(rule, Tensor):
            step = give(trace, name, rule, named(rule.shape))
        else:
            step = trace.step(name, rule, axes=named(rule.value().shape))
        so_far = "mask" if at == len(rules) else "given_and_near"
        mask = step if mask is None else both(so_far, LogicalAnd(), mask, step)
    if not options.alibi:
        return mask, added
    front = axes[-3:-2] if "head" in axes else ()
    slopes = alibi_slopes(sizes[-3] if front else 1)
    slope = slopes if front else slopes[0]
    bias = DistanceBias(slope, n_queries, n_keys, first_place, PRECISIONS[dtype])
    far = trace.step(f"{prefix}distance_bias", bias, axes=(*front, *axes[-2:]))
    return mask, far if added is None else both("added_bias", Add(), far, added)


def _rules(
    own: Tensor | None,
    options: Options,
    axes: tuple[str, ...],
    sizes: tuple[int, ...],
    first_place: int,
) -> dict[str, Operation | Tensor]:
    rules: dict[str, Operation | Tensor] = {} if own is None else {"given_mask": own}
    left, right = options.window
    if options.causal:
        right = 0 if right is None else min(right, 0)
    if (left, right) != (None, None):
        n_queries, n_keys = sizes[-2:]
        rules["near"] = WindowMask(n_queries, n_keys, left, right, first_place, options.sinks)
    if options.lengths is not None:
        rules["not_padding"] = _padding(options.lengths, axes, sizes)
    return rules


def _own_mask(mask: Tensor | Sequence, table: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """A mask of one's own. Raises ValueError where it neither hides nor adds in this table."""
    given = as_tensor("mask", mask)
    check_mask(torch.ones(given.shape, dtype=torch.bool), torch.empty(table, device="meta"))
    if given.dtype == torch.bool:
        return given
    if given.dtype != dtype:
        kind, wanted = kind_of(given), str(dtype).removeprefix("torch.")
        raise ValueError(
            f"a mask is True where a query may look, or {wanted} numbers that are added, but this "
            f"one is {kind}: make it one of True and False, such as `mask > 0`, or of {wanted}"
        )
    if set(given.unique().tolist()) == {0, 1}:
        raise ValueError(
            "this mask has the numbers 0 and 1, which would be added to scores and hide nothing: "
            "give `mask > 0`, which is True where a query may look"
        )
    if given.isnan().any() or given.isposinf().any():
        raise ValueError("a mask that is added has finite numbers, and −∞ where it hides")
    return given


def _padding(
    lengths: int | Sequence[int], axes: tuple[str, ...], table: tuple[int, ...]
) -> LengthMask:
    """The mask of lengths: for all, with the axes of a table (query, key), or for each text."""
    found = tuple(lengths) if isinstance(lengths, Sequence) else (lengths,)
    if not isinstance(lengths, Sequence):
        return LengthMask(found, table[-1], min(1, len(axes) - 2))
    if "batch" not in axes:
        raise ValueError(
            f"there are {len(found)} lengths, but no axis 'batch' that they could belong to: give "
            "one number, or a batch and heads in front"
        )
    at = axes.index("batch")
    if len(found) != table[at]:
        raise ValueError(f"there are {len(found)} lengths for {table[at]} texts: each has one")
    return LengthMask(found, table[-1], len(axes) - at - 2)
