"""Scores typed by hand: a button that begins with the example's."""

import streamlit as st

from attention_core.trace import Trace

from ...cards.elements import set_values
from ...controls import visit
from ...controls.control import Values
from ...controls.shared import inputs_of
from .lesson import MAX_SCORE, MAX_SCORES


def take_over(v: Values, trace: Trace) -> None:
    """A button that makes the example's own row one to change by hand."""
    fixed = {*visit.names_in("hide"), *visit.names_in("lock")} & {"typed", "row_from"}
    if v.row_from == "example" and len(inputs_of(v).tokens) <= MAX_SCORES:
        st.button(
            "Change these",
            type="tertiary",
            icon=":material/edit:",
            help="Begins with these scores: type others in their place.",
            disabled=bool(fixed),
            on_click=_taken_over,
            args=(trace["score_row"].value.tolist(),),
            key="take_over",
        )


def _taken_over(scores: list[float]) -> None:
    bounded = (min(max(score, -MAX_SCORE), MAX_SCORE) for score in scores)
    set_values({"row_from": "hand", "typed": tuple(round(score, 4) for score in bounded)})
