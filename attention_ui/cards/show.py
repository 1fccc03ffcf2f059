"""A picture in its card: pointing stays in the browser, a click takes a cell apart below it, which
runs this card alone.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from time import time_ns
from typing import Any

import pyarrow as pa
import streamlit as st
import torch

from attention_core.files.refused import ModelRefused
from attention_core.largest_effect import largest_cell
from attention_core.trace import memoized

from ..charts.chart import Chart
from ..controls.fields import CellPlace
from ..controls.lesson_session import this_session
from ..frame import hand_out
from ..frame.save_picture import save_dialog
from ..picture.layout import Layout, brief, legend_end, uncovered
from ..picture.matrix import Matrix, is_unknown
from ..picture.positions import FOLLOWS, positions
from ..picture.sentence import WORD
from ..picture.spec import GROUNDS, Stops, drawn, variant
from ..picture.table import MANY, Lists, Open, n_marks, n_slots, numbers_of, packed, table
from ..reactive import settings
from ..reactive.cache import ById, remember
from ..reactive.control import Control, Values
from ..reactive.fragments import (
    commit,
    current_fragment,
    event,
    hoverable,
    is_hovered,
    is_mounted,
    window_is,
)
from ..reactive.source import source, untracked
from ..reactive.widget import control as plain
from ..reactive.widget import is_there, sent
from ..streamlit_workarounds.room_of_control import in_room, put_empty_room
from ..words import listed
from .arithmetic import operand_groups
from .cached import cache
from .changing import (
    OfCell,
    Spot,
    changeable,
    changed_in,
    first_of,
    put_undo,
    read_by_picture,
    spot_of,
)
from .inspect_cell import inspect_cell, open_cell
from .seen import unknown_cells
from .tracked_trace import plain as untracked_trace

MOST_BYTES, MOST_NUMBERS = 300_000, 250_000
"""Of a card with all positions of its control, as text, and how many numbers those are at most:
above that the server is asked at each move.
"""
BESIDE_KEYS = 150
"""Of a phone's picture, how far a legend may go beside the buttons in its corner."""
TOO_MUCH: Lists = {"too much": {}}
"""In the place of what a control changes where it cannot be carried."""


Choosing = Callable[[CellPlace], Mapping[str, Any]]
"""The values of controls, by their names, that a click on a cell sets; none for any other cell."""


@dataclass
class Pictures:
    """What is kept of a visit's pictures, by their names."""

    places: dict[str, Any] = field(default_factory=dict)
    """Where `moves` has left room for what a picture further down carries."""
    clicks: dict[str, tuple[tuple[CellPlace, ...], int]] = field(default_factory=dict)
    """The cell that is open, and how often that has changed."""
    first: int = field(default_factory=time_ns)
    """Of views: a browser that outlives its server has those of another visit, and what was done in
    them last, which nobody heard of.
    """
    starts: dict[str, tuple] = field(default_factory=dict)
    """Of the control in it: see `_stops`."""
    stood: dict[str, Any] = field(default_factory=dict)
    """By the keys of views, also of older ones: where their controls stand, as is known here."""
    whole: set[str] = field(default_factory=set)
    """Those that a phone shows whole."""
    turned: set[str] = field(default_factory=set)
    """Those whose controls' rooms were drawn another time, and not another again."""


def _solved_or_waiting(name: str, layout: Layout) -> None:
    """Below a picture with something covered: on paper where its numbers are, else what for."""
    drawn = zip(layout.matrices, layout.narrow.boxes, strict=True)
    covered = [
        each.step.name
        for each, box in drawn
        if each.asks and not (window_is("phone") and layout.narrow.leaves_out(box.y))
    ]
    if covered and settings.values().paper and not any(map(is_unknown, layout.matrices)):
        here = (f"{name}_solved", uncovered(layout), None, None, None, True, "")
        hand_out.solve(this_session().in_card, partial(draw_picture, *here))
        st.caption("Fill in each **?**: the last sheet has them.")
    elif cards := this_session().waited_for(covered):
        st.caption(
            f"Each **?** waits for your guess at {listed([f'*{c}*' for c in cards])}, above."
        )


