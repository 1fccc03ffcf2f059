"""A component that shows nothing, and tells the server what only the browser knows."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException

NOT_THERE = (AttributeError, TypeError, StreamlitAPIException)


def unseen(name: str, js: str) -> Callable[..., None]:
    """A function that places the component. Where Streamlit's components are not as expected, it
    does nothing, and the page works as with a browser that reports nothing.
    """
    place: Callable[..., Any] | None = None
    with suppress(*NOT_THERE):
        place = st.components.v2.component(name, html="<span></span>", js=js)

    def put(**given: Any) -> None:
        if place is not None:
            with suppress(*NOT_THERE):
                place(**given)

    return put
