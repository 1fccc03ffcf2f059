"""A place on the home page to start with one's own sentence."""

from dataclasses import dataclass

import streamlit as st

from attention_core.text.inputs import DRAWN

from ...controls.fields import MAX_TOKENS
from ...controls.lesson_session import this_session
from ...controls.shared import MAKES_VECTORS, SENTENCE, example_of, inputs_of, known_words
from ...reactive import settings
from ...reactive.control import understood
from ...reactive.fragments import event
from ...reactive.widget import sent
from ...words import escaped

FIELD = "own_sentence"

OWN_TEXT = {"tokenizer": "text", "vocabulary": "distinct"}
"""What a text of the person's own brings along, as a link says it."""


def takes_own_text() -> bool:
    """Whether a text may be typed that brings a tokenizer for it, or a teacher's link keeps one."""
    return not settings.fixed() & {SENTENCE.name, *OWN_TEXT}


def take_text(text: str) -> str | None:
    """Take up a text of one's own, with a tokenizer that suits it. Returns what is wrong."""
    try:
        texts = {SENTENCE.name: SENTENCE.field.read(text)}
    except ValueError as error:
        return f"{SENTENCE.label}: {error}."
    values, wrong = understood({"example": settings.chosen()["example"], **texts}, MAKES_VECTORS)
    example = example_of(values)
    if example.is_trained or (SENTENCE.name not in wrong and inputs_of(values).has_given_vectors()):
        own = {name: getattr(example.inputs, name) for name in OWN_TEXT}
    else:
        own = OWN_TEXT
    return settings.try_to_choose(texts | own)


@dataclass
class OwnText:
    """What is wrong with the sentence that was typed last; "" for nothing."""

    problem: str = ""


def own_text() -> None:
    """A sentence and a button: the page's picture shows it, and it comes along to every lesson."""
    known = known_words(example_of(settings.values()))
    with (
        st.form("own_text", border=False),  # the press and what was typed arrive together
        st.container(horizontal=True, vertical_alignment="bottom", wrap=False),
    ):
        st.text_input(
            f"Your own sentence (at most {MAX_TOKENS} tokens)",
            placeholder="The small dog sees the cat",
            key=FIELD,
            help=f"Words with vectors made to be read: {known}. Any other word gets one drawn at "
            f"random, and is marked with {escaped(DRAWN)}."
            if known
            else None,
        )
        st.form_submit_button("Look", type="primary", key="look", on_click=_take)
    if problem := this_session().own(OwnText).problem:
        with st.container(key="problem_of_own_text"):
            st.markdown(":red[:material/error:] :red[Not applied:]")
            st.text(problem)
    elif sent(FIELD) == settings.values().sentence:
        st.caption("The picture shows your sentence, and so do the lessons that begin with one.")


@event()
def _take() -> None:
    text = sent(FIELD)
    this_session().own(OwnText).problem = (take_text(text) or "") if text else ""
