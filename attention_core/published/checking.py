"""Whether a value is the printed one, by the rule of the published data, and both in its digits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .printed import NUMBER_KINDS, Result, entries

if TYPE_CHECKING:
    from torch import Tensor

SAME, NEAR, OTHER = "", "≈", "≠"
"""How an entry compares with the printed one: as printed, only by the slack, or not."""
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
    """A value, or none, compared with what is printed; one of another shape does not match."""
    if value is None or not fits(value, result.shape):
        return Check(result.count, 0, None)
    live = value.tolist() if hasattr(value, "tolist") else value
    both = list(pairs(result.values, live, len(result.shape)))
    signs = [compared(result, *pair) for pair in both]
    matching = len(both) - signs.count(OTHER)
    if result.kind not in NUMBER_KINDS:
        return Check(len(both), matching, None)
    return Check(len(both), matching, max(_off(*pair) for pair in both), signs.count(NEAR))


def compared(result: Result, printed: Any, entry: Any) -> str:
    """Whether one entry is the printed one: `SAME`, `NEAR` or `OTHER`.

    A number may differ by half a unit of its last printed digit, and by a slack. A sum that nearly
    cancels is off by a share of what was added, not of itself: so the slack is a share of the
    number, and never much more than the largest gap that was measured. Everything else is equal,
    and of the same type.
    """
    if result.kind == "derived":
        return SAME if _off(printed, entry) < DERIVED_ERROR * abs(printed) else OTHER
    if result.kind not in NUMBER_KINDS:
        return SAME if type(entry) is type(printed) and entry == printed else OTHER
    off = _off(printed, entry)
    if result.significant is None:
        unit = 10.0**-result.decimals
    elif printed == 0:
        return SAME if off < PRINTED_ZERO else OTHER
    else:
        exponent = int(f"{printed:.{result.significant - 1}e}".split("e")[1])
        unit = 10.0 ** (exponent - result.significant + 1)
    most = 0.5 * unit * 1.001
    slack = min(result.rel_slack * abs(printed), result.abs_slack)
    return SAME if off <= most else NEAR if off <= most + slack else OTHER


def _off(printed: float, entry: object) -> float:
    """Infinite where the entry is not a number."""
    if isinstance(entry, bool) or not isinstance(entry, int | float) or math.isnan(entry):
        return math.inf
    return abs(entry - printed)


def fits(value: Any, shape: tuple[int, ...]) -> bool:
    """Whether a tensor, or lists as deep as `shape`, have exactly that shape."""
    if hasattr(value, "shape"):
        return tuple(value.shape) == shape
    if not shape:
        return True
    is_as_long = isinstance(value, list) and len(value) == shape[0]
    return is_as_long and all(fits(part, shape[1:]) for part in value)


def pairs(printed: Any, live: Any, depth: int) -> Iterator[tuple]:
    """Printed and live entries at the same place. A cut print ends, or has rows that end, early."""
    if depth == 0:
        yield printed, live
    else:
        for printed_part, live_part in zip(printed, live, strict=False):
            yield from pairs(printed_part, live_part, depth - 1)


def printed_entries(result: Result) -> list[str]:
    """What the notebook prints, in reading order."""
    return [written(result, each) for each in entries(result.values, len(result.shape))]


def computed_entries(result: Result, computed: Any) -> list[str]:
    """What is computed for each printed entry, with a sign where it differs; [] for none."""
    if computed is None:
        return []
    return [
        compared(result, printed, entry) + written(result, entry)
        for printed, entry in pairs(result.values, computed, len(result.shape))
    ]


def written(result: Result, entry: Any) -> str:
    """An entry, printed or computed, in as many digits as the notebook prints of this result."""
    if result.kind == "text":
        return ": ".join(entry) if isinstance(entry, list) else repr(entry)
    if result.kind not in NUMBER_KINDS:
        return str(entry)
    if result.significant is not None:
        return f"{entry:.{result.significant - 1}e}"
    text = f"{entry:.{result.decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text
