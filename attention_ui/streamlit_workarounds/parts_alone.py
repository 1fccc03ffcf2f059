"""Named parts of a page, which a callback can run without the rest of the page."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException


def named_part(key: str) -> Callable[[Callable], Callable]:
    """A decorator: `st.fragment` with a name, or without one where fragments can have none."""
    try:
        return st.fragment(key=key)
    except TypeError:
        return st.fragment


def run_alone(keys: list[str]) -> None:
    """From a callback: run these parts, and what else was asked for at once. Returns only if that
    is not possible: one of them is not on the page, because the run that would have put it there
    was interrupted, or this Streamlit cannot run parts by name. The caller then asks for the whole
    page.
    """
    try:
        st.rerun(keys)
    except (StreamlitAPIException, TypeError):
        return
    except BaseException as rerun:  # so Streamlit ends the callback
        _take_along_what_is_asked_for(rerun)
        raise


def _take_along_what_is_asked_for(rerun: Any) -> None:
    """What a busy server is asked for meanwhile it answers in one run. Streamlit runs the parts of
    `rerun` in its place: a button pressed just after a slider would seem to do nothing.
    """
    with suppress(ImportError, AttributeError, TypeError):
        from streamlit.runtime.scriptrunner import get_script_run_ctx

        asked = get_script_run_ctx().fragment_ids_this_run
        queue = rerun.rerun_data.fragment_id_queue
        if len(asked) > 1:  # one alone is that of the callback, which knows what it changes
            queue.extend([each for each in asked if each not in queue])


def requested_page() -> str | None:
    """The page that the browser has requested, which may be another than the one whose callback is
    running. None where Streamlit does not say; then no part may run by itself.
    """
    try:
        from streamlit.runtime.scriptrunner import get_script_run_ctx

        return get_script_run_ctx().page_script_hash
    except (ImportError, AttributeError):
        return None
