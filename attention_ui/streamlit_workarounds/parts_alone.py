"""Parts of a page that have a name, and run alone when a callback asks for them by it."""

from collections.abc import Callable
from contextlib import suppress

import streamlit as st
from streamlit.errors import StreamlitAPIException


def named_part(key: str) -> Callable[[Callable], Callable]:
    """A decorator: `st.fragment` with a name. Where fragments can have none, one without."""
    try:
        return st.fragment(key=key)
    except TypeError:
        return st.fragment


def run_alone(keys: list[str]) -> None:
    """From a callback: run these parts, and nothing else. Comes back where one of them is not on
    the page, since the run that would have put it there was broken off, and where Streamlit runs
    no parts by name: the caller then asks for the whole page.
    """
    with suppress(StreamlitAPIException, TypeError):
        st.rerun(keys)


def asked_page() -> str | None:
    """Which page the browser asks for: a callback may be told that of another before it runs. None
    where Streamlit does not say; then nothing may run alone.
    """
    try:
        from streamlit.runtime.scriptrunner import get_script_run_ctx

        return get_script_run_ctx().page_script_hash
    except (ImportError, AttributeError):
        return None
