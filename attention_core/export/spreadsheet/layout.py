"""Where tensors stand in a sheet: a block a step, what is given beside what it makes."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from ...expression import Cell
from ...operations import Edit, Lookup
from ...trace import Step, Trace

LONG = 256
"""A table of more rows than these, of which only some are looked up, stands there with these."""
BESIDE = 9
"""The first column of what is given, or one further to the right of a wide result."""
TOP = 2
"""Rows above the first block."""


class Place(NamedTuple):
    """Row and column of a cell in the sheet, from 0."""

    row: int
    column: int

    @property
    def written(self) -> str:
        """Its name, such as B7."""
        return f"{self._letters}{self.row + 1}"

    @property
    def absolute(self) -> str:
        """Its name where it stays the same in a copied formula, such as $B$7."""
        return f"${self._letters}${self.row + 1}"

    @property
    def _letters(self) -> str:
        letters, column = "", self.column + 1
        while column:
            column, letter = divmod(column - 1, 26)
            letters = chr(65 + letter) + letters
        return letters


@dataclass(frozen=True)
class Block:
    """A step in the sheet. Its matrices stand one below the other where it has several heads."""

    step: Step
    start: Place
    rows: tuple[int, ...] | None
    """The rows of a long table that stand here; None for all of them."""
    settings: dict[str, float]
    """The numbers that its operation was given, by name."""

    @property
    def leads(self) -> list[tuple[int, ...]]:
        """The places in front of each of its matrices."""
        return list(product(*map(range, self.step.value.shape[:-2])))

    @property
    def n_rows(self) -> int:
        """The rows of one of its matrices."""
        shape = self.step.value.shape
        return len(self.rows) if self.rows is not None else shape[-2] if len(shape) > 1 else 1

    @property
    def n_columns(self) -> int:
        """The columns of its matrices, without the names of the rows."""
        return self.step.value.shape[-1] if self.step.value.ndim else 1

    @property
    def n_cells(self) -> int:
        """How many numbers of the step stand here."""
        return len(self.leads) * self.n_rows * self.n_columns

    @property
    def height(self) -> int:
        """All rows of the sheet that it takes, with an empty one below."""
        return 3 + len(self.settings) + len(self.leads) * (self.n_rows + 2)

    def setting(self, at: int) -> Place:
        """Where one of its settings stands."""
        return Place(self.start.row + 3 + at, self.start.column + 1)

    def head(self, lead: int) -> Place:
        """Where the names of the columns of one of its matrices begin."""
        above = 3 + len(self.settings) + lead * (self.n_rows + 2)
        return Place(self.start.row + above, self.start.column)

    def corners(self, lead: int) -> tuple[Place, Place]:
        """The first and the last number of one of its matrices."""
        row, column = self.head(lead)
        return Place(row + 1, column + 1), Place(row + self.n_rows, column + self.n_columns)

    def places(self) -> Iterator[tuple[tuple[int, ...], Place]]:
        """Every cell of the step that stands here, and where."""
        dimensions = self.step.value.ndim
        for at, lead in enumerate(self.leads):
            head = self.head(at)
            for row in range(self.n_rows):
                own_row = self.rows[row] if self.rows is not None else row
                for column in range(self.n_columns):
                    index = (*lead, own_row, column)[-dimensions:] if dimensions else ()
                    yield index, Place(head.row + 1 + row, head.column + 1 + column)


class Layout:
    """Where every cell of a trace stands."""

    def __init__(self, trace: Trace) -> None:
        self.blocks: dict[str, Block] = {}
        self._places: dict[str, dict[tuple[int, ...], Place]] = {}
        looked_up = rows_looked_up(trace)
        top, waiting, begun = TOP, dict(trace), False
        for step in trace.values():
            if begun and not step.inputs:
                continue  # it stands beside what is made from it
            begun = begun or bool(step.inputs)
            strip = [step, *(each for each in step.inputs if each.name in waiting)]
            column, bottom = 0, top
            for each in dict.fromkeys(strip):
                del waiting[each.name]
                block = Block(each, Place(top, column), looked_up.get(each.name), _settings(each))
                self.blocks[each.name] = block
                column = max(column + block.n_columns + 3, BESIDE)
                bottom = max(bottom, top + block.height)
            top = bottom
        for step in waiting.values():  # given, and nothing is made from it
            self.blocks[step.name] = block = Block(step, Place(top, 0), None, _settings(step))
            top += block.height

    def at(self, cell: Cell) -> Place:
        """Where a cell of a step stands."""
        if cell.step not in self._places:
            self._places[cell.step] = dict(self.blocks[cell.step].places())
        return self._places[cell.step][cell.index]

    def column(self, table: str, column: int) -> tuple[str, str]:
        """The range of a column of a table; and that of its rows' numbers, if only some stand."""
        block = self.blocks[table]
        first, last = block.corners(0)
        own, numbers = (
            f"{Place(first.row, at).absolute}:{Place(last.row, at).absolute}"
            for at in (first.column + column, first.column - 1)
        )
        return own, numbers if block.rows is not None else ""


def rows_looked_up(trace: Trace) -> dict[str, tuple[int, ...]]:
    """Of each long table that is only looked up, the rows that are, by its name."""
    users: dict[str, list[Step]] = {name: [] for name in trace}
    found: dict[str, tuple[int, ...]] = {}
    for step in reversed(list(trace.values())):
        for each in step.inputs:
            users[each.name].append(step)
        rows: set[int] = set()
        for user in users[step.name]:
            if isinstance(user.operation, Lookup) and user.inputs[1] is not step:
                rows |= set(user.inputs[1].value.tolist())
            elif isinstance(user.operation, Edit) and user.name in found:
                rows |= set(found[user.name])
            else:
                break
        else:
            if rows and step.value.ndim == 2 and len(step.value) > LONG:
                found[step.name] = tuple(sorted(rows))
    return found


def _settings(step: Step) -> dict[str, float]:
    """The numbers that an operation was given, by name. What is given whole has cells instead."""
    if not step.inputs:
        return {}
    return {
        name: float(value)
        for name, value in vars(step.operation).items()
        if (type(value) is float or name == "width") and not math.isnan(value)
    }
