"""A place on the home page to start with one's own sentence."""

import streamlit as st

from ...controls import held
from ...controls.fields import MAX_TOKENS
from ...settings import session
from ...shell.contents import AT_A_GLANCE


def own_text() -> None:
    """A sentence and a button: the sentence is taken up, and the whole layer opens with it."""
    with (
        st.form("own_text", border=False),
        st.container(horizontal=True, vertical_alignment="bottom", wrap=False),
    ):
        text = st.text_input(
            f"Your own sentence (at most {MAX_TOKENS} tokens)",
            placeholder="The cat sat on the mat",
            key="own_sentence",
        )
        sent = st.form_submit_button("Open", type="primary")
    if not sent:
        return
    problem = session.take_text(text)
    if problem:
        with st.container(key="problem_of_own_text"):
            st.markdown(":red[:material/error:] :red[Not applied:]")
            st.text(problem)
    else:
        session.hand_over(now=True)
        st.switch_page(AT_A_GLANCE.page, query_params=held.link_query("own_text"))
