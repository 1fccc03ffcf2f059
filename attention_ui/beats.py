"""A beat of a lesson: a heading that is a tensor's name, the equation it is, what to look for."""

from dataclasses import replace

import streamlit as st

from . import session
from .charts.heatmap import Matrix, band_above, heatmap
from .inspector import inspect
from .view import View


def beat(view: View, name: str, heading: str, words: str, *parts: Matrix | str) -> None:
    """Draw one beat: heading, the step's formula and shape, what to look for, the equation.

    `parts` are matrices and the operators between them; the first one without a step of its own
    after an operator stands alone. The arithmetic of a cell that was chosen here opens below.
    """
    st.header(heading, anchor=name)
    with st.container(width=760):
        st.markdown(words)
    equation(view, name, *parts)


def equation(view: View, name: str, *parts: Matrix | str) -> None:
    """Matrices in one row with operators between them, and the inspector below.

    A matrix before the equals sign is an operand of the one after it: choosing a cell of the
    result outlines, in each operand, the cells it was made of.
    """
    matrices = [part for part in parts if isinstance(part, Matrix)]
    band = max(band_above(view.trace, matrix, view.size) for matrix in matrices)
    result = parts[parts.index("=") + 1] if "=" in parts else None
    operand = 0
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"eq_{name}"):
        operator = ""
        for part in parts:
            if isinstance(part, str):
                operator = part
                continue
            of_result = isinstance(result, Matrix) and view.chosen(result.step.name) is not None
            is_operand = of_result and part is not result
            draw(view, name, part, operator, band, operand if is_operand else None)
            operand += 1
            operator = ""
    inspect(view, name, [matrix.step for matrix in matrices])


def draw(
    view: View, beat_name: str, matrix: Matrix, operator: str, band: int, operand: int | None
) -> None:
    """One matrix, with what is chosen outlined; a click on a cell opens its arithmetic."""
    step = matrix.step.name
    lit = replace(matrix, lit=view.lit(step, operand), chosen=view.chosen(step))
    chart = heatmap(view.trace, lit, view.size, operator, band)
    key = f"{view.page}.{beat_name}.{step}.{matrix.key}"
    st.vega_lite_chart(
        chart.frame,
        chart.spec,
        width="content",
        alt=chart.alt,
        key=key,
        on_select=lambda: _clicked(key, beat_name, matrix),
    )


def _clicked(key: str, beat_name: str, matrix: Matrix) -> None:
    picked = st.session_state[key]["selection"].get("cell") or []
    if not picked:
        return
    row, column = int(picked[0]["row"]), int(picked[0]["column"])
    index = (column, row) if matrix.transposed else (row, column)
    if matrix.rows is not None:
        index = (matrix.rows[index[0]], index[1])
    index = index[: matrix.step.value.ndim]
    if matrix.step.has(index):
        session.change(beat=beat_name, cell=((matrix.step.name, index),))
