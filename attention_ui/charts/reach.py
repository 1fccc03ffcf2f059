"""What lights up when a cell is pointed at: the cells it is made of, and those with its names.

Worked out for a whole equation at once, from the arithmetic and the names of axes, so that there is
one rule for every step. Knows matrices and places, and no chart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.explain.extents import NONE, extents
from attention_core.trace import Step

from ..picture.matrix import Matrix

SAME_TOKENS = {"token": ("query", "key"), "query": ("token",), "key": ("token",)}
"""Axes whose places are the same tokens: query 3 and key 3 are both token 3, though a query is not
a key.
"""


@dataclass(frozen=True)
class Reach:
    """The cells of one matrix, `into`, that each cell of another is made of."""

    into: int
    rectangles: Tensor
    """(cell, 4) first and last row, first and last column, as drawn; all -1 for none."""


def places(matrix: Matrix) -> tuple[Tensor, Tensor]:
    """Of each cell, in the order in which they are drawn, its place along the axis of the rows and
    along that of the columns.
    """
    drawn = matrix.drawn
    n_columns = drawn.shape[1] if drawn.ndim == 2 else 1
    rows = torch.arange(len(drawn)) if matrix.rows is None else torch.tensor(matrix.rows)
    first, second = rows.repeat_interleave(n_columns), torch.arange(n_columns).repeat(len(drawn))
    return (second, first) if matrix.transposed else (first, second)


def reaches(matrices: Sequence[Matrix], at: int) -> list[Reach]:
    """What each cell of a matrix is made of, among the matrices of its equation."""
    step = matrices[at].step
    found = []
    for operand, given in enumerate(step.inputs):
        drawn = [
            into
            for into, each in enumerate(matrices)
            if into != at and each.step.name == given.name and not each.covered
        ]
        if not drawn:
            continue
        twins = [number for number, each in enumerate(step.inputs) if each is given]
        if len(twins) > 1:  # one step as two operands, each drawn as a matrix of its own
            drawn = [drawn[min(twins.index(operand), len(drawn) - 1)]]
        blocks = _of_drawn(matrices[at], extents(step, operand))
        for into in drawn:
            for block in blocks.unbind(dim=1):
                rectangles = _rectangles(matrices[into], block)
                if (rectangles != NONE).any():
                    found.append(Reach(into, rectangles))
    return found


def _of_drawn(matrix: Matrix, blocks: Tensor) -> Tensor:
    """The blocks of the cells that are drawn, in their order: (cell, block, axis, 2)."""
    blocks = blocks[matrix.lead]
    if matrix.rows is not None:
        blocks = blocks[list(matrix.rows)]
    return blocks.flatten(0, matrix.drawn.ndim - 1)


def _rectangles(matrix: Matrix, blocks: Tensor) -> Tensor:
    """Blocks of a step (cell, axis, 2) as rectangles of the matrix that draws it (cell, 4)."""
    first, last = blocks[..., 0], blocks[..., 1]
    n_lead = len(matrix.lead)
    lead = torch.tensor(matrix.lead, dtype=torch.int16)
    inside = ((first[:, :n_lead] <= lead) & (lead <= last[:, :n_lead])).all(dim=1)
    inside &= (first != NONE).all(dim=1)
    sides = [(first[:, axis], last[:, axis]) for axis in range(n_lead, blocks.shape[1])]
    if matrix.rows is not None:
        place = torch.tensor(matrix.rows)
        within = (sides[0][0][:, None] <= place) & (place <= sides[0][1][:, None])
        n_before = within.int().argmax(dim=1)
        inside &= within.any(dim=1)
        sides[0] = (n_before, n_before + within.sum(dim=1) - 1)
    if len(sides) == 1:
        sides.append((torch.zeros_like(sides[0][0]), torch.zeros_like(sides[0][0])))
    if matrix.transposed:
        sides.reverse()
    rectangles = torch.stack([end for side in sides for end in side], dim=1).short()
    return torch.where(inside[:, None], rectangles, NONE)


def related(steps: Sequence[Step]) -> set[tuple[str, str]]:
    """The pairs of names between which numbers flow, in either order; each step with itself."""
    found = set()
    for name, earlier in {step.name: step.earlier() for step in steps}.items():
        found |= {pair for each in (*earlier, name) for pair in ((each, name), (name, each))}
    return found
