"""Tick the box, and move the slider within a second.

Seen: the slider stands at 1, the line below it says 0 for good. Expected: it says 1.
"""

import time

import streamlit as st


@st.fragment
def part() -> None:
    st.write("The server has", st.slider("Number", 0, 10))


if st.checkbox("A line above"):
    time.sleep(1)
    st.write("This gives the fragment another place, and with it another id.")
part()
