"""A number is changed where it is seen, by slider, typing, or all at once, if controls say."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st
import torch

from attention_core.expression import Cell, Picked
from attention_core.operations import Edit
from attention_core.trace import Step, Trace

from ..controls.fields import LARGEST_ENTRY, CellPlace, Edits, Places, entry
from ..controls.lesson_session import this_session
from ..picture.changed import changed_cells
from ..picture.layout import Layout
from ..reactive import settings
from ..reactive.control import Control, Values
from ..reactive.fields import Decimal
from ..reactive.fragments import event, is_mounted
from ..reactive.source import Read, source
from ..reactive.widget import put_in, sent
from ..streamlit_workarounds.room_of_control import put_empty_room
from ..words import true_minus

LEAST, SIDE = 2.0, 20
"""How far a slider goes to each side at least, and in how many steps."""
MOST_PASTED, MOST_QUOTED = 1_024, 20
"""Numbers of a matrix that can be typed at once, and characters that are quoted of a wrong one."""
Change = Callable[[Any], Mapping[str, Any]]
"""The values of controls, by their names, that stand for something typed. Raises ValueError."""


@dataclass(frozen=True)
class OfCell(Control):
    """One number of a matrix as a control. All that were changed there are the value of `edits`."""

    edits: str = ""
    place: tuple[int, int] = (0, 0)
    drawn: float = 0.0
    """The number before any change."""

    def setting(self, value: float) -> dict[str, Any]:
        others = _others(settings.values().unread(self.edits), self.place)
        is_as_before = math.isclose(value, self.drawn, rel_tol=1e-6, abs_tol=1e-12)
        return {self.edits: (*others, *([] if is_as_before else [(*self.place, value)]))}

    def now(self) -> float:
        """The number as it is: what was typed, or the one before any change."""
        changed = number(self.name)
        return self.drawn if changed is None else changed

    def among(self, values: Values, value: float) -> Values:
        """These values with another number here, of which only what was typed elsewhere is read."""
        others = _other_numbers(self.name)
        return values.but(**{self.edits: (*others, (*self.place, value))})


def read_by_picture(control: Control) -> Read:
    """What a picture that carries a control reads of it."""
    return (number if isinstance(control, OfCell) else settings.in_picture), control.name


def _others(edits: Sequence[tuple], place: tuple[int, int]) -> tuple:
    return tuple(each for each in edits if each[:2] != place)


def _edits_and_place(name: str) -> tuple[tuple, tuple[int, int]]:
    edits, row, column = name.rsplit(".", 2)
    return settings.values().unread(edits), (int(row), int(column))


@source()
def number(cell: str) -> float | None:
    """What a number was changed to: the browser that moved it shows it already."""
    edits, place = _edits_and_place(cell)
    return next((number for *at, number in edits if tuple(at) == place), None)


@source()
def _other_numbers(cell: str) -> tuple:
    return _others(*_edits_and_place(cell))


@dataclass
class Wrong:
    """What was typed below a picture and cannot be used."""

    typed: dict[str, tuple[str, str, str] | None] = field(default_factory=dict)
    """By the name of the picture: of which number or matrix, the text, and why."""


@source(own=True)
def _wrong(picture: str) -> tuple[str, str, str] | None:
    return this_session().own(Wrong).typed.get(picture)


def changeable() -> dict[str, Control]:
    """The controls that change the cells of a step, by its name, that nobody has fixed."""
    fixed = settings.fixed()
    every = () if settings.values().unread("paper") else this_session().controls
    return {each.changes: each for each in every if each.changes and each.name not in fixed}


@dataclass(frozen=True)
class Spot:
    """A number that may be changed: that of a cell, or the one that the cell is a copy of."""

    control: Control
    matrix: Step
    index: tuple[int, int]

    @property
    def is_flag(self) -> bool:
        """Whether it is true or false, as in a mask."""
        return isinstance(self.control.field, Places)

    def as_control(self) -> OfCell:
        """It as a control, whose ends are round and hold all numbers of the matrix."""
        matrix = self.matrix
        before = matrix.inputs[0] if isinstance(matrix.operation, Edit) else matrix
        name = ".".join([self.control.name, *map(str, self.index)])
        sizes = before.value.abs().nan_to_num(0.0, 0.0)
        least = self.control.look.get("reach", LEAST)
        most = max(least, 1.5 * float(sizes.max()), abs(number.now(name) or 0.0))
        power = 10.0 ** math.floor(math.log10(most))
        end = next(each * power for each in (1, 2, 4, 10) if each * power > most * 0.999999)
        return OfCell(
            name,
            Decimal(-min(end, LARGEST_ENTRY), min(end, LARGEST_ENTRY)),
            "Change this number",
            look={"step": round(min(end, LARGEST_ENTRY) / SIDE, 6)},
            edits=self.control.name,
            place=self.index,
            drawn=float(f"{before.number(self.index):.7g}"),
        )


def spot_of(own: Trace, trace: Trace, cell: CellPlace) -> Spot | None:
    """What may be changed where a cell is a number of a matrix of the page's `own`, or a copy."""
    known, (name, index) = changeable(), cell
    step = trace[name]
    while known and step.name not in known:
        made = step.arithmetic(index)
        if not isinstance(made, Cell | Picked):
            return None
        copied = made if isinstance(made, Cell) else made.chosen
        step, index = trace[copied.step], copied.index
    if not known or step.name not in own or own[step.name].operation != step.operation:
        return None
    return Spot(known[step.name], step, index) if _may_be_typed(known[step.name]) else None


