"""A matrix as a grid to type in. What cannot be a number is refused in words."""

import math
from dataclasses import dataclass, field
from hashlib import sha1

import pandas as pd
import streamlit as st

from attention_core.text.tokenizers import visible
from attention_core.trace import Step, Trace

from . import parts, visit
from .control import Control
from .fields import LARGEST_ENTRY, MAX_EDITS
from .visit_state import this_visit
from .widget import is_there, sent

MAX_LISTED = 4
KEYS = 4
"""A new grid needs a new key. This many take turns, as Streamlit keeps a record of every key."""


@dataclass
class Grid:
    """A grid as it was drawn last."""

    key: str
    about: tuple
    edits: tuple
    """Those that it shows."""
    columns: list[str]
    start: list[list[float]]
    """What it began with."""
    drawn: list[list[float]]
    """The matrix before any typing."""
    is_refused: bool = False
    """Whether some of what was typed was not taken."""


@dataclass
class Grids:
    """Those of a visit, by the names of their controls, and how many were made."""

    by_name: dict[str, Grid] = field(default_factory=dict)
    made: int = 0


def grid(trace: Trace, one: Control, matrix: Step, drawn: Step) -> None:
    """A grid of `matrix` (rows, columns), with what was typed kept as the value of a control.
    `drawn` is the matrix before any typing.
    """
    grids, name = this_visit().own(Grids), one.name
    if name in visit.names_in("hide"):
        return
    edits = visit.values()[name]
    rows, columns = numbered(trace, matrix.axes[0]), list(trace.labels(matrix.axes[1]))
    about = (*rows, *columns, sha1(drawn.value.numpy().tobytes()).hexdigest())
    known = grids.by_name.get(name)
    if not known or not is_there(known.key) or (known.about, known.edits) != (about, edits):
        # Another matrix, edits from a link, or a visit to another page, where Streamlit drops what
        # a grid holds: start a new grid from the numbers of the trace.
        grids.made += 1
        key = f"grid_{name}_{grids.made % KEYS}"
        known = Grid(key, about, edits, columns, matrix.value.tolist(), drawn.value.tolist())
        grids.by_name[name] = known
    st.data_editor(
        pd.DataFrame(known.start, columns=columns, index=pd.Index(rows, name="row")),
        key=known.key,
        on_change=_typed,
        args=(name, known.key),
        width="content",
        disabled=name in visit.names_in("lock"),
        column_config={
            column: st.column_config.NumberColumn(
                visible(column), format="%.4f", min_value=-LARGEST_ENTRY, max_value=LARGEST_ENTRY
            )
            for column in columns
        },
    )
    if edits or known.is_refused:
        st.button("Undo all typed numbers", key=f"undo_{name}", on_click=_undo, args=(name,))


def numbered(trace: Trace, axis: str) -> list[str]:
    """The places of an axis by number and name; repeated tokens can be told apart."""
    return [
        label if trace.name_of(axis, at) is None else f"{at} {visible(label)}"
        for at, label in enumerate(trace.labels(axis))
    ]


def _undo(name: str) -> None:
    """Start a new grid, even if nothing typed into the old one was applied."""
    this_visit().own(Grids).by_name.pop(name, None)
    visit.change(**{name: ()})
    parts.run_what_reads()


def _typed(name: str, key: str) -> None:
    """Apply what was typed into the grid: numbers become edits, the rest is refused by name."""
    grids = this_visit().own(Grids).by_name
    known = grids.get(name)
    if not known or known.key != key:
        return  # a message from a grid that is gone
    drawn, columns = known.drawn, known.columns
    edited = sent(key).get("edited_rows")
    if not _is_of(edited, len(drawn), columns):
        del grids[name]  # no browser sends this, and Streamlit cannot draw it
        return
    typed = {
        (row, columns.index(column)): value
        for row, cells in edited.items()
        for column, value in cells.items()
    }
    edits, refused = {}, []
    for row, numbers in enumerate(known.start):
        for column, number in enumerate(numbers):
            value = typed.get((row, column), number)
            if value is None or not abs(value) <= LARGEST_ENTRY:
                refused.append(f"row {row}, {columns[column]}")
                value = number
            if not math.isclose(value, drawn[row][column], rel_tol=1e-7, abs_tol=1e-12):
                edits[row, column] = float(value)
    if len(edits) > MAX_EDITS:
        said = f"a link can hold {MAX_EDITS} typed numbers, and these are {len(edits):,}"
        visit.say(f"Not applied: {said}. Undo some of them.")
    else:
        visit.change(**{name: tuple((*place, value) for place, value in sorted(edits.items()))})
    known.edits = visit.values()[name]
    known.is_refused = len(known.edits) < len(edits)
    if refused:
        visit.say(
            f"Not applied: {_listed(refused)}. Type a number from −{LARGEST_ENTRY:,.0f} to "
            f"{LARGEST_ENTRY:,.0f}. Until then the previous number is used."
        )
    parts.run_what_reads()


def _is_of(edited: object, n_rows: int, columns: list[str]) -> bool:
    """Whether these are edits as a browser sends them: numbers or nothing, by column, by row."""
    return isinstance(edited, dict) and all(
        isinstance(row, int)
        and 0 <= row < n_rows
        and isinstance(cells, dict)
        and cells.keys() <= set(columns)
        and all(isinstance(value, int | float | None) for value in cells.values())
        for row, cells in edited.items()
    )


def _listed(cells: list[str]) -> str:
    """Some cells in a sentence, and how many more there are."""
    more = len(cells) - MAX_LISTED
    return " and ".join(cells[:MAX_LISTED]) + (f" and {more:,} more" if more > 0 else "")
