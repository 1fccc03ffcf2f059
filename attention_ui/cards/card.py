"""A card is a screen: its title and at most three lines of words, its controls beside them, and its
picture below.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from ..controls import held
from ..frame.hand_out import printed
from ..frame.lights import light, note
from ..frame.page import explained

__all__ = ["card", "light", "note", "waits_for"]


def waits_for(card: str, what: str = "This") -> None:
    """In the place of what would answer a question of another card of this title."""
    if held.values().paper:
        note(f"{what} is on the page itself: the link is at the end.")
    else:
        note(f"{what} waits for your guess at *{card}*: it would give the answer away.")


@contextmanager
def framed(name: str, title: str, words: str, is_section: bool = False) -> Iterator[object]:
    """The frame of a card, or of a section, which has none; what it yields is the place for its
    controls, beside the words. What is drawn within it stands below both.
    """
    st.session_state[held.IN_CARD] = title
    look = {"border": not is_section, "gap": "xsmall"}
    with st.container(key=f"card_{name}", **look):
        with st.container(
            key=f"band_{name}", horizontal=True, vertical_alignment="bottom", gap="medium"
        ):
            with st.container(key=f"words_{name}"):
                if title:
                    (st.subheader if is_section else st.header)(title, anchor=name)
                if words:
                    st.markdown(printed(words), help=explained(words, name))
            beside = st.container(
                key=f"beside_{name}",
                width="content",
                horizontal=True,
                horizontal_alignment="right",
                vertical_alignment="bottom",
                gap="small",
            )
        yield beside
    st.session_state[held.IN_CARD] = ""


@contextmanager
def card(name: str, title: str, words: str) -> Iterator[object]:
    """A card; its name is its anchor, and what a link calls it. What it yields is the place for its
    controls, beside the words; what is drawn within it stands below both.

        with card("weights", "Weights", "Softmax turns each row into shares.") as beside:
            with beside:
                control(TEMPERATURE)
            picture("weights", equation(trace, trace["weights"]))
    """
    alone = held.values().card
    held.met_card(name, title)
    st.session_state[held.IN_CARD] = title
    key = f"card_{name}" if alone in ("", name) else f"aside_{name}"
    with st.container(border=True, key=key, gap="xsmall"):
        with st.container(
            key=f"band_{name}", horizontal=True, vertical_alignment="bottom", gap="medium"
        ):
            with st.container(key=f"words_{name}"):
                st.header(title, anchor=name)
                st.markdown(printed(words), help=explained(words, name))
            beside = st.container(
                key=f"beside_{name}",
                width="content",
                horizontal=True,
                horizontal_alignment="right",
                vertical_alignment="bottom",
                gap="small",
            )
        yield beside
    st.session_state[held.IN_CARD] = ""
