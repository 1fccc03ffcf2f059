"""Pictures of matrices and charts, as a page's script draws them."""

import zlib
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from attention_core.trace import Step, memoized

from ..cards.elements import Picture
from ..cards.seen import unknown_cells
from ..cards.show import MOST_NUMBERS
from ..charts.chart import Chart
from ..picture.layout import Layout, brief
from ..picture.matrix import Matrix
from ..picture.positions import positions
from ..picture.spec import GROUNDS, MOVES, Stops, drawn
from ..picture.table import MANY, ON_NARROW, Lists, n_marks, n_slots, table
from .cells import MOST_CELLS, cells_of, given_cells
from .told import Told, as_json, rounded
from .vega import compiled

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
    """What its control changes, position by position, but for what the layout covers: what is
    covered has no part in how strong the colours are, nor in the ends of their scale.
    """
    with memoized():
        known: dict[tuple[int, int], Matrix] = {}

        def covered(one: Matrix, like: Matrix) -> Matrix:
            if one.hidden is like.hidden:
                return one
            both = id(one), id(like)
            if both not in known:  # what is the same at all positions stays so
                known[both] = replace(one, hidden=like.hidden)
            return known[both]

        return positions(
            layout,
            [
                each if isinstance(each, Layout) else [*map(covered, each, layout.matrices)]
                for each in there
            ],
        )


def columns_of(told: Told, rows: pa.Table) -> dict[str, Any]:
    """A table column by column, and each column matrix by matrix: so what a control does not
    change, and what is drawn elsewhere too, is told once.
    """
    is_large = n_marks(rows) > MANY
    there = [name for name in ("kind", "when", "m") if name in rows.column_names]
    kinds = zip(*(rows[name].to_pylist() for name in there), strict=True)
    cuts = [len([*each]) for _, each in groupby(kinds)]
    columns = {}
    for name, values in zip(rows.column_names, rows.columns, strict=True):
        if name == "id" and is_large:
            continue  # as in the app: a canvas has no key
        digits = 2 if name == "shade" and is_large else DIGITS.get(name, 2)
        columns[name] = told.parts(name, _rounded_of(values, digits), cuts)
    return {"n": len(rows), "cuts": cuts, "columns": columns}


def _rounded_of(values: pa.ChunkedArray, digits: int) -> list[Any]:
    """A column of a table as `rounded` has it, in a twentieth of the time."""
    if not pa.types.is_floating(values.type):
        return values.to_pylist()
    numbers = np.round(values.to_numpy().astype(float), digits)
    each, where = np.unique(numbers, return_inverse=True)
    return [*map(rounded(each.tolist(), digits).__getitem__, where.tolist())]


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
    made = {**columns_of(told, rows), "cells": cells}
    for theme in GROUNDS:
        look = theme, n_slots(rows), layout.sentence is not None, False, layout.tells
        spec = drawn(n_marks(rows), None, *look)
        moves = {"name": "moves", "expr": MOVES}
        # The script has the control of a picture, and says where it stands: `step_at`.
        params = [moves if each["name"] == "moves" else each for each in spec["params"]]
        made[theme] = told.once("specs", compiled({**spec, "params": params}))
    if stops is not None:
        made["at"] = now
    if n_marks(rows) > MANY:
        made["canvas"] = 1
    if any(less := brief(layout).narrow.cut):
        made["cut"] = [*rounded(less, 2), _signs(layout, rows)]
    if like is not None:
        before = told.tables["pictures"][like]
        if before["n"] == made["n"] and before["cuts"] == made["cuts"]:
            known = before["columns"]
            new = {name: at for name, at in made["columns"].items() if known.get(name) != at}
            gone = dict.fromkeys(known.keys() - made["columns"].keys())
            made |= {"like": like, "columns": new | gone}
            del made["cuts"]
    return told.once("pictures", made)


def _signs(layout: Layout, rows: pa.Table) -> list[list[Any]]:
    """The signs that change where a phone leaves lines out: their rows, words and heights."""
    ids, each = (
        rows["id"].to_pylist(),
        zip(layout.narrow.words, brief(layout).narrow.words, strict=False),
    )
    return [
        [ids.index(f"words.{ON_NARROW}.{at}"), now.text, *rounded([float(now.y)], 2)]
        for at, (was, now) in enumerate(each)
        if now.look == "sign" and now != was
    ]


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
    n = len(frame)
    columns = {str(name): told.parts(str(name), _column(frame[name]), [n]) for name in frame if n}
    told_so = {"chart": 1, "n": n, "cuts": [n], "columns": columns}
    told_so |= {theme: told.once("specs", compiled(spec, theme)) for theme in GROUNDS}
    if spec.get("usermeta", {}).get("embedOptions", {}).get("renderer") == "canvas":
        told_so["canvas"] = 1
    return told.once("pictures", told_so)


def _column(values: pd.Series) -> list[Any]:
    each = [None if value is pd.NA or value is None else value for value in values.tolist()]
    return rounded(each, 6)
