"""Named parts of a page, which a callback can run without the rest of the page."""

from collections.abc import Callable
from contextlib import suppress

import streamlit as st
from streamlit.errors import StreamlitAPIException


def named_part(key: str) -> Callable[[Callable], Callable]:
    """A decorator: `st.fragment` with a name, or without one where fragments can have none."""
    try:
        return st.fragment(key=key)
    except TypeError:
        return st.fragment


def run_alone(keys: list[str]) -> None:
    """From a callback: run these parts and nothing else. Returns only if that is not possible:
    one of them is not on the page, because the run that would have put it there was interrupted,
    or this Streamlit cannot run parts by name. The caller then asks for the whole page.
    """
    with suppress(StreamlitAPIException, TypeError):
        st.rerun(keys)


def requested_page() -> str | None:
    """The page that the browser has requested, which may be another than the one whose callback is
    running. None where Streamlit does not say; then no part may run by itself.
    """
    try:
        from streamlit.runtime.scriptrunner import get_script_run_ctx

        return get_script_run_ctx().page_script_hash
    except (ImportError, AttributeError):
        return None