def put_picture(one: Any) -> None:
    """A picture that a card has yielded (`elements.Picture`)."""
    whole = one.now()
    name, layout, carries = one.name, _as_seen(one.name, whole), one.carries
    place = this_session().own(Pictures).places.pop(name, None)
    lists, drawn_at = None, None
    spot = _spot(one, layout)
    if spot and not spot.is_flag:  # in the place of its own control, while the cell is open
        carries = spot.as_control()
        drawn_at = carries.now()
        lists = _lists_at_cell(one, layout, carries)
    elif carries is not None and not _is_fixed(carries):
        source, of = read_by_picture(carries)
        drawn_at = source(of)
        lists = _lists_of(one, layout, carries, drawn_at)
    if place is not None:
        if lists is not None and carries is one.carries:
            put_empty_room(place)
        else:
            with place:
                drawn_as = one.carries.drawn_as.replace("selectbox", "select_slider")
                plain(one.carries, again=name, widget=drawn_as)  # a slider as in the picture
    carries = carries if lists is not None else None
    title = this_session().in_card
    draw_picture(
        name,
        layout,
        carries,
        lists,
        drawn_at,
        one.is_aside,
        title,
        one.choosing,
        one.tables.get(ById(whole), dict[tuple, Any], one.called),
        one.now,
        spot,
    )
    _solved_or_waiting(name, layout)


def _as_seen(name: str, layout: Layout) -> Layout:
    """A picture, on a phone without what its last lines come from, but for what may be changed and
    is in no picture above it, until somebody asks for that, or has a cell of it open.
    """
    if not window_is("phone") or _is_whole(name):
        return layout
    all_drawn = this_session().pictures
    above = [all_drawn[each][-1] for each in takewhile(lambda each: each != name, all_drawn)]
    there = {matrix.step.name for other in above for matrix in other.matrices}
    shown = brief(layout, stays=changeable().keys() - there)
    if shown is layout:
        return layout
    trail, _ = open_in(name)
    boxes = zip(layout.matrices, layout.narrow.boxes, strict=True)
    hidden = {each.step.name for each, box in boxes if shown.narrow.leaves_out(box.y)}
    return layout if hidden & {step for step, _ in trail} else shown


@source()
def _is_whole(name: str) -> bool:
    return name in this_session().own(Pictures).whole


def _show_whole(name: str) -> None:
    """From a button: all of a picture, or again what a phone has room for."""
    with event(hovered=name):
        this_session().own(Pictures).whole ^= {name}


def _lists_of(one: Any, layout: Layout, carries: Control, now: Any) -> Lists | None:
    """What the control changes, position by position, once a hand has come near it; nothing before.
    None where that is too much to carry.
    """
    at_all = stops_of(carries, settings.values(), now, "").values
    n_cells = sum(each.drawn.numel() for each in layout.matrices)
    if len(at_all) * n_cells > MOST_NUMBERS:
        return None
    known = one.lists.found(layout.narrow.cut)
    if known is None and not is_hovered(f"moves_{one.name}"):
        return {}

    def made() -> Lists:
        return _carried(layout, lambda: one.each_there(at_all))

    known = known or one.lists.get(layout.narrow.cut, made, one.called)
    return None if known == TOO_MUCH else known


def _carried(layout: Layout, there: Callable[[], Sequence[Any]]) -> Lists:
    with memoized():
        lists = positions(layout, there())
    told = sum(len(text.encode()) for each in lists.values() for text in each.values())
    return lists if told <= MOST_BYTES else TOO_MUCH


def _spot(one: Any, layout: Layout) -> Spot | None:
    """What may be changed where the open cell of a picture is."""
    page = this_session().declared
    is_meant = not one.is_aside or open_in(one.name)[1] == one.name
    trail = _trail(one.name, layout) if is_meant and page else ()
    return _spot_at(layout, trail[-1]) if trail else None


def _spot_at(layout: Layout, cell: CellPlace | None) -> Spot | None:
    page = this_session().declared
    if page is None or cell is None:
        return None
    with untracked():
        return spot_of(untracked_trace(page.trace()), layout.trace, cell)


