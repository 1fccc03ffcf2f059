"""Pictures of matrices and charts, as a page's script draws them."""

import zlib
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pyarrow as pa

from attention_core.trace import Step, memoized

from ..cards.elements import Picture
from ..cards.seen import unknown_cells
from ..cards.show import MOST_NUMBERS
from ..charts.chart import Chart
from ..picture.layout import Layout
from ..picture.positions import positions
from ..picture.spec import GROUNDS, Stops, drawn
from ..picture.table import Lists, n_marks, n_slots, table
from .cells import MOST_CELLS, cells_of, given_cells
from .told import Told, as_json, rounded

MOST_PACKED = 40_000
"""Bytes of the arithmetic of all cells of a lesson, packed; half of them of steps that no picture
draws.
"""
DIGITS = {"exact": 6, "rel": 0, "shade": 4, "strength": 4}
"""Of the columns of a table; places are told to a hundredth of a pixel."""


def can_carry(layout: Layout, stops: Stops) -> bool:
    """Whether a picture has room for what its control changes at all of its positions."""
    n_cells = sum(each.drawn.numel() for each in layout.matrices)
    return len(stops.values) * n_cells <= MOST_NUMBERS


def each_there(one: Picture, stops: Stops) -> list:
    """A picture at all positions of its control."""
    with memoized():
        return one.each_there(stops.values)


def carried(layout: Layout, there: list) -> Lists:
    """What its control changes, position by position, but for what the layout covers."""
    with memoized():
        return positions(layout, there)


def columns_of(rows: pa.Table) -> dict[str, Any]:
    """A table column by column; what is the same in all rows is said once."""
    columns = {}
    for name, values in rows.to_pydict().items():
        column = rounded(values, DIGITS.get(name, 2))
        columns[name] = column[0] if column.count(column[0]) == len(column) else column
    return columns


def picture(
    told: Told,
    layout: Layout,
    stops: Stops | None,
    lists: Lists | None,
    cells: dict[str, int],
    like: int | None = None,
) -> int:
    """The place of a picture among those that are told. `stops` are of the control that it carries,
    `cells` where the arithmetic of its steps is told; of what is as in the picture that it is
    `like`, nothing is told again.
    """
    now = stops.position(stops.start) if stops else 0
    rows = table(layout, lists=lists, now=now)
    made = {"n": len(rows), "cells": cells}
    tail: list[dict] = []
    for theme in GROUNDS:
        look = theme, n_slots(rows), layout.sentence is not None, False, layout.tells
        bare = drawn(n_marks(rows), None, *look)
        n = len(bare["params"]) - 2  # those of the control come last
        made[theme] = told.once("specs", {**bare, "params": bare["params"][:n]})
        tail = drawn(n_marks(rows), stops, *look)["params"][n:]
    columns = columns_of(rows)
    if like is not None and told.tables["pictures"][like]["n"] == len(rows):
        before = told.tables["pictures"][like]["columns"]
        new = {name: each for name, each in columns.items() if before.get(name, ...) != each}
        gone = {name: None for name in before if name not in columns}
        made |= {"like": like, "columns": new | gone}
    else:
        made |= {"columns": columns}
    return told.once("pictures", {**made, "tail": tail})


@dataclass
class Arithmetic:
    """What was told of steps, each once while it is covered alike, as far as there is room."""

    told: Told
    _known: dict[tuple[int, bytes], tuple[Step, int | None]] = field(default_factory=dict)
    _packed: int = 0

    def of(self, layout: Layout) -> dict[str, int]:
        """Of what a picture draws, and of what that is made of where half of the room is left: the
        places of their cells.
        """
        drawn = {each.step.name: each.step for each in layout.matrices if not each.covered}
        found = {name: self._place(step, MOST_PACKED) for name, step in drawn.items()}
        waiting = [given for step in drawn.values() for given in step.inputs]
        while waiting:
            step = waiting.pop()
            if step.name not in found:
                found[step.name] = self._place(step, MOST_PACKED / 2)
                waiting += step.inputs
        return {name: place for name, place in found.items() if place is not None}

    def _place(self, step: Step, room: float) -> int | None:
        unknown = unknown_cells(step)
        key = id(step), b"" if unknown is None else unknown.numpy().tobytes()
        if key not in self._known:
            made = cells_of(step, unknown) if self._packed < room else None
            if made is None and not step.inputs and step.value.numel() <= MOST_CELLS:
                made = given_cells(step)
            place = None if made is None else self.told.once("cells", made)
            self._packed += 0 if made is None else len(zlib.compress(as_json(made).encode(), 6))
            self._known[key] = step, place  # the step too: no other gets its id
        return self._known[key][1]


def chart(told: Told, made: Chart, spec: dict) -> int:
    """The place of a chart that is no matrix, with a specification that has no data yet."""
    frame = made.frame.to_pandas() if isinstance(made.frame, pa.Table) else made.frame
    columns = {str(name): _column(frame[name]) for name in frame}
    return told.once("pictures", {"chart": spec, "columns": columns, "n": len(frame)})


def _column(values: pd.Series) -> Any:
    each = [None if value is pd.NA or value is None else value for value in values.tolist()]
    column = rounded(each, 6)
    return column[0] if column and column.count(column[0]) == len(column) else column
