"""A place on the home page to start with one's own sentence."""

import streamlit as st

from attention_core.text.inputs import DRAWN

from ...controls import visit
from ...controls.control import understood
from ...controls.fields import MAX_TOKENS
from ...controls.shared import MAKES_VECTORS, SENTENCE, example_of, inputs_of, known_words
from ...frame.contents import AT_A_GLANCE
from ...words import escaped

OWN_TEXT = {"tokenizer": "text", "vocabulary": "distinct"}
"""What a text of the person's own brings along, as a link says it."""


def takes_own_text() -> bool:
    """Whether a text may be typed that brings a tokenizer for it, or a teacher's link keeps one."""
    return not visit.fixed() & {SENTENCE.name, *OWN_TEXT}


def take_text(text: str) -> str | None:
    """Take up a text of one's own, with a tokenizer that suits it. Returns what is wrong."""
    try:
        texts = {SENTENCE.name: SENTENCE.field.read(text)}
    except ValueError as error:
        return f"{SENTENCE.label}: {error}."
    values, wrong = understood({"example": visit.chosen()["example"], **texts}, MAKES_VECTORS)
    example = example_of(values)
    if example.is_trained or (SENTENCE.name not in wrong and inputs_of(values).has_given_vectors()):
        own = {name: getattr(example.inputs, name) for name in OWN_TEXT}
    else:
        own = OWN_TEXT
    return visit.try_to_choose(texts | own)


def own_text() -> None:
    """A sentence and a button: the sentence is taken up, and the whole layer opens with it."""
    known = known_words(example_of(visit.values()))
    with (
        st.form("own_text", border=False),
        st.container(horizontal=True, vertical_alignment="bottom", wrap=False),
    ):
        text = st.text_input(
            f"Your own sentence (at most {MAX_TOKENS} tokens)",
            placeholder="The small dog sees the cat",
            key="own_sentence",
            help=f"Words with vectors made to be read: {known}. Any other word gets one drawn at "
            f"random, and is marked with {escaped(DRAWN)}."
            if known
            else None,
        )
        sent = st.form_submit_button("Open", type="primary")
    if not sent:
        return
    problem = take_text(text)
    if problem:
        with st.container(key="problem_of_own_text"):
            st.markdown(":red[:material/error:] :red[Not applied:]")
            st.text(problem)
    else:
        st.switch_page(AT_A_GLANCE.page, query_params=visit.link_query("own_text"))