def _lists_at_cell(one: Any, layout: Layout, cell: OfCell) -> Lists | None:
    """What a number of a matrix changes, at each position of its slider, once a hand has come near
    it. Kept by all that it depends on, which the number itself is not.
    """
    page = this_session().declared
    at_all = stops_of(cell, settings.values(), cell.drawn, "").values
    n_cells = sum(each.drawn.numel() for each in layout.matrices)
    if len(at_all) * n_cells > MOST_NUMBERS:
        return None
    if not is_hovered(f"moves_cell_{one.name}"):
        return {}
    card = page.drawing

    def there() -> list[Layout]:
        values = settings.values()
        return [card.layout_with(one.name, cell.among(values, value)) for value in at_all]

    # Of the picture as it stands, positions take no more than for how many decimals it has room.
    room = tuple(box.decimals for one in (layout.wide, layout.narrow) for box in one.boxes)
    drawn = (room, layout.narrow.cut)
    what = ("positions", page.name, card.name, one.name, cell.name, at_all, drawn, card.identity)
    lists = cache.get(what, lambda: _carried(layout, there), lambda _: MOST_BYTES)
    return None if lists == TOO_MUCH else lists


def draw_picture(name: str, *given: Any) -> None:
    """What `_drawn` draws, or what stops it: the file that a number stands in has changed."""
    try:
        _drawn(name, *given)
    except ModelRefused as error:
        st.text(f"This cannot be taken apart: {error}.")
        st.button("Look again", key=f"look_again_{name}")


def _drawn(
    name: str,
    layout: Layout,
    carries: Control | None,
    lists: Lists | None,
    drawn_at: Any,
    is_aside: bool,
    title: str,
    choosing: Choosing | None = None,
    tables: dict | None = None,
    moved: Callable[[], Layout] | None = None,
    spot: Spot | None = None,
) -> None:
    """A layout, with the control that it carries, and the cell that is open in it. `moved` gives it
    at the control's place now: when the browser has moved it, nothing is drawn anew.
    """
    hoverable(name)
    _, section = open_in(name)
    is_meant = not is_aside or section == name
    trail = _trail(name, layout) if is_meant else ()
    # Also of a link that names another picture: where that has not the cell, this one may open it.
    has = is_meant and _has(layout, settings.values().unread("cell") or ())
    this_session().cells.append((name, has, bool(trail)))
    tells_all = bool(lists) and FOLLOWS not in (lists or {})
    drawn_from = (moved or (lambda: layout), carries, tells_all, choosing, layout)
    this_session().pictures[name] = drawn_from
    opened = _opened(layout, trail)
    now = stops_of(carries, settings.values(), drawn_at, "").position(drawn_at) if carries else 0
    chosen = (opened, lists, now, _clicks(name, trail))
    tables = {} if tables is None else tables
    moves_so = ById(lists) if lists else lists is None
    key = (opened, moves_so, now, drawn_at, chosen[-1], layout.narrow.cut)
    told = is_hovered(f"picture_{name}")
    if (True, key) not in tables and (told, key) not in tables:
        remember(tables, (told, key), _table(layout, *chosen, told))
    rows, marks, slots = tables.get((True, key)) or tables[told, key]
    theme, paper = st.context.theme.type, settings.values().paper
    look = (layout.alt, layout.tells, layout.sentence is not None, paper)
    look += variant(marks, theme, slots)
    stops, count = None, this_session().own(Pictures).first
    if carries:
        stops, count = _stops(name, carries, look, drawn_at)
    view, moves_now = f"chart_{name}_{count}", carries.name if carries else None
    whole = st.container(key=f"picture_{name}", gap=None)
    first, undoes = first_of(layout), changed_in(layout, spot)
    changes = first if _spot_at(layout, first) else None
    # Words of a sentence, or a legend, may end in the corner: many buttons stand below the picture.
    is_cut = any(layout.narrow.cut)
    is_whole = _is_whole(name) and window_is("phone")
    is_wide = legend_end(layout.narrow) > BESIDE_KEYS
    below = not layout.matrices or bool(changes or undoes) or is_cut or is_whole
    below = below or (is_wide and window_is("phone"))
    keys: dict[str, Any] = {"horizontal": True, "vertical_alignment": "center"}
    right = {"horizontal_alignment": "right", **keys}
    corner = st.container(key=f"keys_below_{name}", **right) if below else None
    if trail:  # before the picture: the browser puts the slider of a number into its room there
        inspect_cell(name, layout.trace, trail, spot, carries is not None)
    with whole:
        # How high it is in a window and on a phone, in the order that `cards.css` knows them by.
        for arrangement in (layout.wide, layout.narrow):
            st.space(round(arrangement.height) + 8)
        with st.container(key=f"drawn_{name}", height="stretch"):
            st.vega_lite_chart(
                rows,
                drawn(marks, stops, theme, slots, layout.sentence is not None, paper, layout.tells),
                width="stretch",
                height="stretch",
                theme=None,
                key=view,
                on_select=partial(_told, name, view, current_fragment(), moves_now),
                selection_mode=["cell", "step"] if stops else ["cell"],
                alt=layout.alt,
            )
    with corner or whole.container(key=f"keys_{name}", width="content", **keys):
        if undoes:
            put_undo(name, undoes)
        if is_cut or is_whole:
            words, more = "Show less" if is_whole else "Show all", {"on_click": _show_whole}
            st.button(words, key=f"all_of_{name}", type="tertiary", args=(name,), **more)
        if not trail:
            _way_in(name, layout, changes)
        if st.button("Save picture", key=f"save_{name}", type="tertiary"):
            is_covered = any(each.asks for each in layout.matrices)
            save_dialog(name, title, marks > MANY, is_covered, GROUNDS)


