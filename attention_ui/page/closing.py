"""What a lesson ends with: questions that its reader can now answer, answered from its numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from attention_core.text.tokenizers import visible
from attention_core.trace import Trace

from ..shell.frame import LINE
from .page import Page


@dataclass(frozen=True)
class Answer:
    """A closing question and its answer, from the numbers that are on the page.

    `question` is ours, `answer` may quote a visitor's tokens. `anchor` is that of a heading above,
    whose picture shows why; `shows` names the steps whose numbers are quoted, as in `Page.part`.
    """

    question: str
    answer: str
    anchor: str
    shows: tuple[str, ...] = ()


def closing(page: Page, answers: Sequence[Answer]) -> None:
    """The questions, each folded over its answer and the way to the picture that shows why. Raises
    KeyError where no heading above has the anchor of an answer.
    """
    if "answers" in page.view.settings.hide:
        return
    page.header("What you can now answer", anchor="answers")
    page.words("Try each in your own words before you open it.", caption=True)
    for at, each in enumerate(answers):
        see = f"See [{page.heading(each.anchor)}](#{each.anchor})."
        # The part stands within the fold: where its answer is covered, the question stays.
        with page.folded(each.question, key=f"answer_{at}"):
            draw = partial(_answer, each.answer, see)
            page.part(f"answer_{at}", draw, about=(each, see), shows=each.shows)


def _answer(answer: str, see: str) -> None:
    st.text(answer, width=LINE)  # plain: it may quote the person
    st.markdown(see)


def named(trace: Trace, axis: str, place: int) -> str:
    """A place of an axis in a sentence: “cat” (key 2); `key 2` where it has no name."""
    name = trace.name_of(axis, place)
    return f"{axis} {place}" if name is None else f"“{visible(name)}” ({axis} {place})"
