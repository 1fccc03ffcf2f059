"""What is wrong with what was typed, said right below where it was typed."""

import streamlit as st

from . import session


def say_problem(name: str) -> None:
    """The problem with a setting's draft, if there is one. Plain text: it quotes the person."""
    problem = session.problem(name)
    if problem:
        with st.container(key=f"problem_of_{name}"):
            st.markdown(":red[:material/error:] :red[Not applied:]")
            st.text(problem)
