"""A part of a page that runs alone: where nothing else shows what has changed, a move runs the part
and not the page.
"""

from collections.abc import Callable
from functools import wraps

import streamlit as st

from . import held
from .control import Values


def part(name: str, draw: Callable[[Values], None]) -> None:
    """Draw a part of the page by a function of the values: at once, and again whenever a control
    moves whose value it has read. What else the page has read is noted too: where that has changed,
    all of it runs.
    """

    @st.fragment(key=_key(name))
    @wraps(draw)
    def run() -> None:
        is_new = st.session_state[held.AROUND] is None
        beyond = set() if is_new else held.reached() - {name} - st.session_state[held.RUNS]
        if held.wants_all() or beyond:
            st.rerun()
        held.is_drawn()
        with held.drawing(name):
            draw(held.values())

    run()


def run_what_reads(runs_anyway: str | None) -> None:
    """At the end of a callback: run the parts of the page that have read what was changed; where
    something else has, all of it. `runs_anyway` is the part that Streamlit runs by itself, as the
    control stands in it: held.AROUND_PARTS for the page, None for a picture in its card.
    """
    reached = held.reached()
    if not reached or held.AROUND_PARTS in reached:
        if runs_anyway is None:
            st.rerun()
        return  # the page, or the part, which sees that the page has to
    st.session_state[held.RUNS] = reached
    if reached != {runs_anyway}:
        st.rerun([_key(each) for each in sorted(reached)])


def _key(name: str) -> str:
    """What Streamlit calls a part."""
    return f"part_{name}"
