"""A select box for one token of the sentence."""

import streamlit as st

from ..settings import session
from ..settings.settings import Settings


def choose_token(settings: Settings, name: str = "query") -> None:
    """A select box for the token that the lesson follows, kept in the setting `name`."""
    tokens = settings.numbered_tokens
    session.control(
        st.selectbox,
        name.capitalize(),
        name,
        version=len(tokens),
        options=list(range(len(tokens))),
        format_func=tokens.__getitem__,
        width=240,
    )
