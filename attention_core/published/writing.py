"""Entries of a result as its notebook prints them, so that two can be compared digit by digit."""

from typing import Any

from .checking import compared, pairs
from .printed import NUMBER_KINDS, Result, entries


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
