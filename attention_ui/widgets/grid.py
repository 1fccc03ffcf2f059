"""A matrix as a grid to type in. What cannot be a number is refused in words."""

import math

import pandas as pd
import streamlit as st

from attention_core.text.tokenizers import visible
from attention_core.trace import Step, Trace

from ..controls import held
from ..controls.fields import LARGEST_ENTRY, MAX_EDITS
from ..page.take_away import numbered
from ..settings import session

MAX_LISTED = 4
KEYS = 4
"""A new grid needs a new key. This many take turns, as Streamlit keeps a record of every key."""


def grid(
    trace: Trace, setting: str, matrix: Step, drawn: Step, about: object, is_held: bool = False
) -> None:
    """A grid of `matrix` (rows, columns), with what was typed kept in `setting`.

    `drawn` is the matrix before any typing; `about` says what else makes it another matrix. On a
    page of cards what is typed `is_held`.
    """
    edits = _edits(setting, is_held)
    rows, columns = numbered(trace, matrix.axes[0]), list(trace.labels(matrix.axes[1]))
    about = (*rows, *columns, about)
    state = st.session_state
    settings = session.current()
    if setting in settings.hide:
        return
    known = state.setdefault("grids", {}).get(setting)
    if not known or known["key"] not in state or (known["about"], known["edits"]) != (about, edits):
        # Another matrix, edits from a link, or a visit to another page, where Streamlit drops what
        # a grid holds: start a new grid from the numbers of the trace.
        state["grids_made"] = state.get("grids_made", 0) + 1
        known = {
            "key": f"grid_{setting}_{state['grids_made'] % KEYS}",
            "about": about,
            "edits": edits,
            "start": matrix.value.tolist(),
        }
        state["grids"][setting] = known
    known["drawn"] = drawn.value.tolist()
    st.data_editor(
        pd.DataFrame(known["start"], columns=columns, index=pd.Index(rows, name="row")),
        key=known["key"],
        on_change=_typed,
        args=(setting, known["key"], is_held),
        width="content",
        disabled=setting in settings.lock,
        column_config={
            column: st.column_config.NumberColumn(
                visible(column), format="%.4f", min_value=-LARGEST_ENTRY, max_value=LARGEST_ENTRY
            )
            for column in columns
        },
    )
    if edits or known.get("is_refused"):
        st.button(
            "Undo all typed numbers", key=f"undo_{setting}", on_click=_undo, args=(setting, is_held)
        )


def _edits(setting: str, is_held: bool) -> tuple[tuple[int, int, float], ...]:
    return held.values()[setting] if is_held else getattr(session.current(), setting)


def _change(setting: str, is_held: bool, edits: tuple[tuple[int, int, float], ...]) -> None:
    (held.change if is_held else session.change)(**{setting: edits})


def _undo(setting: str, is_held: bool) -> None:
    """Start a new grid, even if nothing typed into the old one was applied."""
    st.session_state["grids"].pop(setting, None)
    _change(setting, is_held, ())


def _typed(setting: str, key: str, is_held: bool) -> None:
    """Apply what was typed into the grid: numbers become edits, the rest is refused by name."""
    state = st.session_state
    known = state["grids"].get(setting)
    if not known or known["key"] != key:
        return  # a message from a grid that is gone
    drawn = known["drawn"]
    columns = list(known["about"][len(drawn) : len(drawn) + len(drawn[0])])
    edited = state[key].get("edited_rows")
    if not _is_of(edited, len(drawn), columns):
        del state["grids"][setting]  # no browser sends this, and Streamlit cannot draw it
        return
    typed = {
        (row, columns.index(column)): value
        for row, cells in edited.items()
        for column, value in cells.items()
    }
    edits, refused = {}, []
    for row, numbers in enumerate(known["start"]):
        for column, number in enumerate(numbers):
            value = typed.get((row, column), number)
            if value is None or not abs(value) <= LARGEST_ENTRY:
                refused.append(f"row {row}, {columns[column]}")
                value = number
            if not math.isclose(value, drawn[row][column], rel_tol=1e-7, abs_tol=1e-12):
                edits[row, column] = float(value)
    if len(edits) > MAX_EDITS:
        said = f"a link can hold {MAX_EDITS} typed numbers, and these are {len(edits):,}"
        state[session.NOTICES] = [f"Not applied: {said}. Undo some of them."]
        session.run_whole_page()
    else:
        taken = tuple((*place, value) for place, value in sorted(edits.items()))
        _change(setting, is_held, taken)
    known["edits"] = _edits(setting, is_held)
    known["is_refused"] = len(known["edits"]) < len(edits)
    if refused:
        state[session.NOTICES] = [
            *state[session.NOTICES],
            f"Not applied: {_listed(refused)}. Type a number from −{LARGEST_ENTRY:,.0f} to "
            f"{LARGEST_ENTRY:,.0f}. Until then the previous number is used.",
        ]


def _is_of(edited: object, n_rows: int, columns: list[str]) -> bool:
    """Whether these are edits as a browser sends them: numbers or nothing, by column, by row."""
    return isinstance(edited, dict) and all(
        0 <= row < n_rows
        and isinstance(cells, dict)
        and cells.keys() <= set(columns)
        and all(isinstance(value, int | float | None) for value in cells.values())
        for row, cells in edited.items()
    )


def _listed(cells: list[str]) -> str:
    """Some cells in a sentence, and how many more there are."""
    more = len(cells) - MAX_LISTED
    return " and ".join(cells[:MAX_LISTED]) + (f" and {more:,} more" if more > 0 else "")
