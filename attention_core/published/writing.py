"""Entries of a result as its notebook prints them, so that two can be compared digit by digit."""

from collections.abc import Iterator
from itertools import starmap
from typing import Any

from .checking import compared
from .printed import NUMBER_KINDS, Result

Row = tuple[tuple[int, ...], list[str], list[str]]
"""The place of a row, its printed entries, and the computed ones."""


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


def rows(result: Result, computed: Any) -> Iterator[Row]:
    """A result's rows as they are printed: place, printed entries, and those computed with their
    signs, [] for none. What a cut print leaves out is left out of both.
    """
    if result.shape:
        printed: Any = result.values
        yield from _rows(result, printed, computed, len(result.shape), ())
    else:
        yield from _rows(result, [result.values], None if computed is None else [computed], 1, ())


def _rows(
    result: Result, printed: list, live: list | None, depth: int, place: tuple[int, ...]
) -> Iterator[Row]:
    if depth > 1:
        for at, part in enumerate(printed):
            yield from _rows(result, part, live and live[at], depth - 1, (*place, at))
        return

    def signed(printed_entry: Any, entry: Any) -> str:
        return compared(result, printed_entry, entry) + written(result, entry)

    theirs = list(starmap(signed, zip(printed, live or [], strict=False)))
    yield place, [written(result, entry) for entry in printed], theirs
