"""How large things are drawn, in pixels: cells, labels, the room that they need."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..picture.numbers import text_width

OPERATOR_ROOM = 30
OPERATOR_FONTS = {"·": 44, "max": 14}
"""Of operators that are smaller, or longer, than others."""
LABEL_ROOM = 92
BELOW = 8
BAR_WIDTH = 90
"""The length of a bar for a weight of 1."""
SUMS_ROOM = 44
"""What the sums of rows take, beside the cells."""
BETWEEN = 14
"""Between two matrices of an equation."""


@dataclass(frozen=True)
class CellSize:
    """Width and height of a cell in pixels, and the size of the number in it (0 for none)."""

    width: int
    height: int
    font: int


WITH_NUMBERS = (
    CellSize(38, 28, 11),
    CellSize(46, 28, 11),
    CellSize(32, 26, 11),
    CellSize(26, 24, 10),
)
WITHOUT_NUMBERS = (
    CellSize(24, 20, 0),
    CellSize(18, 16, 0),
    CellSize(14, 12, 0),
    CellSize(11, 10, 0),
)
SMALLEST = CellSize(9, 9, 0)
TINY = (SMALLEST, CellSize(7, 7, 0), CellSize(5, 5, 0))
"""Of long sentences that are to be seen beside each other."""
APART = 20
"""What slanted labels need from one to the next."""
ROW_ROOM = 896
"""What a line of charts takes at most. A page of 1280 pixels has 932 beside the sidebar and the
margins, less a scrollbar.
"""
GAP = 32
"""Between charts of one line: Streamlit's medium gap."""
TALLEST = 640
ALONE_ROOM = 17 * 26
"""A matrix of this width keeps its numbers, though its equation takes more than one line."""


def cell_size(
    n_rows: int, n_columns: int, beside: int = 0, digits: int = 5, widest: int | None = None
) -> CellSize:
    """The size of the cells of an equation: large, but such that it fits on one line.

    `n_rows` are those of the tallest matrix, `n_columns` those of all matrices together, `beside`
    is the room that labels and operators take, `digits` the length of the longest number, and
    `widest` the columns of the widest matrix. An equation whose cells would fit without their
    labels, or whose matrices are all small, keeps its numbers and wraps.
    """
    widest = n_columns if widest is None else widest
    for columns, room in (
        (n_columns, ROW_ROOM - beside),
        (n_columns, ROW_ROOM),
        (widest, ALONE_ROOM),
    ):
        for size in numbered(digits):
            if n_rows * size.height <= TALLEST and columns * size.width <= room:
                return size
    for size in WITHOUT_NUMBERS:
        if n_rows * size.height <= TALLEST and n_columns * size.width + beside <= ROW_ROOM:
            return size
    return SMALLEST


def numbered(digits: int) -> list[CellSize]:
    """The sizes of cells with room for so long a number, the best first."""
    return [size for size in WITH_NUMBERS if digits * size.font * 0.47 <= size.width]


def side_by_side(n_charts: int) -> int:
    """The width of each of so many charts on one line."""
    return (ROW_ROOM - (n_charts - 1) * GAP) // n_charts


def label_room(names: Sequence[str]) -> int:
    """Pixels that the longest of these labels takes, up to a limit."""
    return min(LABEL_ROOM, max((text_width(name) for name in names), default=0))


def is_slanted(names: Sequence[str], size: CellSize, every: int = 1) -> bool:
    """Whether the labels of columns are too wide to stand upright over their cells."""
    return label_room(names) + 4 > size.width * every


def labelled_every(axis: str, n_places: int, size: CellSize) -> int:
    """1 where each place of an axis has a label; of a wide vector with small cells, fewer have, and
    of tokens where labels would lie on each other.
    """
    is_crowded = (n_places > 8 and size.width < 28) or (n_places > 4 and size.width < 18)
    if axis.startswith("d_") and is_crowded:
        return 4
    return math.ceil(APART / size.width) if size.width <= SMALLEST.width else 1


def column_room(names: Sequence[str], size: CellSize, every: int = 1) -> int:
    """Height of the labels above the columns: one line, or slanted where they are wide."""
    if not is_slanted(names, size, every):
        return 16
    return round(label_room(names) * math.sin(math.radians(45))) + 14
