"""A picture in its card: pointing stays in the browser, a click takes a cell apart below it, which
runs this card alone.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from attention_core.trace import Step

from ..controls import held
from ..controls.control import Control, Values
from ..controls.fields import CellPlace
from ..picture.layout import Layout, matrices_of
from ..picture.matrix import Matrix
from ..picture.spec import Stops, drawn
from ..picture.table import Lists, Open, numbers_of, positions, table
from .apart import apart
from .arithmetic import operand_groups

MOST_BYTES = 300_000
"""Of a card with all positions of its control; above it the server is asked at each move."""
LARGE = 1.5


@dataclass(frozen=True)
class Moving:
    """A control whose every position the picture carries, so that it answers within a frame.

    `build` gives the parts of the picture at a position, as `equation` takes them; `about` is all
    else that they depend on, and None if that is not known: then they are built at each run.
    """

    control: Control
    build: Callable[[Any], Sequence[Step | Matrix | str]]
    about: Hashable = None
    elsewhere: bool = False
    """Whether other cards show what it changes: then they follow when the hand rests."""


def picture(name: str, layout: Layout, moving: Moving | None = None) -> None:
    """A layout as the picture of a card. `name` tells it from the others of the page."""
    _picture(name, layout, moving)


@st.fragment
def _picture(name: str, layout: Layout, moving: Moving | None) -> None:
    if held.wants_all():
        st.rerun()
    trail = _trail(name, layout)
    opened = _opened(layout, trail)
    stops, count = _stops(name, moving.control) if moving else (None, 0)
    lists = _lists(name, layout, moving, stops) if stops else None
    now = stops.position(held.values()[moving.control.name]) if stops else 0
    rows = table(layout, opened, lists, now, _clicks(name, trail))
    with st.container(key=f"picture_{name}", gap=None):
        _rooms(layout)
        with st.container(key=f"drawn_{name}", height="stretch"):
            st.vega_lite_chart(
                rows,
                drawn(rows.num_rows, stops),
                width="stretch",
                height="stretch",
                theme=None,
                key=f"chart_{name}_{count}",
                on_select=partial(_told, name, f"chart_{name}_{count}", layout, moving),
                selection_mode=["cell", "step"] if stops else ["cell"],
                alt=layout.alt,
            )
        if not trail:
            _way_in(name, layout)
    if trail:
        apart(name, layout.trace, trail)


def _rooms(layout: Layout) -> None:
    """The height that the picture takes: in a window, in a wide one, on a phone."""
    # In this order, by which the style knows them: see `frame/style.py`.
    wide, narrow = round(layout.wide.height) + 8, round(layout.narrow.height) + 8
    for height in (wide, round(LARGE * wide), narrow):
        st.space(height)


def _trail(name: str, layout: Layout) -> tuple[CellPlace, ...]:
    """The way to the open cell, where it is open in this card and none of it is covered."""
    values = held.values()
    trail = values.cell or ()
    covered = {each.step.name for each in layout.matrices if each.covered}
    home = values.beat or name
    drawn_here = {each.step.name for each in layout.matrices}
    if not trail or home != name or (not values.beat and trail[0][0] not in drawn_here):
        return ()
    for step, index in trail:
        if step not in layout.trace or not layout.trace[step].has(index):
            return ()
        told = {step, *(given.name for given in layout.trace[step].inputs)}
        if told & covered:
            return ()
    return trail


def _clicks(name: str, trail: tuple[CellPlace, ...]) -> int:
    """How often the open cell of a card has changed: Streamlit's browser reports no choice that is
    the same as the last, though the cell may have been closed meanwhile.
    """
    last, count = st.session_state.get(f"clicks_{name}", ((), 0))
    if last != trail:
        count += 1
    st.session_state[f"clicks_{name}"] = (trail, count)
    return count


def _opened(layout: Layout, trail: Sequence[CellPlace]) -> Open | None:
    if not trail:
        return None
    step, index = trail[-1]
    groups = operand_groups(layout.trace[step].arithmetic(index))
    return trail[-1], frozenset((cell.step, cell.index) for group in groups for cell in group)


def _stops(name: str, control: Control) -> tuple[Stops, int]:
    """The control in a picture, and how often its view had to be built anew. Its start stays as it
    was while a hand moves it, since with another the browser would build the view anew; that has
    to be where something else changed the value.
    """
    state, value = st.session_state, held.values()[control.name]
    key = f"start_{name}"
    start, last, count = state.get(key, (value, value, 0))
    if last != value or key not in state[held.GIVEN]:
        start, count = value, count + 1
    state[held.GIVEN].add(key)
    state[key] = (start, value, count)
    return stops_of(control, held.values(), start, f"st-key-moves_{name}"), count


def stops_of(control: Control, values: Values, start: Any, place: str) -> Stops:
    """The positions of a control: those of its field, as far as it has choices now."""
    choices = [*control.choices(values)]
    least, most = (
        (min(choices), max(choices)) if choices else (control.field.least, control.field.most)
    )
    step = choices[1] - choices[0] if len(choices) > 1 else 1
    return Stops(control.label, least, most, control.look.get("step", step), start, place)


def _lists(name: str, layout: Layout, moving: Moving, stops: Stops) -> Lists | None:
    """What the control changes, position by position. Kept for the next run, as long as nothing
    that it depends on has changed.
    """
    state, key = st.session_state, f"lists_{name}"
    covered = tuple(each.covered for each in layout.matrices)
    about = None if moving.about is None else (moving.about, covered, stops.values)
    known, lists = state.get(key, (None, None))
    if about is None or known != about:
        others = [matrices_of(*moving.build(value)) for value in stops.values]
        lists = positions(layout, others)
        state[key] = (about, lists)
    return lists


def moves(name: str, control: Control, width: int = 170) -> None:
    """The place of a control that the picture of this name carries, among the card's controls."""
    if control.name not in held.names_in("hide"):
        with st.container(key=f"moves_{name}", width=width):
            st.space(1)  # an empty container is not drawn, and the browser puts the control into it


