"""Press “Dog”, and “Other” within a second.

Seen: “Somebody chose cat”, which nobody did. Expected: dog is chosen, by the server.
"""

import time

import streamlit as st


def choose() -> None:
    st.session_state.choice = "dog"


def chosen() -> None:
    st.write("Somebody chose", st.session_state.choice)


if st.button("Dog", on_click=choose):
    time.sleep(1)  # “Other” is pressed before the browser has heard of the dog
st.button("Other")
st.selectbox("Choice", ["cat", "dog"], key="choice", on_change=chosen)
