"""The arithmetic of one cell, open below its heatmap, and the walk upstream from it."""

import math
from functools import partial

import streamlit as st

from attention_core.explain.remarks import remarks, zero_terms
from attention_core.expression import Expression
from attention_core.text.tokenizers import visible
from attention_core.trace import Step, head_at

from ..cards.arithmetic import (
    cell_equation,
    common_place,
    components,
    long_number,
    operand_label,
    terms_table,
)
from ..controls.fields import CellPlace
from ..settings import session
from .show import folded
from .view import View

SHOWN_OPERANDS = 32
TOLERANCE, SMALLEST = 1e-4, 1e-30
"""Torch and the arithmetic agree to this share of the largest term; float32 rounds at 1e-7, and
a row of scores in the thousands loses a few digits more."""


def open_button(beat_name: str, result: Step, first: tuple[int, ...] | None = None) -> None:
    """Opens the arithmetic without a click on a cell: that of `first`, else of the first one."""
    first = (0,) * result.value.ndim if first is None else first
    is_made = bool(result.inputs)
    st.button(
        f"Take a cell of {result.name} apart"
        if is_made
        else f"Where the numbers of {result.name} come from",
        key=f"open_{beat_name}",
        type="tertiary",
        icon=":material/calculate:",
        on_click=session.choose_cell,
        args=(beat_name, ((result.name, first),)),
    )


def inspect(view: View, beat_name: str) -> None:
    """The arithmetic of the open cell with its numbers, and buttons to follow it upstream."""
    with st.container(border=True, gap="small", key=f"cell_{beat_name}"):
        _inspector(view, beat_name)


def _inspector(view: View, beat_name: str) -> None:
    name, index = view.trail[-1]
    step = view.trace[name]
    arithmetic = view.arithmetic
    _trail(view, beat_name, _where(view, step, index))
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        if step.value.numel() > 1:
            with st.container(width=200, gap="xsmall"):
                _sliders(view, beat_name, step, index)
        with st.container(gap="small"):
            st.latex(cell_equation(step, index, arithmetic))
            for remark in remarks(step, index):
                st.markdown(remark)
            st.caption(
                f"{step.operation.words()}  `{step.code}`"
                if len(step.code) < 140
                else step.operation.words()
            )
    _upstream(view, beat_name)
    _terms(view, step, arithmetic)
    _agreement(step, index, arithmetic)


