"""How large the cells of an equation are drawn, and how much room stands above them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import torch
from torch import Tensor

from attention_core.trace import Trace

from ..picture.equation_parts import UNNAMED
from ..picture.matrix import Matrix, heads_of, names_along
from ..picture.numbers import decimals_of, text_width, written
from .head_marks import FAR
from .margin import has_sums
from .placed import Placed
from .sizes import (
    BAR_WIDTH,
    BETWEEN,
    OPERATOR_ROOM,
    ROW_ROOM,
    SMALLEST,
    SUMS_ROOM,
    TALLEST,
    TINY,
    WITH_NUMBERS,
    WITHOUT_NUMBERS,
    CellSize,
    cell_size,
    column_room,
    label_room,
    labelled_every,
    numbered,
)

TITLED = {"query", "key", "other_key", "token", "vocabulary", "head", "score"}
"""Axes that a heatmap names beside its labels."""
ON_ONE_LINE = 2
"""So many heads of a step must fit on one line."""
LARGE = 16
"""A matrix with more rows or columns gives up its numbers before those beside it do."""
NARROW, NARROW_CELL, TALL_ENOUGH = 4, 34, 16
"""A matrix of so few columns keeps its numbers beside others without, in cells of this width, where
rows have this height."""
LONG_VECTOR = 12
"""A longer vector keeps its numbers only where the matrices beside it have theirs."""


def size_for(trace: Trace, matrices: Sequence[Matrix]) -> CellSize:
    """One size of cells for the matrices of an equation.

    Many heads side by side may take several lines: not all of them have to fit on one.
    """
    n_columns, beside, digits = 0, 0, 0
    counted = Counter()
    for matrix in matrices:
        counted[matrix.step.name] += 1
        if counted[matrix.step.name] > ON_ONE_LINE:
            continue
        beside += OPERATOR_ROOM + 8
        if matrix.row_labels:
            beside += room_before(names_along(trace, matrix)[0], matrix.axes[0])
        if has_sums(matrix):
            beside += SUMS_ROOM
        if matrix.as_bars:
            beside += BAR_WIDTH
        elif matrix.values.ndim == 1 and len(matrix.values) <= LONG_VECTOR:
            width = _digits(matrix.drawn) * 6 + 5
            beside += width * matrix.sizes[1]
        else:
            n_columns += matrix.sizes[1]
        if matrix.values.ndim > 1 or len(matrix.values) > LONG_VECTOR:
            digits = max(digits, _digits(matrix.drawn))
    n_rows, widest = (max(matrix.sizes[side] for matrix in matrices) for side in (0, 1))
    return cell_size(n_rows, n_columns, beside - OPERATOR_ROOM, digits, widest)


def room_before(row_names: Sequence[str], row_axis: str) -> int:
    """The room that the labels of rows and the title of their axis take."""
    return label_room(row_names) + 8 + (16 if row_axis in TITLED else 0)


def _digits(values: Tensor) -> int:
    """The length of the longest number as it is written in a cell."""
    if values.dtype == torch.bool:
        return 1
    decimals = decimals_of(values.float())
    finite = values[values.isfinite()]
    ends = [*finite.aminmax()] if len(finite) else []
    return max((len(written(end.item(), decimals)) for end in ends), default=2)


def fitting(matrix: Matrix, size: CellSize) -> CellSize:
    """The equation's cell size; a short single row or column has room for its numbers anyway."""
    if matrix.values.ndim > 1 or len(matrix.values) > LONG_VECTOR:
        return size
    height = max(size.height, 24) if matrix.transposed else size.height
    font = size.font or (11 if height > 13 else 0)
    return CellSize(max(size.width, round(_digits(matrix.drawn) * font * 0.5) + 5), height, font)


def band_above(trace: Trace, matrix: Matrix, size: CellSize) -> int:
    """The room that the labels of a matrix need above its cells."""
    size = fitting(matrix, size)
    column_axis = matrix.axes[1]
    if not column_axis or not matrix.column_labels:
        return 4 + (FAR if heads_of(trace, matrix)[1] else 0)
    names = names_along(trace, matrix)[1]
    room = column_room(names, size, labelled_every(column_axis, len(names), size))
    return room + (FAR if heads_of(trace, matrix)[1] else 0)


def sizes_for(
    trace: Trace, lines: Sequence[Sequence[tuple[str, Matrix]]], side_by_side: bool = False
) -> list[CellSize]:
    """The size of the cells of each matrix of an equation, line by line: one for all, as long as it
    has room for numbers. Else only what is wide or tall is small, and the others keep theirs. Those
    that are compared `side_by_side` are rather small than below each other.
    """
    if side_by_side:
        return [size for line in lines for size in _for_one_line(trace, line)]
    sizes = [
        _of_all_heads(trace, line) or size_for(trace, [part for _, part in line]) for line in lines
    ]
    size = min(sizes, key=lambda each: (each.font > 0, each.width))
    drawn = [each for line in lines for each in line]
    if size.font:
        return [size] * len(drawn)
    return [found for line in lines for found in _mixed(trace, line, size)]


