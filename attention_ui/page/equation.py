"""An equation of heatmaps, and the arithmetic of a cell below it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from attention_core.trace import Step

from ..charts.fit import broken_into_lines, sizes_for
from ..charts.live import Lines, live_columns
from ..charts.margin import is_one_row, is_shares
from ..charts.placed import Placed
from ..charts.sizes import CellSize
from ..picture.equation_parts import NEW_LINE, Parts, laid_out
from ..picture.matrix import Matrix, Places, of_unknown_shape
from ..settings import session
from ..settings.settings import Settings
from .inspector import inspect, open_button
from .notebook_checks import matches
from .view import View


@st.fragment
def equation(view: View, name: str, *parts: Step | Matrix | str, **options: Any) -> None:
    """An equation within another part of the page, of which a chosen cell runs it alone."""
    if session.wants_whole_page():
        st.rerun()
    session.save(view.page)
    draw_equation(view, name, *parts, **options)


def draw_equation(
    view: View,
    name: str,
    *parts: Step | Matrix | str,
    build: Callable[[Settings], Parts] | None = None,
    below: Callable[[View], None] | None = None,
    sentence: bool = False,
    side_by_side: bool = False,
) -> None:
    """Matrices in a row with operators between them, and the inspector below.

    A step stands for its whole equation (see `laid_out`), a matrix for itself alone. A matrix
    before the equals sign is an operand of the one after it: a chosen cell of the result outlines,
    in each operand, the cells it was made of. `build` may make the parts anew at every run, with
    controls of its own above them; `below` may draw more that depends on the cell that is open.
    With `sentence`, the weights (query, key), or those of one query (key), are drawn on the
    sentence too; raises ValueError where there are none. What is to be compared `side_by_side` has
    smaller cells rather than another line.
    """
    view = view.now(session.current())
    parts = laid_out(parts if build is None else build(view.settings))
    matrices = [part for part in parts if isinstance(part, Matrix)]
    if sentence and not any(is_shares(each) or is_one_row(each) for each in matrices):
        has = ", ".join(f"{each.name} ({', '.join(each.axes)})" for each in matrices)
        raise ValueError(
            f"equation {name!r} has {has}: `sentence=True` draws a step on the sentence whose name "
            "ends with “weights” and whose axes are (query, key) or (key). Leave `sentence` out."
        )
    steps = [matrix.step for matrix in matrices]
    is_home = view.is_home(name, [step.name for step in steps])
    lines = _lines(parts)
    sizes = iter(sizes_for(view.trace, lines, side_by_side))
    result = parts[parts.index("=") + 1] if "=" in parts else None
    result_is_open = isinstance(result, Matrix) and view.chosen(result.step.name) is not None
    operand = 0
    placed = []
    for line in lines:
        for operator, part in line:
            if is_home:
                group = operand if result_is_open and part is not result else None
                highlighted = view.highlighted(part.step.name, group)
                part = replace(part, highlighted=highlighted, chosen=view.chosen(part.step.name))
            placed.append(_placed(view, operator, part, next(sizes)))
            operand += 1
    in_lines = broken_into_lines(view.trace, placed, list(map(len, lines)))
    draw_columns(view, name, [in_lines], first_query(view) if sentence else None)
    if below is not None:
        below(view)


def draw_columns(
    view: View, name: str, columns: Sequence[Lines], first_query: int | None = None
) -> None:
    """Matrices as one chart, in columns of lines, the notebook's mark of them, and the arithmetic
    of the open cell if it belongs here, or a way to open one.
    """
    matrices = [each.matrix for lines in columns for line in lines for each in line]
    names = list(dict.fromkeys(matrix.step.name for matrix in matrices))
    is_home = view.is_home(name, names)
    with st.container(key=f"eq_{name}"):
        _chart(view, name, columns, first_query)
    matches(view, name, [each for each in names if not view.covers_of([each])])
    last = matrices[-1]
    if is_home:
        st.session_state[session.OPEN_IN] = name
        inspect(view, name)
    elif not view.covers_of(view.revealed_by(last.step.name)):
        open_button(name, last.step, last.places.at(0, 0))


def _lines(parts: Parts) -> list[list[tuple[str, Matrix]]]:
    """The matrices of each line, each with the operator before it."""
    lines: list[list[tuple[str, Matrix]]] = [[]]
    operator = ""
    for part in parts:
        if isinstance(part, Matrix):
            lines[-1].append((operator, part))
            operator = ""
        elif part == NEW_LINE:
            lines.append([])
        else:
            operator = part
    return lines


def _placed(view: View, operator: str, matrix: Matrix, size: CellSize) -> Placed:
    """A matrix in its place. A covered one has no numbers, and no frame where its shape is what is
    asked for.
    """
    covers = view.covers_of([matrix.step.name])
    tells = not view.covers_of(view.revealed_by(matrix.step.name))
    if covers:
        matrix = replace(matrix, covered=True, as_bars=False)
    if any(cover.hides_shape for cover in covers):
        matrix = of_unknown_shape(matrix)
    return Placed(operator, matrix, size, tells)


def first_query(view: View) -> int:
    """The query whose weights the sentence shows first: that of the open cell, else the one that
    the example begins with, or the last. On a page about one query it is that one.
    """
    if not any("query" in step.axes for step in view.trace.values()):
        return view.settings.row_query
    if view.trail:
        step, index = view.trail[-1]
        axes = view.trace[step].axes
        if "query" in axes:
            return index[axes.index("query")]
    return min(view.settings.first_query, view.trace.size("query") - 1)


def _chart(view: View, beat_name: str, columns: Sequence[Lines], first_query: int | None) -> None:
    """All of it as one chart; a click on a cell opens its arithmetic."""
    chart = live_columns(view.trace, columns, first_query)
    key = f"{view.page}.{beat_name}"
    places = [
        None if each.matrix.covered else each.matrix.places
        for lines in columns
        for line in lines
        for each in line
    ]
    st.vega_lite_chart(
        chart.frame,
        chart.spec,
        width="content",
        alt=chart.alt,
        key=key,
        on_select=partial(_clicked, key, beat_name, places),
        selection_mode=["cell"],
    )


def _clicked(key: str, beat_name: str, places: list[Places | None]) -> None:
    match st.session_state[key]["selection"].get("cell"):
        case [{"matrix": int(at), "row": int(row), "column": int(column)}, *_] if (
            0 <= at < len(places) and places[at] is not None
        ):
            index = places[at].at(row, column)
            if index is not None:
                session.choose_cell(beat_name, ((places[at].step, index),))
