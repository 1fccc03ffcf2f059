"""Numbers and words as a picture has them: how they are written, and how wide that is."""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

LONG = 1e7
"""A number as large is written with its power of ten."""


def decimals_of(values: np.ndarray) -> int:
    """How many decimals the cells of a matrix show: 2, or fewer where no number has as many."""
    return next((n for n in (0, 1) if (values == values.round(n)).all()), 2)


def written(value: float, decimals: int = 2) -> str:
    """A number as in a cell: two decimals at most, none where large, a power where long."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    if abs(value) >= LONG:
        return f"{value:.1e}".replace("e+", "e").replace("-", "−")
    text = f"{value:.{decimals}f}" if abs(value) < 99.95 else f"{value:.0f}"
    return text.replace("-", "" if float(text) == 0 else "−")


def written_each(values: Sequence[float], decimals: int = 2) -> list[str]:
    """Many numbers as they stand in cells: the same several times as fast."""
    numbers = np.array(values, np.float64)
    plain = np.abs(numbers) < 99.9  # not nan, nor what may have fewer decimals or a power of ten
    pattern = "|".join([f"%.{decimals}f"] * len(numbers))
    text = pattern % tuple(np.where(plain, numbers, 0.0).tolist())
    zero = f"{0:.{decimals}f}"
    told = f"|{text}|".replace(f"|-{zero}|", f"|{zero}|").replace(f"|-{zero}|", f"|{zero}|")
    found = told[1:-1].replace("-", "−").split("|") if values else []
    for at in np.flatnonzero(~plain).tolist():
        found[at] = written(values[at], decimals)
    return found


def number_width(text: str) -> float:
    """About how wide a number in a cell is, in pixels: a point takes half as much as a digit."""
    return 5.6 * (len(text) - 0.5 * text.count("."))


@lru_cache(maxsize=4_096)
def text_width(text: str) -> int:
    """About how wide a label is in pixels; characters beyond Latin are taken as wide ones."""
    return round(sum(6.4 if ord(character) < 0x1100 else 13 for character in text))
