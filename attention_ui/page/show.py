"""Small things that pages draw."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import streamlit as st

from ..charts.chart import Chart
from ..settings import session
from ..streamlit_workarounds.player import player
from .view import View

LONGEST = 400
"""Characters of a line of a program that is broken: ten lines of a phone."""


def show(chart: Chart, key: str | None = None) -> None:
    """A chart that only shows, with its text alternative."""
    st.vega_lite_chart(chart.frame, chart.spec, width="content", alt=chart.alt, key=key)


def show_played(
    chart: Chart, key: str, called: str = "Play the training", pace: int = 180, one: str = ""
) -> None:
    """A chart with a slider of its own, and buttons that play it in the browser, `called` so by
    those who cannot see them. A picture stands for `pace` milliseconds and shows `one`
    of something.
    """
    with st.container(key=key):
        player(key, called, pace, one)
        show(chart)


def show_program(code: str) -> None:
    """A program, its lines broken where the page is narrower. Where one holds a large tensor they
    are not: broken, it would be pages high.
    """
    longest = max(map(len, code.splitlines()), default=0)
    st.code(code, language="python", wrap_lines=longest <= LONGEST)


def formulas(*each: str) -> None:
    """Formulas beside each other, or below each other where the page is too narrow for that."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        for formula in each:
            st.latex(formula, width="content")


def show_within(chart: Chart, width: int) -> None:
    """A chart without a width of its own, as wide as this or as the page, if that is narrower."""
    with st.container(width=width):
        st.vega_lite_chart(chart.frame, chart.spec, width="stretch", alt=chart.alt)


@contextmanager
def folded(label: str, key: str, icon: str | None = None) -> Iterator[bool]:
    """A part that is folded away and costs nothing until it is opened, or a link opens a cell of
    the equation of that name in it. Gives whether it is open.
    """
    settings = session.current()
    is_linked = settings.cell is not None and settings.beat == key
    look = {"expanded": is_linked, "icon": icon}
    fold = st.expander(label, key=f"fold_{key}", on_change="rerun", **look)
    with fold:
        yield bool(fold.open)


def one_of(label: str, options: Sequence, first: Any, **more: Any) -> Any:
    """A row of buttons of which one is always chosen: `first`, until another is. A browser cannot
    take the choice back, though a message made by hand can; then it is `first` as well.
    """
    chosen = st.segmented_control(label, options, default=first, required=True, **more)
    return first if chosen is None else chosen


def light(good: bool, words: str) -> None:
    """A check that is on or off, in words too. `words` are ours, never a person's."""
    colour, icon = ("green", "check_circle") if good else ("orange", "error")
    st.markdown(f":{colour}[:material/{icon}:] {words}")


def note(words: str) -> None:
    """Something to notice, neither right nor wrong. `words` are ours, never a person's."""
    st.markdown(f":gray[:material/info:] {words}")


def cell_notice(*views: View) -> None:
    """Say so where the link's cell is in none of the lesson's traces, and take it out of the
    address.
    """
    if not all(view.lost_cell for view in views):
        return
    step, index = views[0].lost_cell
    cell = f"{step}[{', '.join(map(str, index))}]"
    where = f"The link's cell {cell} is not in this lesson"
    made = [view.trace[step] for view in views if step in view.trace]
    if made:
        where += f": {step} has the shape {made[0].shape}, and places are counted from 0"
    with st.container(border=True, key="lost_cell"):
        st.text(f"{where}. Choose one below.")
    session.forget_cell(views[0].page)