def _table(layout: Layout, *chosen: Any) -> tuple[pa.Table, int, int]:
    """The table of a picture, how many of its rows are drawn, and of how many rectangles a cell is
    made.
    """
    rows = packed(table(layout, *chosen))
    return rows, n_marks(rows), n_slots(rows)


def _trail(name: str, layout: Layout) -> tuple[CellPlace, ...]:
    """The way to the open cell, where it is open in this card and none of it is covered."""
    trail, section = open_in(name)
    drawn_here = {each.step.name for each in layout.matrices}
    if not _has(layout, trail):
        return ()
    # A link that names no card means the first that draws the cell.
    if not section and (trail[0][0] not in drawn_here or this_session().is_open_elsewhere(name)):
        return ()
    for step, index in trail:
        unknown = unknown_cells(layout.trace[step])
        if unknown is not None and unknown[index]:
            return ()
    return trail


@source()
def open_in(name: str) -> tuple[tuple[CellPlace, ...], str]:
    """The way to the cell that is open in this picture, or may be, and the picture that the link
    names; nothing where it names another.
    """
    values = settings.values()
    cell, section = values.unread("cell") or (), values.unread("section")
    return (cell, section) if cell and section in ("", name) else ((), "")


def _has(layout: Layout, trail: Sequence[CellPlace]) -> bool:
    """Whether all cells of a trail are cells of what a picture draws, or what that is made of."""
    if not trail:
        return False
    trace, drawn = layout.trace, {each.step for each in layout.matrices}
    known = {each.name for each in drawn}.union(*(each.earlier() for each in drawn))
    return all(step in known & {*trace} and trace[step].has(index) for step, index in trail)


def _clicks(name: str, trail: tuple[CellPlace, ...]) -> int:
    """How often the open cell of a card has changed: Streamlit's browser reports no choice that is
    the same as the last, though the cell may have been closed meanwhile.
    """
    clicks = this_session().own(Pictures).clicks
    last, count = clicks.get(name, ((), 0))
    if last != trail:
        count += 1
    clicks[name] = (trail, count)
    return count


def _opened(layout: Layout, trail: Sequence[CellPlace]) -> Open | None:
    if not trail:
        return None
    step, index = trail[-1]
    groups = operand_groups(layout.trace[step].arithmetic(index))
    return trail[-1], frozenset((cell.step, cell.index) for group in groups for cell in group)


def _stops(name: str, control: Control, look: tuple, drawn_at: Any) -> tuple[Stops, int]:
    """The control in a picture, and how often its view had to be built anew. Its start stays as it
    was while a hand moves it, since with another the browser would build the view anew; that has
    to be where something else changed the value. For another `look`, as where matrices have other
    names, the browser does so by itself: then the control has to start where it stands.
    """
    mine, value = this_session().own(Pictures), drawn_at
    offered = (control.name, look, *control.choices(settings.values()))
    start, count, before = mine.starts.get(name, (value, mine.first, offered))
    is_moved = mine.stood.get(f"chart_{name}_{count}", value) != value
    if not is_mounted(f"start_{name}") or is_moved or before != offered:
        start, count = value, count + 1
    mine.starts[name] = (start, count, offered)
    mine.stood[f"chart_{name}_{count}"] = value
    room = f"cell_{name}" if isinstance(control, OfCell) else name
    return stops_of(control, settings.values(), start, in_room(f"moves_{room}")), count


