"""Beginnings to try, as buttons."""

import streamlit as st

from ...cards.elements import set_values
from ...controls import visit
from .lesson import READY, worth_watching


def tries(*labels: str) -> None:
    """A button for each of these beginnings; with it comes the head that is worth watching."""
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.caption("Try", width="content")
        kept = {*visit.names_in("hide"), *visit.names_in("lock")}
        for label in labels:
            beginning, kind = READY[label]
            chosen = {"beginning": beginning, "tiny_head": worth_watching(beginning, kind)}
            st.button(
                label,
                key=f"ready_{label}_of_{len(labels)}",
                type="tertiary",
                on_click=set_values,
                args=({name: value for name, value in chosen.items() if name not in kept},),
                disabled="beginning" in kept,
            )
