"""Entries of a result as its notebook prints them, so that two can be compared digit by digit."""

from collections.abc import Iterator
from typing import Any

from .checking import matches, slack_of
from .printed import NUMBER_KINDS, Result

SAME, NEAR, OTHER = "", "≈", "≠"
"""What stands before a computed entry: nothing where it matches as printed, a sign where only the
slack between processors makes it match, or where it does not."""


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


def compared(result: Result, printed: Any, entry: Any) -> str:
    """The sign of a computed entry beside the printed one: `SAME`, `NEAR` or `OTHER`."""
    if matches(result, printed, entry):
        return SAME
    near = result.kind in NUMBER_KINDS and matches(
        result, printed, entry, slack=slack_of(result, printed)
    )
    return NEAR if near else OTHER


def rows(result: Result, computed: Any) -> Iterator[tuple[tuple[int, ...], list[str], list[str]]]:
    """The rows of a result as they are printed: the place of each, its printed entries, and those
    that were computed, with their signs; these are [] where nothing was computed. What a cut
    print leaves out is left out of both. A single value is a row of one.
    """
    depth = len(result.shape)
    printed = result.values if depth else [result.values]
    live = None if computed is None else computed if depth else [computed]
    yield from _rows(result, printed, live, max(depth, 1), ())


def _rows(
    result: Result, printed: list, live: list | None, depth: int, place: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], list[str], list[str]]]:
    if depth > 1:
        for at, part in enumerate(printed):
            inner = None if live is None else live[at]
            yield from _rows(result, part, inner, depth - 1, (*place, at))
        return
    own = [written(result, entry) for entry in printed]
    pairs = [] if live is None else zip(printed, live, strict=False)
    theirs = [compared(result, *pair) + written(result, pair[1]) for pair in pairs]
    yield place, own, theirs