def stops_of(control: Control, values: Values, start: Any, place: str) -> Stops:
    """The positions of a control: those of its field, as far as it has choices now."""
    label = f"{control.label} ({control.hint})" if control.hint else control.label
    choices = sorted(control.choices(values))
    if choices and choices != [*range(int(choices[0]), int(choices[-1]) + 1)]:
        last, uneven = len(choices) - 1, tuple(choices)
        at = uneven.index(start) if start in uneven else last
        return Stops(label, 0, last, 1, at, place, uneven)
    least, most = (
        (choices[0], choices[-1]) if choices else (control.field.least, control.field.most)
    )
    step = control.look.get("step", choices[1] - choices[0] if len(choices) > 1 else 1)
    return Stops(label, least, most, step, start, place)


def _is_fixed(control: Control) -> bool:
    """Whether nobody can change it here."""
    return control.name in settings.fixed() or settings.values().paper


def moves(name: str, control: Control, width: int = 170, told: bool = True) -> None:
    """The place of a control that the picture of this name carries, among the card's controls.
    Where the picture cannot carry it, it is a control as any other.

    Its number stands beside it, unless it would be no more than a place among others (`told` off):
    then the picture says in words where it stands.
    """
    if _is_fixed(control):
        plain(
            control, again=name, width=width
        )  # as what a teacher's link fixes is drawn everywhere
        return
    mine = this_session().own(Pictures)
    mine.turned ^= {name}
    # Of one thing a gap is none; by another gap the browser sees that it was drawn anew.
    gap = "small" if name in mine.turned else "xsmall"
    around = nullcontext() if told else st.container(key=f"untold_{name}", width=width)
    with around:
        mine.places[name] = st.container(
            key=f"moves_{name}", width=width if told else "stretch", gap=gap
        )


def _told(name: str, key: str, part: str, moves: str | None) -> None:
    """What the browser reports of a picture: a cell that was clicked on, or where the control rests
    that it carried then. Another view of it may have come since, which has not moved. Whatever is
    reported, all of it is said: what stands as it stood in that view was not touched.
    """
    # Not an argument: Streamlit keeps the callbacks of widgets that are gone.
    if name not in this_session().pictures or not is_there(key):
        return  # a picture of a page that is left
    layout_now, carries, tells_all, choosing, _ = this_session().pictures[name]
    selection = sent(key)["selection"]
    match selection.get("step"):
        case [{"value": int() | float() as value}, *_] if carries and carries.name == moves:
            mine = this_session().own(Pictures)
            start, count, _ = mine.starts[name]
            value = _stop(carries, stops_of(carries, settings.values(), start, "").value(value))
            if value is not None and value != mine.stood.get(key):
                mine.stood[key] = value
                with event(hovered=name, fragment=part):
                    is_done = settings.change(**carries.setting(value))
                    if key == f"chart_{name}_{count}":
                        source, of = read = read_by_picture(carries)
                        # None: a number that stands again as it was before any change.
                        is_taken = is_done and source.now(of) in (value, None)
                        commit(part, read, is_taken and tells_all)
                return
    match selection.get("cell"):
        case [{"m": int(m), "l": int(lead), "i": int(i), "j": int(j)}, *_]:
            layout = layout_now()
            place, one = cell_at(layout, m, lead, i, j), layout.sentence
            is_word = place is None and one is not None and 0 <= j < len(one.tokens)
            asked = (WORD, (one.place + j,)) if is_word else place
            if asked and choosing and (chosen := choosing(asked)):
                with event(hovered=name, fragment=part):
                    settings.change(**chosen)
            elif place:
                open_cell(name, (place,))


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
            if matrix.step.has(index) and not (matrix.hidden is not None and matrix.hidden[index]):
                return matrix.step.name, index
    return None


