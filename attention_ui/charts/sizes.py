"""How large things are drawn, in pixels: cells, labels, the room that they need."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

OPERATOR_ROOM = 30
LABEL_ROOM = 92
BELOW = 8
BAR_WIDTH = 90
"""The length of a bar for a weight of 1."""


@dataclass(frozen=True)
class CellSize:
    """Width and height of a cell in pixels, and the size of the number in it (0 for none)."""

    width: int
    height: int
    font: int


def cell_size(longest_axis: int) -> CellSize:
    """One size for all matrices of a page, from the longest axis among them."""
    for limit, size in (
        (8, CellSize(38, 28, 11)),
        (12, CellSize(32, 26, 11)),
        (17, CellSize(29, 24, 10)),
        (24, CellSize(24, 20, 0)),
        (36, CellSize(18, 16, 0)),
    ):
        if longest_axis <= limit:
            return size
    return CellSize(11, 10, 0)


def label_room(names: Sequence[str]) -> int:
    """Pixels that the longest of these labels takes, up to a limit."""
    return min(LABEL_ROOM, max((text_width(name) for name in names), default=0))


def text_width(text: str) -> int:
    """About how wide a label is in pixels; characters beyond Latin are taken as wide ones."""
    return round(sum(6.4 if ord(character) < 0x1100 else 13 for character in text))


def is_slanted(names: Sequence[str], size: CellSize) -> bool:
    """Whether the labels of columns are too wide to stand upright over their cells."""
    return label_room(names) > size.width


def column_room(names: Sequence[str], size: CellSize) -> int:
    """Height of the labels above the columns: one line, or slanted where they are wide."""
    if not is_slanted(names, size):
        return 16
    return round(label_room(names) * math.sin(math.radians(45))) + 14
