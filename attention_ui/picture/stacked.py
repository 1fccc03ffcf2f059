"""Rows below each other as at school: a sign before each row and its name in front."""

from collections.abc import Sequence

from attention_core.trace import Trace

from .equation_parts import in_lines
from .forbidden import with_masks
from .layout import (
    CELL,
    NARROW,
    ROW,
    SIGN,
    WIDE,
    Arrangement,
    Footprint,
    Layout,
    Word,
    between,
    put,
    with_legend,
)
from .matrix import Matrix
from .numbers import text_width

NAME, BETWEEN = 1.12, 6
NARROW_CELL, LEGEND = 34.0, 30


def stacked(trace: Trace, *parts: Matrix | str) -> Layout:
    """Matrices of a row or a few, one below the other; labels above the first that shares."""
    (pairs,) = in_lines(parts)
    signs, drawn = zip(*pairs, strict=True)
    matrices = with_masks(drawn)
    wide, narrow = (_arranged(trace, matrices, signs, room) for room in (WIDE, NARROW))
    return with_legend(trace, matrices, signs, wide, narrow, LEGEND)


def _arranged(
    trace: Trace, matrices: Sequence[Matrix], signs: Sequence[str], room: float
) -> Arrangement:
    wide = room == WIDE
    each = []
    labelled: set[str] = set()
    for matrix in matrices:
        one = Footprint(trace, "", matrix, compact=True, titled=False)
        one.rows, one.label = [], 0
        if matrix.axes[1] in (*labelled, "one"):
            one.columns, one.longest = [], 0
        labelled.add(matrix.axes[1])
        each.append(one)
    names = max(text_width(matrix.name) for matrix in matrices) * NAME
    # On a phone a name stands above its row.
    left = SIGN + (names + 12 if wide else 0)
    most = max(one.n_columns for one in each)
    cell = between((room - left) / most, CELL[0], CELL[1] if wide else NARROW_CELL)
    row = between(cell * 0.8, ROW[0], 24.0)
    made, y = Arrangement(width=room), 0.0
    for one, sign in zip(each, signs, strict=True):
        height = one.above(cell)
        if not wide:
            made.words.append(Word(one.matrix.name, SIGN, y + 8, "title"))
            y += 18
        put(made, one, left, y, cell, row)
        middle = y + height + one.n_rows * row / 2
        if wide:
            made.words.append(Word(one.matrix.name, SIGN, middle, "title"))
        if sign:
            made.words.append(Word(sign, SIGN / 2 - 4, middle, "sign"))
        y += height + one.n_rows * row + BETWEEN
    made.height = y - BETWEEN
    made.width = left + most * cell
    return made