def _may_be_typed(control: Control) -> bool:
    """Whether the lesson has the very matrix that a control is of: then its first cell is there."""
    is_typed = isinstance(control.field, Edits) and control.check is not None
    return not (is_typed and control.check(((0, 0, 0.0),), settings.values()))


def first_of(layout: Layout) -> CellPlace | None:
    """The cell to change first: the largest of the first such matrix; of a mask, the last."""
    known = changeable()
    for each in layout.matrices:
        control = known.get(each.step.name)
        if control and not each.covered and _may_be_typed(control):
            value = each.step.value
            hidden = (~value).flatten().nonzero() if value.dtype == torch.bool else ()
            at = int(hidden[-1]) if len(hidden) else int(value.float().abs().argmax())
            return each.step.name, divmod(at, value.shape[-1])
    return None


def changed_in(layout: Layout, spot: Spot | None = None) -> list[str]:
    """The controls of what was changed in what a picture draws, and where its open cell is."""
    drawn = [each.step for each in layout.matrices if changed_cells(each.step) is not None]
    names = {name for step in drawn for name in (step.name, *step.earlier())}
    known = changeable()
    found = [control.name for step, control in known.items() if step in names]
    also = [spot.control.name] if spot and settings.values().unread(spot.control.name) else []
    return [*dict.fromkeys((*(found if drawn else ()), *also))]


def put_room(name: str, spot: Spot, is_carried: bool) -> None:
    """Beside the arithmetic of the open cell of a picture: a slider and a box for its number."""
    if spot.is_flag:
        told = "Hide this key" if spot.matrix.value[spot.index] else "Let it look"
        st.button(told, key=f"flip_{name}", on_click=_flip, args=(name, spot))
        return
    one = spot.as_control()
    place = st.container(key=f"moves_cell_{name}")
    if is_carried:
        put_empty_room(place)
    else:
        key, step = f"slide_{name}_{one.field.most:g}", one.look["step"]
        ends = {"min_value": one.field.least, "max_value": one.field.most, "step": step}
        _keep(key, one.now())
        place.slider(one.label, key=key, on_change=_used, args=(name, key, one.setting), **ends)
    key = f"number_{name}"
    wrong = _wrong(name)
    typed = wrong[1] if wrong and wrong[0] == one.name else _plain(one.now())
    _keep(key, typed)
    exact = partial(_exact, one)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        used: dict[str, Any] = {"on_change": _used, "args": (name, key, exact, one.name)}
        st.text_input("Or type it", key=key, width=100, **used)
        back = {"on_click": _set, "args": (name, one.setting(one.drawn))}
        as_before = number(one.name) is None
        label = f"Back to {true_minus(_plain(one.drawn))}"
        st.button(label, key=f"back_{name}", disabled=as_before, **back)
    if wrong and wrong[0] == one.name:
        _say(wrong[2])


