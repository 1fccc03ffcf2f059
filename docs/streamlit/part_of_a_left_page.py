"""Press “Work”, click “To two”, and press “Work” again, all within a second (server started with
--runner.fastReruns=false).

Seen: page one stays, the link was clicked for nothing. Expected: page two.
"""

import time

import streamlit as st


@st.fragment
def part() -> None:
    if st.button("Work"):
        time.sleep(1)


def one() -> None:
    part()
    st.page_link(second, label="To two")
    st.write("This is page one")


def two() -> None:
    st.write("This is page two")


second = st.Page(two)
st.navigation([st.Page(one, default=True), second]).run()