def _of_all_heads(trace: Trace, line: Sequence[tuple[str, Matrix]]) -> CellSize | None:
    """The size at which more heads than have to fit on one line do so, with numbers in them."""
    if max(Counter(matrix.step.name for _, matrix in line).values(), default=0) <= ON_ONE_LINE:
        return None
    digits = max(_digits(matrix.drawn) for _, matrix in line)
    for size in numbered(digits):
        placed = [Placed(*each, size) for each in line]
        if _fit_on_one_line(trace, placed):
            return size
    return None


def _for_one_line(trace: Trace, line: Sequence[tuple[str, Matrix]]) -> list[CellSize]:
    """The largest sizes at which a line is not broken: one with numbers if there is one, else
    narrow matrices keep theirs where rows are tall enough; the smallest where it has to be broken.
    """
    digits = max(_digits(matrix.drawn) for _, matrix in line)
    tries = [[size] * len(line) for size in numbered(digits)]
    for size in (*WITHOUT_NUMBERS, *TINY):
        narrow = CellSize(NARROW_CELL, size.height, 10) if size.height >= TALL_ENOUGH else size
        tries.append([narrow if each.sizes[1] <= NARROW else size for _, each in line])
    for sizes in tries:
        placed = [Placed(*each, size) for each, size in zip(line, sizes, strict=True)]
        if _fit_on_one_line(trace, placed):
            return sizes
    return [SMALLEST] * len(line)


def _fit_on_one_line(trace: Trace, placed: Sequence[Placed]) -> bool:
    height = max(each.matrix.sizes[0] * each.size.height for each in placed)
    return height <= TALLEST and sum(width_of(trace, one) + BETWEEN for one in placed) <= ROW_ROOM


def _mixed(trace: Trace, line: Sequence[tuple[str, Matrix]], size: CellSize) -> list[CellSize]:
    is_large = [max(matrix.sizes) > LARGE for _, matrix in line]
    no_wider = [one for one in WITH_NUMBERS if one.width <= WITH_NUMBERS[0].width]
    for readable, small in product(no_wider, WITHOUT_NUMBERS):
        sizes = [small if large else readable for large in is_large]
        placed = [Placed(*each, one) for each, one in zip(line, sizes, strict=True)]
        if _fit_on_one_line(trace, placed):
            return sizes
    return [size] * len(line)


def broken_into_lines(
    trace: Trace, placed: Sequence[Placed], lengths: Sequence[int]
) -> list[list[Placed]]:
    """The matrices in lines of these lengths; a line wider than the page is broken."""
    lines = _broken(trace, placed, lengths, 0)
    return _broken(trace, placed, lengths, max(_before(trace, line[0]) for line in lines))


def _broken(
    trace: Trace, placed: Sequence[Placed], lengths: Sequence[int], margin: int
) -> list[list[Placed]]:
    """The same, where the cells of each line begin at this margin or further to the right."""
    lines: list[list[Placed]] = []
    rest = iter(placed)
    for length in lengths:
        taken = ROW_ROOM + 1
        for each in [next(rest) for _ in range(length)]:
            width = width_of(trace, each) + BETWEEN
            if taken + width > ROW_ROOM:
                lines.append([])
                each = _labelled(each)
                width = width_of(trace, each) + BETWEEN
                taken = max(0, margin - _before(trace, each))
            lines[-1].append(each)
            taken += width
    return lines


def _labelled(first: Placed) -> Placed:
    """The first matrix of a line: the rows of the one before it are not beside it."""
    if first.matrix.row_labels or first.matrix.axes[0] in UNNAMED:
        return first
    return replace(first, matrix=replace(first.matrix, row_labels=True))


def width_of(trace: Trace, placed: Placed) -> int:
    """About how wide a matrix is with all that stands beside its cells."""
    matrix = placed.matrix
    cells = BAR_WIDTH if matrix.as_bars else matrix.sizes[1] * fitting(matrix, placed.size).width
    if has_sums(matrix):
        cells += SUMS_ROOM
    return _before(trace, placed) + max(cells, text_width(matrix.name))


def _before(trace: Trace, placed: Placed) -> int:
    """What stands to the left of a matrix's cells."""
    before = OPERATOR_ROOM if placed.operator else 0
    if placed.matrix.row_labels:
        before += room_before(names_along(trace, placed.matrix)[0], placed.matrix.axes[0])
    return before