def put_whole(name: str, spot: Spot) -> None:
    """All numbers of the matrix as a text, to be typed or pasted over."""
    matrix = spot.matrix
    if spot.is_flag or matrix.value.numel() > MOST_PASTED:
        return
    fold = st.expander(f"All of `{matrix.name}`", key=f"whole_{name}", on_change="rerun")
    if not fold.open:
        return
    wrong, key = _wrong(name), f"all_{name}"
    rows = "\n".join("  ".join(map(_plain, row)) for row in matrix.value.tolist())
    is_wrong = bool(wrong) and wrong[0] == matrix.name
    _keep(key, wrong[1] if is_wrong else rows)
    read = partial(_read_all, spot)
    with fold:
        st.text_area(
            "One row of the matrix per line, as a spreadsheet or torch gives them",
            key=key,
            height=min(400, 60 + 24 * len(matrix.value)),
            on_change=_used,
            args=(name, key, read, matrix.name),
        )
        if is_wrong:
            _say(wrong[2])


def put_undo(name: str, controls: Sequence[str]) -> None:
    """In a picture's corner: back to all numbers as they were, of what was changed in it."""
    undone: dict[str, Any] = dict.fromkeys(controls, ())
    look = {"key": f"undo_{name}", "type": "tertiary", "icon": ":material/undo:"}
    st.button("Undo your changes", on_click=_set, args=(name, undone), **look)


def _plain(number: float) -> str:
    return f"{number:.7g}"


def _say(problem: str) -> None:
    st.markdown(":red[:material/error:] :red[Not applied:]")
    st.text(problem)


def _keep(key: str, value: Any) -> None:
    """What a widget shows, set only where it differs: else a slider goes back under the hand."""
    there = sent(key)
    is_close = isinstance(value, float) and isinstance(there, float)
    is_same = math.isclose(there, value, rel_tol=1e-6) if is_close else there == value
    if not is_mounted(key) or not is_same:
        put_in(key, value)


def _exact(one: OfCell, text: str) -> Mapping[str, Any]:
    return one.setting(_number_in(text.strip().replace("−", "-")))


def _number_in(text: str) -> float:
    try:
        return entry(text)
    except ValueError as error:
        raise ValueError(f"“{text[:MOST_QUOTED]}” cannot stand here: {error}") from None


def _read_all(spot: Spot, text: str) -> Mapping[str, Any]:
    """The numbers of a matrix as a person has them: in lines, with commas, in brackets."""
    matrix = spot.matrix
    n_rows, n_columns = matrix.value.shape
    bare = re.sub(r"tensor|array|dtype=\S+|[\[\](),;|]", " ", text.replace("−", "-"))
    numbers = [*map(_number_in, bare.split())]
    if len(numbers) != n_rows * n_columns:
        raise ValueError(
            f"these are {len(numbers):,} numbers, and {matrix.name} has {n_rows} rows of "
            f"{n_columns}: {n_rows * n_columns:,}"
        )
    before = matrix.inputs[0] if isinstance(matrix.operation, Edit) else matrix
    drawn = before.value.flatten().tolist()
    places = [divmod(at, n_columns) for at in range(len(numbers))]
    changed = tuple(
        (*place, number)
        for place, number, was in zip(places, numbers, drawn, strict=True)
        if not math.isclose(number, was, rel_tol=1e-6, abs_tol=1e-12)
    )
    return {spot.control.name: changed}


def _used(name: str, key: str, change: Change, what: str = "") -> None:
    """From a callback of a widget below a picture: use what it holds, or say why it cannot be."""
    there = sent(key)
    if there is None:
        return
    try:
        setting = change(there)
    except (ValueError, TypeError) as error:
        _refuse(name, (what, str(there), true_minus(f"{error}.")))
    else:
        _set(name, setting, (what, str(there)))


def _flip(name: str, spot: Spot) -> None:
    flips = {*settings.values().unread(spot.control.name)} ^ {spot.index}
    _set(name, {spot.control.name: tuple(sorted(flips))})


def _set(name: str, setting: Mapping[str, Any], typed: tuple[str, str] = ("", "")) -> None:
    """From a callback: change values, or say what stops them from being used."""
    known = {each.name: each.field for each in this_session().controls}
    if not setting.keys() <= known.keys():
        return  # what was pressed stood on a page that is left
    texts = {each: known[each].write(value) for each, value in setting.items()}
    with event(hovered=name):
        problem = settings.try_to_choose(texts)
        _refuse(name, (*typed, problem) if problem else None)


def _refuse(name: str, wrong: tuple[str, str, str] | None) -> None:
    with event(hovered=name):
        this_session().own(Wrong).typed[name] = wrong
