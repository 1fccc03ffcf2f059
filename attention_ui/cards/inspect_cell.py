"""A cell taken apart: its arithmetic with its numbers, below the picture, and the walk upstream."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from attention_core.explain.remarks import remarks, zero_terms
from attention_core.expression import Cell, Expression
from attention_core.operations import Edit
from attention_core.rounding import to_within
from attention_core.trace import Step, Trace, head_at

from ..controls.fields import CellPlace
from ..frame.data_frame import put_frame
from ..picture.table import place_called
from ..reactive import settings
from ..reactive.fragments import event
from ..reactive.widget import is_there, put_in, sent
from .arithmetic import (
    cell_equation,
    common_place,
    components,
    is_long,
    long_number,
    of_the_rest,
    operand_groups,
    operand_label,
    terms_table,
)
from .changing import Spot, put_room, put_whole

SHOWN_OPERANDS = 32
TOLERANCE, SMALLEST = 1e-4, 1e-30
"""Torch and the arithmetic agree to this share of the largest term."""


def inspect_cell(
    name: str,
    trace: Trace,
    trail: Sequence[CellPlace],
    spot: Spot | None = None,
    is_carried: bool = False,
) -> None:
    """The arithmetic of a trail's last cell, ways on from it, and a slider where it may change."""
    step, index = trace[trail[-1][0]], trail[-1][1]
    arithmetic = step.arithmetic(index)
    with st.container(border=True, gap="small", key=f"cell_{name}"):
        _trail(name, trace, trail)
        with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
            if step.value.numel() > 1:
                with st.container(width=190, gap=None):
                    _sliders(name, trail, step, index)
            if spot:
                with st.container(width=240, gap="xsmall"):
                    put_room(name, spot, is_carried)
            with st.container(gap="xsmall"):
                st.latex(cell_equation(step, index, arithmetic))
                if is_long(arithmetic):
                    st.markdown(of_the_rest(arithmetic))
                for remark in remarks(step, index):
                    st.markdown(remark)
                is_told = len(step.code) < 140 and not isinstance(step.operation, Edit)
                code = f"  `{step.code}`" if is_told else ""
                st.caption(f"{step.words}{code}  {agreement(step, index, arithmetic)}")
        _upstream(name, trace, trail, arithmetic)
        _terms(name, trace, step, arithmetic)
        if spot:
            put_whole(name, spot)


def open_cell(name: str, trail: tuple[CellPlace, ...]) -> None:
    """From a callback: open a cell in a picture, in place of any other; () for none."""
    with event(hovered=name):
        settings.change(section=name, cell=trail)