def _way_in(name: str, layout: Layout, changes: CellPlace | None) -> None:
    """The keyboard's way to the arithmetic of a cell, in the picture's corner, and to one that it
    `changes`.
    """
    if changes:
        is_flag = layout.trace[changes[0]].value.dtype == torch.bool
        st.button(
            "Flip a cell" if is_flag else "Change a number",
            key=f"change_{name}",
            type="tertiary",
            help="Opens a cell that you can change; so does a click on one.",
            on_click=open_cell,
            args=(name, (changes,)),
        )
    for matrix in reversed([each for each in layout.matrices if each.step.inputs]):
        if matrix.covered or (first := first_cell(layout, matrix)) is None:
            continue
        st.button(
            "Take a cell apart",
            key=f"open_{name}",
            type="tertiary",
            help="Opens the arithmetic of a cell; so does a click on it.",
            on_click=open_cell,
            args=(name, ((matrix.step.name, first),)),
        )
        return


def first_cell(layout: Layout, matrix: Matrix) -> tuple[int, ...] | None:
    """The cell of a matrix that is opened first: the largest; where a query is asked, or its arcs
    are shown, the largest of its row, since the words speak of it. None where it may not be told.
    """
    first = _first_cell(layout, matrix)
    if matrix.untold is None or not matrix.untold[first]:
        return first
    told = ~matrix.picked(matrix.untold[matrix.lead])
    place = largest_cell(matrix.drawn.masked_fill(~told, 0))
    picked = (matrix.rows, matrix.columns, *(None,) * len(place))
    place = (*matrix.lead, *(of[at] if of else at for at, of in zip(place, picked, strict=False)))
    return None if matrix.untold[place] else place


def _first_cell(layout: Layout, matrix: Matrix) -> tuple[int, ...]:
    one, axes, value = layout.sentence, matrix.step.axes, matrix.step.value
    is_of_queries = axes[-2:-1] == ("query",) and len(matrix.lead) <= len(axes) - 2
    if is_of_queries and (one is not None or matrix.asked):
        asked = matrix.rows[matrix.asked] if matrix.rows else matrix.asked
        query = (asked if one is None else one.first if one.asks is None else one.asks,)
        lead = (*matrix.lead, *(0,) * (value.ndim - 2 - len(matrix.lead)))
        return *lead, *query, *largest_cell(value[(*lead, *query)])
    place = largest_cell(matrix.drawn)
    picked = (matrix.rows, matrix.columns, *(None,) * len(place))
    return *matrix.lead, *(of[at] if of else at for at, of in zip(place, picked, strict=False))


def chart(name: str, made: Chart, width: int | None = 440, height: int = 0) -> None:
    """A picture that is no matrix: a small chart of the lesson's own, with its words; as wide as
    this, or as the card, where that is narrower; and as high, its labels and its legend included.
    None leaves it the width that it says itself.
    """
    if width is None:
        look: dict[str, Any] = {"width": "content", "alt": made.alt, "key": f"chart_{name}"}
        st.vega_lite_chart(made.frame, made.spec, **look)
        return
    spec = fitted(made, height)
    by_rows, tall = fills(made), spec.get("height")
    # Said before the chart is there, so that nothing below it moves when it comes.
    is_said = spec["autosize"]["type"] == "fit" and isinstance(tall, int)
    look = {"width": "stretch", "height": tall if is_said else "content"}
    look |= {"alt": made.alt, "key": f"chart_{name}"}
    with st.container(width=width, key=f"{'fills_' if by_rows else ''}chart_of_{name}"):
        st.vega_lite_chart(made.frame, spec, **look)


def fills(made: Chart) -> bool:
    """Whether a chart is as high as it has rows."""
    kind = made.spec.get("autosize", {}).get("type")
    return kind == "fit-x" or (kind != "fit" and made.spec.get("width") == "container")


def fitted(made: Chart, height: int = 0) -> dict:
    """The specification of a chart as wide as its room, and as high as this if it is named."""
    has_steps = isinstance(made.spec.get("height"), dict)
    fit = "fit-x" if fills(made) or has_steps else "fit"
    spec = {**made.spec, "width": "container", "autosize": {"type": fit, "contains": "padding"}}
    spec["padding"] = {"left": 2, "top": 2, "right": 2, "bottom": 2}  # Streamlit adds 20 below
    if has_steps:  # a height for each row: Vega says on the console that it cannot fit that
        drawn = [each.get("encoding", {}) for each in (made.spec, *made.spec.get("layer", ()))]
        field = next(each["y"]["field"] for each in drawn if "y" in each)
        height = len({str(each) for each in made.frame[field]}) * made.spec["height"]["step"]
    return spec | ({"height": height} if height else {})
