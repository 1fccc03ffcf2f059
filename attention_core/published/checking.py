"""Whether a value is the printed one: the rule of the published data, exactly."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .printed import NUMBER_KINDS, Result

if TYPE_CHECKING:
    from torch import Tensor

PRINTED_ZERO = 1e-37
"""A zero that is printed with an exponent stands for less than this."""
DERIVED_ERROR = 1e-15
"""Relative error that a relation between printed numbers may have: that of their last digit."""


@dataclass(frozen=True)
class Check:
    """How a value compares with a printed result."""

    published: int
    """Printed entries."""
    matching: int
    """Those among them that the value has."""
    largest_difference: float | None
    """Between a printed number and the value's; None where no numbers could be compared."""
    by_slack: int = 0
    """Those that match only by the slack measured between processors."""

    @property
    def ok(self) -> bool:
        """Whether every printed entry matches."""
        return self.matching == self.published


def check(result: Result, value: Tensor | list | float | bool | None) -> Check:
    """Compare a value of any shape, or none, with a printed result.

    A value of another shape than the result's does not match. Of a cut print only what is printed
    is compared.
    """
    if value is None or not fits(value, result.shape):
        return Check(result.count, 0, None)
    live = value.tolist() if hasattr(value, "tolist") else value
    pairs = list(_pairs(result.values, live, len(result.shape)))
    exact = sum(matches(result, *pair) for pair in pairs)
    if result.kind not in NUMBER_KINDS:
        return Check(len(pairs), exact, None)
    differences = (_difference(*pair) for pair in pairs)
    matching = sum(matches(result, *pair, slack=slack_of(result, pair[0])) for pair in pairs)
    return Check(len(pairs), matching, max(differences), matching - exact)


def slack_of(result: Result, printed: float) -> float:
    """By how much a printed number may be off on another processor.

    A sum that nearly cancels is off by a share of what was added, not of itself. So the slack is a
    share of the number, and never much more than the largest gap that was measured.
    """
    return min(result.rel_slack * abs(printed), result.abs_slack)


def matches(result: Result, printed: object, entry: object, slack: float = 0.0) -> bool:
    """Whether one entry is the printed one.

    A number may differ by half a unit of its last printed digit, and by a slack. Everything else
    is equal, and of the same type.
    """
    if result.kind == "derived":
        return _difference(printed, entry) < DERIVED_ERROR * abs(printed)
    if result.kind not in NUMBER_KINDS:
        return type(entry) is type(printed) and entry == printed
    difference = _difference(printed, entry)
    if result.significant is None:
        unit = 10.0**-result.decimals
    elif printed == 0:
        return difference < PRINTED_ZERO
    else:
        exponent = int(f"{printed:.{result.significant - 1}e}".split("e")[1])
        unit = 10.0 ** (exponent - result.significant + 1)
    return difference <= 0.5 * unit * 1.001 + slack


def _difference(printed: float, entry: object) -> float:
    """Infinite where the entry is not a number."""
    if isinstance(entry, bool) or not isinstance(entry, int | float) or math.isnan(entry):
        return math.inf
    return abs(entry - printed)


def fits(value: object, shape: tuple[int, ...]) -> bool:
    """Whether a tensor, or lists as deep as `shape`, have exactly that shape."""
    if hasattr(value, "shape"):
        return tuple(value.shape) == shape
    if not shape:
        return True
    return (
        isinstance(value, list)
        and len(value) == shape[0]
        and all(fits(part, shape[1:]) for part in value)
    )


def _pairs(printed: object, live: object, depth: int) -> Iterator[tuple]:
    """Printed and live entries at the same place. A cut print ends, or has rows that end, early."""
    if depth == 0:
        yield printed, live
    else:
        for printed_part, live_part in zip(printed, live, strict=False):
            yield from _pairs(printed_part, live_part, depth - 1)