def _trail(name: str, trace: Trace, trail: Sequence[CellPlace]) -> None:
    """A button for each cell of a trail, and where that is. Plain text: tokens are a visitor's."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for at, (step, index) in enumerate(trail):
            label = f"{step}[{', '.join(map(str, index))}]"
            if at == len(trail) - 1:
                st.markdown(f"**`{label}`**", width="content")
            else:
                back = {"on_click": open_cell, "args": (name, tuple(trail[: at + 1]))}
                st.button(label, key=f"trail_{name}_{at}", type="tertiary", **back)
                st.markdown("›", width="content")
        step, index = trail[-1]
        axes = trace[step].axes
        head = head_at(axes, index)
        told = [place_called(trace, *each, head) for each in zip(axes, index, strict=True)]
        st.text(" · ".join(told), width="content")
        st.space("stretch")
        close = {"icon": ":material/close:", "on_click": open_cell, "args": (name, ())}
        st.button("Close", key=f"close_{name}", type="tertiary", **close)


def _sliders(name: str, trail: Sequence[CellPlace], step: Step, index: tuple[int, ...]) -> None:
    """One slider per axis, so that the arrow keys walk from cell to cell."""
    for at, (axis, size) in enumerate(zip(step.axes, step.value.shape, strict=True)):
        if size < 2:
            continue
        key = f"cell_{name}_{step.name}_{at}_of_{size}"
        if sent(key) != index[at]:
            put_in(key, index[at])
        moved: dict[str, Any] = {"on_change": _slid, "args": (name, tuple(trail), at, key)}
        st.slider(axis, min_value=0, max_value=size - 1, key=key, **moved)


def _slid(name: str, trail: tuple[CellPlace, ...], at: int, key: str) -> None:
    step, index = trail[-1]
    if is_there(key):
        moved = (*index[:at], int(sent(key)), *index[at + 1 :])
        open_cell(name, ((step, moved),))


def _upstream(name: str, trace: Trace, trail: Sequence[CellPlace], arithmetic: Expression) -> None:
    """The operands, grouped; choosing one follows it to its own arithmetic."""
    for at, group in enumerate(operand_groups(arithmetic)):
        shown = group[:SHOWN_OPERANDS]
        which = "of the largest terms" if is_long(arithmetic) else "the first"
        more = f" ({which}, {len(shown)} of {len(group)})" if len(group) > len(shown) else ""
        # Two keys take turns, so that the operand just followed does not still look chosen.
        key = f"operand_{name}_{at}_{len(trail) % 2}"
        if sent(key) is not None:
            put_in(key, None)
        where = f"`{common_place(group)}`{more}"
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.markdown(f"From {where}", width="content")
            st.pills(
                f"Follow {where} upstream",
                options=shown,
                format_func=partial(operand_label, components(trace, shown)),
                key=key,
                on_change=_follow,
                args=(name, tuple(trail), key),
                label_visibility="collapsed",
                width="stretch",
                wrap=True,
            )


def _follow(name: str, trail: tuple[CellPlace, ...], key: str) -> None:
    cell: Cell | None = sent(key)
    if isinstance(cell, Cell):
        open_cell(name, (*trail, (cell.step, cell.index)))


def _terms(name: str, trace: Trace, step: Step, arithmetic: Expression) -> None:
    """Every term, one row each, for sums too long to read in one line."""
    if len(arithmetic.terms) < 2:
        return
    fold = st.expander("Every term", key=f"terms_{name}_{step.name}", on_change="rerun")
    if not fold.open:
        return
    table = terms_table(arithmetic)
    first = [next(term.cells(), None) for term in arithmetic.terms]
    names = components(trace, list(filter(None, first)))
    if any(names.values()):
        table.insert(0, "component", [names.get(cell, "") for cell in first])
    why = zero_terms(step, arithmetic)
    if set(why) != {None}:
        table["why it is 0"] = [reason or "" for reason in why]
    with fold:
        put_frame(table)


def agreement(step: Step, index: tuple[int, ...], arithmetic: Expression) -> str:
    """That torch has the same in this cell; where it has not, both numbers and why."""
    torch_has = float(step.value[index])
    if math.isnan(torch_has) and math.isnan(arithmetic.value):
        return ":gray[:material/info:] Torch and the arithmetic both give NaN here."
    same = torch_has == arithmetic.value  # also for infinities, whose difference is NaN
    difference = 0.0 if same else abs(torch_has - arithmetic.value)
    largest = max((abs(term.value) for term in arithmetic.terms), default=0.0)
    if difference <= TOLERANCE * max(largest, abs(torch_has), SMALLEST):
        return ":green[:material/check:] PyTorch gives the same number."
    # As they are written, the two may lie a little farther apart than they do.
    one, other = (float(f"{each:.7g}") for each in (torch_has, arithmetic.value))
    written = 0.0 if one == other else abs(one - other)
    words = (
        f"torch has {long_number(torch_has)}; the arithmetic above gives "
        f"{long_number(arithmetic.value)} ({to_within(max(difference, written))})."
    )
    return (
        f":gray[:material/info:] {words} They differ because torch rounds to "
        f"{str(step.value.dtype).removeprefix('torch.')} on the way, and the arithmetic hardly "
        "rounds."
    )
