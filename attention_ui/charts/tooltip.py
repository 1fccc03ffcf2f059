"""The arithmetic of every cell of a matrix, in numbers, for tooltips; while it is short."""

import itertools

from attention_core.explain.plain_text import plain_text

from ..picture.matrix import Matrix

MOST_READ = 2_000
"""A matrix that is made of more numbers tells its arithmetic after a click."""


def arithmetics(matrix: Matrix) -> list[str] | None:
    """One line a cell, in the order in which they are drawn; None where it would be too long."""
    step = matrix.step
    if not step.inputs or matrix.covered:
        return None
    rows = range(len(matrix.values)) if matrix.rows is None else matrix.rows
    rest = map(range, matrix.values.shape[1:])
    cells = [(*matrix.lead, *index) for index in itertools.product(rows, *rest)]
    if len(cells) * sum(1 for _ in step.arithmetic(cells[0]).cells()) > MOST_READ:
        return None
    return [plain_text(each.latex()) for each in step.arithmetics(cells)]
