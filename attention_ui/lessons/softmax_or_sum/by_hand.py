"""Scores typed by hand: a slider for one of them, a button that begins with the example's."""

import math

import streamlit as st

from attention_core.trace import Trace

from ...cards.elements import set_values
from ...controls import visit
from ...controls.control import Values
from ...controls.shared import inputs_of
from ...controls.widget import put_in, sent
from .lesson import MAX_SCORE, MAX_SCORES

NUDGE = 10.0
"""How far the slider for one score goes, unless the score itself is further out."""


def nudge(v: Values) -> None:
    """A slider for one of the typed scores."""
    scores = v.typed
    if "typed" in visit.names_in("hide"):
        return
    at = st.selectbox(
        "Move score",
        range(len(scores)),
        key=f"nudged_of_{len(scores)}",
        format_func="number {}".format,
        width=130,
    )
    score = scores[at]
    is_out = score == -math.inf
    reach = NUDGE if is_out else max(NUDGE, abs(score))
    slider = f"nudge_{at}_of_{len(scores)}_within_{reach}"
    put_in(slider, 0.0 if is_out else score)
    st.slider(
        "to (hidden now, −∞)" if is_out else "to",
        min_value=-reach,
        max_value=reach,
        step=0.1,
        key=slider,
        width=200,
        disabled="typed" in visit.names_in("lock"),
        on_change=_nudged,
        args=(scores, at, slider),
    )


def _nudged(scores: tuple[float, ...], at: int, key: str) -> None:
    moved = round(float(sent(key, scores[at])), 6)
    if moved != round(scores[at], 6):  # else a slider that is gone, and was told of
        set_values({"typed": (*scores[:at], moved, *scores[at + 1 :])})


def take_over(v: Values, trace: Trace) -> None:
    """A button that makes the example's own row one to change by hand."""
    fixed = {*visit.names_in("hide"), *visit.names_in("lock")} & {"typed", "row_from"}
    if v.row_from == "example" and len(inputs_of(v).tokens) <= MAX_SCORES:
        st.button(
            "Change these",
            type="tertiary",
            icon=":material/edit:",
            help="Begins with these scores, which you can then move or type.",
            disabled=bool(fixed),
            on_click=_taken_over,
            args=(trace["score_row"].value.tolist(),),
            key="take_over",
        )


def _taken_over(scores: list[float]) -> None:
    bounded = (min(max(score, -MAX_SCORE), MAX_SCORE) for score in scores)
    set_values({"row_from": "hand", "typed": tuple(round(score, 4) for score in bounded)})