def _told(name: str, key: str, layout: Layout, moving: Moving | None) -> None:
    """What the browser reports of a picture: a cell that was clicked on, or where a control in it
    rests.
    """
    selection = st.session_state[key]["selection"]
    match selection.get("step"):
        case [{"value": int() | float() as value}, *_] if moving is not None:
            value = _stop(moving.control, value)
            if value is not None and value != held.values()[moving.control.name]:
                held.change(**{moving.control.name: value})
                start, _, count = st.session_state[f"start_{name}"]
                st.session_state[f"start_{name}"] = (start, value, count)
                if moving.elsewhere:
                    held.run_all()
                return
    match selection.get("cell"):
        case [{"m": int(m), "l": int(lead), "i": int(i), "j": int(j)}, *_]:
            if place := cell_at(layout, m, lead, i, j):
                choose(name, (place,))


def _stop(control: Control, value: float) -> float | None:
    """A value that the control can have; None for what no browser sends."""
    try:
        return control.field.read(control.field.write(value))
    except (ValueError, TypeError):
        return None


def cell_at(layout: Layout, m: int, lead: int, i: int, j: int) -> CellPlace | None:
    """The cell of a step that a picture's row stands for; None where there is none, or where a
    question covers it.
    """
    for number, matrix in zip(numbers_of(layout.matrices), layout.matrices, strict=True):
        if number == m and not matrix.covered:
            index = (lead, i, j)[3 - matrix.step.value.ndim :]
            if matrix.step.has(index):
                return matrix.step.name, index
    return None


def choose(name: str, trail: tuple[CellPlace, ...]) -> None:
    """From a callback: open a cell in a card; if one is open in another card, that has to go."""
    values = held.values()
    if values.cell and values.beat != name:
        held.run_all()
    held.change(beat=name, cell=trail)


def _way_in(name: str, layout: Layout) -> None:
    """The keyboard's way to the arithmetic of a cell, in the picture's corner."""
    shown = [each for each in layout.matrices if not each.covered and each.step.inputs]
    covered = {each.step.name for each in layout.matrices if each.covered}
    for matrix in reversed(shown):
        if covered & {given.name for given in matrix.step.inputs}:
            continue
        first = (*matrix.lead, *(0,) * (matrix.step.value.ndim - len(matrix.lead)))
        with st.container(key=f"keys_{name}", width="content"):
            st.button(
                "Take a cell apart",
                key=f"open_{name}",
                type="tertiary",
                help="Opens the arithmetic of a cell; so does a click on it.",
                on_click=choose,
                args=(name, ((matrix.step.name, first),)),
            )
        return


def chart(name: str, made: Any, width: int = 440) -> None:
    """A picture that is no matrix: a small chart of the lesson's own, with its words; as wide as
    this, or as the card, where that is narrower.
    """
    spec = {**made.spec, "width": "container", "autosize": {"type": "fit", "contains": "padding"}}
    with st.container(width=width, key=f"chart_of_{name}"):
        st.vega_lite_chart(made.frame, spec, width="stretch", alt=made.alt, key=f"chart_{name}")
