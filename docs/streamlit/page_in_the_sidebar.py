"""Press “Work”, and “Page” within a second (server started with --runner.fastReruns=false).

Seen: the page is drawn in the sidebar. Expected: in the middle, where it was.
"""

import time

import streamlit as st


class Slow:
    """Freed after the run: stands for a search for garbage that takes long."""

    def __del__(self) -> None:
        time.sleep(1)


@st.fragment
def part() -> None:
    if st.button("Work"):
        one = Slow()
        one.itself = one


with st.sidebar:
    part()
st.button("Page")
