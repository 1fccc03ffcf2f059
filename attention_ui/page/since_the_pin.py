"""Pin what is on the screen, change something, and see what changed, step by step."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from attention_core.compare import Change, changes, difference, first_changed
from attention_core.trace import Trace

from ..picture.equation_parts import Parts, equation_of
from ..picture.matrix import Matrix
from ..settings.link import pinned, what_changed
from ..settings.settings import Settings
from .equation import equation
from .show import folded
from .view import View

DRAWABLE = 64
"""Steps with a longer axis get no heatmap of their differences."""


def compare(view: View) -> None:
    """What changed since the pin, if there is one: in words, in figures, and as heatmaps."""
    before = pinned(view.settings)
    if before is None or view.build is None:
        return
    with st.container(border=True, key="pinned"):
        changed = what_changed(before, view.settings)
        if not changed:
            st.markdown(
                ":material/keep: **Pinned.** Change something, and you will see here what changed."
            )
            return
        st.markdown(":material/keep: **Since the pin** you changed:")
        for line in changed:
            st.text(line)
        _compare(view, _trace(view.build, before))


def _trace(build: Callable[[Settings], Trace], settings: Settings) -> Trace:
    return build(settings)


def _compare(view: View, before: Trace) -> None:
    found = changes(before, view.trace)
    first = first_changed(found)
    inputs = [each.name for each in found if each.changed and each.is_input]
    if inputs:
        st.markdown("Inputs that changed: " + ", ".join(f"`{name}`" for name in inputs) + ".")
    if first is None:
        st.markdown("No step of this lesson changed.")
    else:
        st.markdown(f"**First step that changed: `{first.name}`**, {_by(first)}.")
    same = [each.name for each in found if not each.changed]
    if same:
        st.caption("Unchanged: " + ", ".join(f"`{name}`" for name in same) + ".")
    with folded("Every step", "pinned", ":material/difference:") as is_open:
        if is_open:
            st.dataframe(_table(found), hide_index=True, width="content")
            _heatmap(view, before, found, first)


def _by(change: Change) -> str:
    if change.largest is None:
        return f"which had the shape {change.was}" if change.was else "which was not there"
    return f"by up to {change.largest:.4g}"


def _table(found: list[Change]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "step": [each.name for each in found],
            "largest difference": [each.largest for each in found],
            "cells that changed": [f"{each.n_changed:,} of {each.n_cells:,}" for each in found],
            "shape before": [each.was for each in found],
        }
    )


def drawable(found: list[Change], now: Trace) -> list[str]:
    """The steps whose difference can be drawn as a heatmap."""
    values = {each.name: now[each.name].value for each in found if each.largest is not None}
    return [
        name
        for name, value in values.items()
        if value.ndim in (1, 2) and max(value.shape) <= DRAWABLE
    ]


def side_by_side(trace: Trace) -> Parts:
    """A trace of a difference as an equation, now minus before. Vectors are drawn as rows."""
    lying = trace["now"].value.ndim == 1
    return equation_of(
        trace["difference"], drawn=[Matrix(step, transposed=lying) for step in trace.values()]
    )


def _heatmap(view: View, before: Trace, found: list[Change], first: Change | None) -> None:
    """One step before, now, and the difference, on a scale centred on 0."""
    names = drawable(found, view.trace)
    if not names:
        return
    start = names.index(first.name) if first and first.name in names else 0
    name = st.selectbox("Step", names, index=start, key=f"difference_of_{len(names)}", width=300)
    trace = difference(before[name], view.trace[name], view.trace)
    equation(view.beside(trace), "difference", build=lambda _: side_by_side(trace))
