"""An equation of heatmaps, and the arithmetic of a cell below it."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from attention_core.trace import Step

from ..charts.equation_parts import NEW_LINE, Parts, laid_out
from ..charts.fit import band_above, size_for
from ..charts.heatmap import heatmap
from ..charts.matrix import Matrix, Places
from ..charts.sizes import CellSize
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
) -> None:
    """Matrices in a row with operators between them, and the inspector below.

    A step stands for its whole equation (see `laid_out`), a matrix for itself alone. A matrix
    before the equals sign is an operand of the one after it: a chosen cell of the result outlines,
    in each operand, the cells it was made of. `build` may make the parts anew at every run, with
    controls of its own above them; `below` may draw more that depends on the cell that is open.
    """
    view = view.now(session.current())
    parts = laid_out(parts if build is None else build(view.settings))
    matrices = [part for part in parts if isinstance(part, Matrix)]
    steps = [matrix.step for matrix in matrices]
    is_home = view.is_home(name, [step.name for step in steps])
    lines = _lines(parts)
    sizes = [size_for(view.trace, [part for _, part in line]) for line in lines]
    size = min(sizes, key=lambda each: (each.font > 0, each.width))
    result = parts[parts.index("=") + 1] if "=" in parts else None
    result_is_open = isinstance(result, Matrix) and view.chosen(result.step.name) is not None
    operand = 0
    with st.container(gap="small", key=f"eq_{name}"):
        for line in lines:
            band = max(band_above(view.trace, part, size) for _, part in line)
            with st.container(horizontal=True, vertical_alignment="center", gap=None):
                for operator, part in line:
                    if is_home:
                        group = operand if result_is_open and part is not result else None
                        highlighted = view.highlighted(part.step.name, group)
                        part = replace(
                            part, highlighted=highlighted, chosen=view.chosen(part.step.name)
                        )
                    _draw(view, name, part, size, operator, band)
                    operand += 1
    matches(view, name, [step.name for step in steps])
    if is_home:
        st.session_state[session.OPEN_IN] = name
        inspect(view, name)
    elif not view.covers_of(view.revealed_by(steps[-1].name)):
        open_button(name, steps[-1], matrices[-1].lead)
    if below is not None:
        below(view)


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


def _draw(
    view: View, beat_name: str, matrix: Matrix, size: CellSize, operator: str, band: int
) -> None:
    """One matrix; a click on a cell opens its arithmetic. A covered one has no numbers, and no
    frame where its shape is what is asked for.
    """
    covers = view.covers_of([matrix.step.name])
    hides_shape = any(cover.hides_shape for cover in covers)
    key = f"{view.page}.{beat_name}.{matrix.step.name}.{matrix.key}"
    if covers:
        with st.container(
            border=hides_shape,
            width="content",
            key=f"covered_{beat_name}_{matrix.step.name}_{matrix.key}",
        ):
            if hides_shape:
                st.markdown(f"{operator} **`{matrix.name}`** :material/question_mark:")
            else:
                frame = replace(matrix, covered=True, as_bars=False)
                chart = heatmap(view.trace, frame, size, operator, band)
                st.vega_lite_chart(chart.frame, chart.spec, width="content", alt=chart.alt)
        return
    chart = heatmap(view.trace, matrix, size, operator, band)
    st.vega_lite_chart(
        chart.frame,
        chart.spec,
        width="content",
        alt=chart.alt,
        key=key,
        on_select=partial(_clicked, key, beat_name, matrix.places),
    )


def _clicked(key: str, beat_name: str, places: Places) -> None:
    match st.session_state[key]["selection"].get("cell"):
        case [{"row": int(row), "column": int(column)}, *_]:
            index = places.at(row, column)
            if index is not None:
                session.choose_cell(beat_name, ((places.step, index),))