def _trail(view: View, beat_name: str, where: str) -> None:
    """A button for each cell from the one that was chosen to the one that is open, and where that
    is. Plain text, since tokens are a visitor's.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for at, (name, index) in enumerate(view.trail):
            label = f"{name}[{', '.join(map(str, index))}]"
            if at == len(view.trail) - 1:
                st.markdown(f"**`{label}`**", width="content")
            else:
                st.button(
                    label,
                    key=f"trail_{at}",
                    type="tertiary",
                    on_click=session.choose_cell,
                    args=(beat_name, view.trail[: at + 1]),
                )
                st.markdown("›", width="content")
        st.text(where, width="content")
        st.space("stretch")
        st.button(
            "Close",
            key="close_cell",
            type="tertiary",
            icon=":material/close:",
            on_click=session.choose_cell,
            args=(beat_name, ()),
        )


def _where(view: View, step: Step, index: tuple[int, ...]) -> str:
    """Where the cell is, by the names on its axes."""
    head = head_at(step.axes, index)
    places = []
    for axis, place in zip(step.axes, index, strict=True):
        name = view.trace.name_of(axis, place, head)
        places.append(f"{axis} {place}" if name is None else f"{axis} {place}: {visible(name)}")
    return " · ".join(places)


def _sliders(view: View, beat_name: str, step: Step, index: tuple[int, ...]) -> None:
    """One slider per axis, so that the arrow keys walk from cell to cell."""
    for at, (axis, size) in enumerate(zip(step.axes, step.value.shape, strict=True)):
        if size < 2:
            continue
        key = f"cell_{beat_name}_{step.name}_{at}_of_{size}"
        if st.session_state.get(key) != index[at]:
            st.session_state[key] = index[at]
        st.slider(
            axis,
            min_value=0,
            max_value=size - 1,
            key=key,
            on_change=_slid,
            args=(view.trail, at, key, beat_name),
        )


def _slid(trail: tuple[CellPlace, ...], at: int, key: str, beat_name: str) -> None:
    name, index = trail[-1]
    now = session.current()
    if now.cell and (now.beat or beat_name, now.cell[-1][0]) != (beat_name, name):
        return  # a slider that is gone: the browser sent this before it knew
    moved = (*index[:at], int(st.session_state[key]), *index[at + 1 :])
    session.choose_cell(beat_name, ((name, moved),))


def _upstream(view: View, beat_name: str) -> None:
    """The operands, grouped; choosing one follows it to its own arithmetic."""
    for at, group in enumerate(view.operands):
        shown = group[:SHOWN_OPERANDS]
        more = f" (the first {SHOWN_OPERANDS} of {len(group)})" if len(group) > len(shown) else ""
        # Streamlit keeps a record of every key, so there is not one per cell. Two take turns, so
        # that the operand just followed does not still look chosen in the cell it led to.
        key = f"operand_{at}_{len(view.trail) % 2}"
        if st.session_state.get(key) is not None:
            st.session_state[key] = None
        where = f"`{common_place(group)}`{more}"
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.markdown(f"From {where}", width="content")
            st.pills(
                f"Follow {where} upstream",
                options=shown,
                format_func=partial(operand_label, components(view.trace, shown)),
                key=key,
                on_change=_follow,
                args=(view.trail, key, beat_name),
                label_visibility="collapsed",
                width="stretch",
                wrap=True,
            )


def _follow(trail: tuple[CellPlace, ...], key: str, beat_name: str) -> None:
    cell = st.session_state[key]
    if cell is not None:
        session.choose_cell(beat_name, (*trail, (cell.step, cell.index)))


def _terms(view: View, step: Step, arithmetic: Expression) -> None:
    """Every term, one row each, for sums too long to read in one line."""
    if len(arithmetic.terms) > 1:
        with folded("Every term", "terms") as is_open:
            if is_open:
                table = terms_table(arithmetic)
                first = [next(term.cells(), None) for term in arithmetic.terms]
                names = components(view.trace, list(filter(None, first)))
                if any(names.values()):
                    table.insert(0, "component", [names.get(cell, "") for cell in first])
                why = zero_terms(step, arithmetic)
                if set(why) != {None}:
                    table["why it is 0"] = [reason or "" for reason in why]
                st.dataframe(table, hide_index=True, width="content")


def _agreement(step: Step, index: tuple[int, ...], arithmetic: Expression) -> None:
    """What torch has in this cell, beside what the arithmetic gives."""
    torch_has = float(step.value[index])
    if math.isnan(torch_has) and math.isnan(arithmetic.value):
        st.caption(":gray[:material/info:] Torch and the arithmetic both give NaN here.")
        return
    same = torch_has == arithmetic.value  # also for infinities, whose difference is NaN
    difference = 0.0 if same else abs(torch_has - arithmetic.value)
    largest = max((abs(term.value) for term in arithmetic.terms), default=0.0)
    agrees = difference <= TOLERANCE * max(largest, abs(torch_has), SMALLEST)
    words = (
        f"torch has {long_number(torch_has)}; the arithmetic above gives "
        f"{long_number(arithmetic.value)} (difference {difference:.1g})."
    )
    if agrees:
        st.caption(f":green[:material/check:] {words}")
    else:
        st.caption(
            f":gray[:material/info:] {words} They differ because torch rounds to "
            f"{str(step.value.dtype).removeprefix('torch.')} on the way, and the arithmetic "
            "hardly rounds."
        )
