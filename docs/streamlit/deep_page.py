"""Open /two. Seen: the browser's console says 404 of /two/_stcore/health. Expected: nothing."""

import streamlit as st


def one() -> None:
    st.write("This is page one")


def two() -> None:
    st.write("This is page two")


st.navigation([st.Page(one, default=True), st.Page(two)]).run()
