"""Which part of a step a heatmap draws, and what its rows and columns are called."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from attention_core.operations import (
    Columns,
    Drop,
    Given,
    JoinColumns,
    MaskedFill,
    Renormalise,
    Softmax,
)
from attention_core.text.tokenizers import visible
from attention_core.trace import JOINED, Step, Trace, head_at

from .numbers import decimals_of, number_width, written

COVERED = "?"
Marks = tuple[int, ...]
"""The head of each row, or of each column; () for none."""


@dataclass(frozen=True)
class Matrix:
    """Which part of a step to draw, and how.

    `transposed` draws columns as rows; `rows` and `columns` pick some of each, as the step has
    them; `title` replaces the step's name.
    """

    step: Step
    transposed: bool = False
    rows: tuple[int, ...] | None = None
    columns: tuple[int, ...] | None = None
    title: str | None = None
    faint: frozenset[int] = frozenset()
    """Rows drawn faintly: not reached yet, or not used."""
    strengths: Tensor | None = field(default=None, compare=False)
    """How strongly each cell that is drawn is seen, from 0 to 1, in the shape of `drawn`."""
    left_out: Tensor | None = field(default=None, compare=False)
    """True for cells that are not drawn at all, in the shape of `drawn`."""
    row_labels: bool = True
    row_numbers: bool = False
    """Whether each row's name begins with its place, where words speak of rows by their numbers."""
    column_labels: bool = True
    asked: int = 0
    """Which of the tokens that are drawn has its name in any case, where not all have room."""
    as_bars: bool = False
    """A column of weights drawn as bars, from 0 to 1."""
    both_ways: bool = False
    """Bars from −1 to 1, with a gap and a scale of their own beyond."""
    stays: bool = False
    """On a phone too, which leaves out what comes before the last result: it is one of two."""
    lead: tuple[int, ...] = ()
    """The places of the axes before the last two: `(1,)` draws the second head."""
    compared: bool = False
    """Beside others of the same axes: who points at a cell of one points at that of the others."""
    covered: bool = False
    """Drawn as a frame of question marks: its numbers would answer a question."""
    hidden: Tensor | None = field(default=None, compare=False)
    """True for cells (in the step's shape) that are question marks, where others are not."""
    untold: Tensor | None = field(default=None, compare=False)
    """True for cells (in the step's shape) of which is not told how they come about: it would print
    numbers that a question covers.
    """
    tells_origins: bool = False
    """Each cell says which token and head its number came from (see `origins`)."""
    allowed: Tensor | None = field(default=None, compare=False)
    """How large numbers that should be 0 may be, `nan` for any; outlined, loud where more."""

    @property
    def mask(self) -> Step | None:
        """The mask, True where a query may look: a 0 where it may not is drawn as hidden."""
        mask = _mask_of(self.step)
        fits = mask is not None and mask.value.shape[-1] == self.step.value.shape[-1]
        return mask if fits else None  # beside a sink there is one column more

    @property
    def name(self) -> str:
        """What stands above it: its title, or the step's name and which part of it."""
        part = ", ".join(map(str, self.lead))
        return self.title or (f"{self.step.name}[{part}]" if part else self.step.name)

    @property
    def part(self) -> tuple:
        """Which numbers of which step it draws, alike for matrices that draw the same."""
        return id(self.step), self.lead, self.rows, self.columns

    @property
    def values(self) -> Tensor:
        """What is drawn of the step, (rows, columns) or (rows,), before any transposing."""
        return self.step.value[self.lead]

    @property
    def drawn(self) -> Tensor:
        """The same, of the rows and columns that are picked."""
        return self.picked(self.values)

    def picked(self, values: Tensor) -> Tensor:
        """Of something that there is for each cell (rows, columns, …), what is drawn."""
        if self.rows is not None:
            values = values[list(self.rows)]
        return values if self.columns is None else values[:, list(self.columns)]

    @property
    def axes(self) -> tuple[str, str]:
        """The axis along the rows and the one along the columns; '' where there is none."""
        axes = (*self.step.axes[len(self.lead) :], "", "")[:2]
        return axes[::-1] if self.transposed else axes

    @property
    def unseen(self) -> Tensor | None:
        """True for cells that are drawn as question marks, of the rows and columns that are picked;
        None where none are, or all.
        """
        return None if self.hidden is None else self.picked(self.hidden[self.lead])

    @property
    def seen(self) -> Tensor:
        """What is drawn, with nan in the place of what is hidden."""
        unseen = self.unseen
        if unseen is None:
            return self.drawn
        return self.drawn.masked_fill(unseen, torch.nan if self.drawn.is_floating_point() else 0)

    @property
    def asks(self) -> bool:
        """Whether a question covers some of it."""
        return self.covered or self.hidden is not None

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """How many rows and columns are drawn."""
        n_rows, n_columns = (*self.values.shape, 1, 1)[:2]
        n_rows = n_rows if self.rows is None else len(self.rows)
        n_columns = n_columns if self.columns is None else len(self.columns)
        return (n_columns, n_rows) if self.transposed else (n_rows, n_columns)

    @cached_property
    def number_widths(self) -> list[tuple[int, float]]:
        """Decimals that its numbers may be written with, most first, each with the widest then."""
        values = self.seen.float().numpy()  # of few numbers in half of PyTorch's time
        finite = values[np.isfinite(values)]
        ends = [float(finite.min()), float(finite.max())] if len(finite) else [0.0]
        most = decimals_of(finite)
        return [
            (n, max(number_width(written(end, n)) for end in ends))
            for n in range(most, min(1, most) - 1, -1)
        ]


