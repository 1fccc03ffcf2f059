"""A card is a screen: title, at most three lines of words, controls beside, picture below."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import streamlit as st

from ..controls.lesson_session import this_session
from ..frame.glossary import Term
from ..frame.hand_out import printed
from ..frame.page import explained


@contextmanager
def framed(
    name: str, title: str, words: str, is_section: bool, above: Collection[Term], has_beside: bool
) -> Iterator[Any]:
    """The frame of a card or section; yields the place for controls, if it has one. Terms `above`
    are known.
    """
    this_session().in_card = title
    look = {"border": not is_section, "gap": "xsmall"}
    with st.container(key=f"card_{name}", **look):
        with st.container(
            key=f"band_{name}", horizontal=True, vertical_alignment="bottom", gap="medium"
        ):
            with st.container(key=f"words_{name}"):
                if title:
                    (st.subheader if is_section else st.header)(title, anchor=name)
                if words:
                    st.markdown(printed(words), help=explained(words, above))
            beside = nullcontext()
            if has_beside:
                beside = st.container(
                    key=f"beside_{name}",
                    width="content",
                    horizontal=True,
                    horizontal_alignment="right",
                    vertical_alignment="bottom",
                    gap="small",
                )
        yield beside
    this_session().in_card = ""
