"""Press “Count” twice within a second. Seen: 1. Expected: 2."""

import time

import streamlit as st

st.session_state.setdefault("count", 0)


def count() -> None:
    time.sleep(1)  # the second press comes meanwhile
    st.session_state.count += 1


st.button("Count", on_click=count)
st.write("Counted:", st.session_state.count)