def of_unknown_shape(matrix: Matrix) -> Matrix:
    """A matrix of which only the name is known: one covered cell."""
    nothing = Step(matrix.step.name, torch.zeros(1, 1), ("", ""), Given(((0.0,),)), (), "")
    return Matrix(nothing, title=matrix.name, covered=True, row_labels=False)


def is_unknown(matrix: Matrix) -> bool:
    """Whether only its name is known: then there are no numbers to uncover."""
    return "" in matrix.step.axes


def _mask_of(step: Step) -> Step | None:
    """The mask that hides cells; None for none. A 0 filled in before a softmax hides nothing."""
    match step.operation:
        case MaskedFill(fill=fill):
            hides = fill == -math.inf or isinstance(step.inputs[0].operation, Softmax)
            return step.inputs[1] if hides else None
        case Softmax() | Renormalise() | Drop() | JoinColumns() | Columns():
            return _mask_of(step.inputs[0])
    return None


def names_of(
    trace: Trace, axis: str, places: Sequence[int] | None = None, head: int | None = None
) -> list[str]:
    """An axis's labels as on screen, or some; within one head, those it has there."""
    if not axis:
        return [""]
    names = trace.labels(axis, head)
    return [visible(name) for name in (names if places is None else map(names.__getitem__, places))]


def names_along(trace: Trace, matrix: Matrix) -> tuple[list[str], list[str]]:
    axes = matrix.axes[::-1] if matrix.transposed else matrix.axes
    head = head_at(matrix.step.axes, matrix.lead)
    first = names_of(trace, axes[0], matrix.rows, head)
    second = names_of(trace, axes[1], matrix.columns, head)
    return (second, first) if matrix.transposed else (first, second)


def heads_of(trace: Trace, matrix: Matrix) -> tuple[Marks, Marks]:
    """Which head each row and each column belongs to; () where they belong to none."""
    if (head := head_at(matrix.step.axes, matrix.lead)) is not None:
        across: Marks = (head,) * matrix.sizes[1]
        return (), across
    rows, columns = (_heads_along(trace, axis) for axis in matrix.axes)
    return rows, columns


def _heads_along(trace: Trace, axis: str) -> Marks:
    if axis not in JOINED or not trace.has_axis("head"):  # a difference knows no heads
        return ()
    per_head = trace.size(axis) // trace.size("head")
    return tuple(column // per_head for column in range(trace.size(axis)))


def origins(matrix: Matrix) -> tuple[Tensor, Tensor]:
    """The token and the head (rows, columns) that each cell of a (token, columns) matrix came from
    as it was dealt to heads, by moving places in place of numbers.
    """
    step = matrix.step
    (joined,) = step.inputs
    n_columns = joined.value.shape[-1]
    places = torch.arange(joined.value.numel()).reshape(joined.value.shape)
    moved = step.operation.value(places)[matrix.lead]
    return moved // n_columns, moved % n_columns // (n_columns // len(step.value))
