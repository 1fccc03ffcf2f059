"""A page as a hand-out: questions with room to write, answers last, and the way back."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from ..controls import session
from ..controls.lesson_session import this_session
from ..reactive import settings
from .address import address_of
from .basics import LINE
from .tasks import parted

MOST_IN_A_CODE = 600
"""Letters of an address: of more, the squares are too small for a phone at this size."""
ADDRESS = {"paper": "on", "embed": "true", "embed_options": "light_theme", "cell": "none"}
"""What makes a page a hand-out: light, and without Streamlit's frame."""

_AT_THE_SCREEN = re.compile(
    r"\b(point at|click|type (a|one|into)|move (the|through|along|one)|switch (it|a head) off|"
    r"the slider|the switch|stretch a|go deeper)\b|"
    r"(^|: |^Then )\**(choose|switch|turn|move|try|lower|raise|drag)\b",
    re.IGNORECASE,
)
"""What a sentence asks for that can be done on the page alone."""


@dataclass
class LastSheet:
    """What a hand-out ends with."""

    asked: list[tuple[str, str, str, bool]] = field(default_factory=list)
    """Where it was asked, question, answer, and whether that may quote a person; else ours."""
    solved: list[tuple[str, Callable[[], None]]] = field(default_factory=list)
    """Pictures with all their numbers, and the title of their card."""
    foot: Any = None
    """The place for the way back, where a page has closing questions to stand beside."""


def printed(words: str) -> str:
    """Words of a page, on paper without the sentences that ask for a pointer or a key."""
    if not settings.values().paper:
        return words
    sentences = re.split(r"(?<=[.?!]) ", words)
    return " ".join(each for each in sentences if not _AT_THE_SCREEN.search(each))


def begin() -> None:
    """At the head of a hand-out: nothing has been asked yet, and how to print it."""
    this_session().renew(LastSheet())
    with st.container(key="how_to_print", horizontal=True):
        words = "A hand-out of this page: print it with Ctrl+P (⌘P on a Mac)."
        st.markdown(f":material/print: {words}", width="content")
        st.link_button("To the page itself", _link(), type="tertiary")
    with st.container(key="name_and_date", horizontal=True):
        st.text("Name", width="stretch")
        st.text("Date", width="stretch")


def ask(
    where: str,
    words: str,
    answer: str,
    asked: str = "",
    offered: Sequence[str] = (),
    quotes: bool = False,
) -> None:
    """A question with room to write. What is `asked`, `offered` or `quotes` may be a person's."""
    questions = this_session().own(LastSheet).asked
    questions.append((where, words, answer, quotes))
    with st.container(key=f"write_{len(questions)}", gap="xsmall"):
        st.markdown(f"**{len(questions)}.** {words}")
        if asked:
            st.text(asked)
        if offered:
            st.text("    ".join(map(_in_one_line, offered)))


def _in_one_line(choice: str) -> str:
    """What is offered does not break, unless it is wider than a phone; its box stays with it."""
    return choice.replace(" ", "\N{NO-BREAK SPACE}", -1 if len(choice) < 48 else 1)


def closing_questions(each: Sequence[tuple[str, str, str]]) -> None:
    """The questions a page ends with, to be answered or answered; then the way back."""
    with st.container(key="closing_of_hand_out"):
        for where, question, answer in each:
            with st.container(gap="xsmall"):
                if settings.values().predict:
                    ask(where, question, answer, quotes=True)
                else:
                    st.markdown(f"**{question}**")
                    st.text(answer, width=LINE)
        this_session().own(LastSheet).foot = st.container(key="foot_of_hand_out", gap=None)


def solve(title: str, draw: Callable[[], None]) -> None:
    """A picture that a question covers stands on the last sheet with all its numbers."""
    this_session().own(LastSheet).solved.append((title, draw))


def close(title: str) -> None:
    """The way back to the page of this title, and the last sheet: the answers."""
    _foot()
    if questions := this_session().own(LastSheet).asked:
        with st.container(key="answers_of_hand_out"):
            st.header(f"Answers: {title}", anchor=False)
            with st.container(key="answers_in_words"):
                for number, (where, words, answer, quotes) in enumerate(questions, 1):
                    with st.container(gap=None):
                        st.markdown(f"**{number}.** {words} :gray[{where}]")
                        (st.text if quotes else st.markdown)(answer, width=LINE)
            for number, (card, draw) in enumerate(this_session().own(LastSheet).solved):
                with st.container(key=f"solved_{number}", gap=None):
                    st.markdown(f"**{card}**")
                    draw()


def tasks() -> None:
    """A teacher's tasks, all of them, each with room to write."""
    for number, task in enumerate(settings.values().tasks, 1):
        lesson, words = parted(task)
        with st.container(key=f"write_task_{number}", gap="xsmall"):
            at = f" · {lesson.title}" if lesson else ""
            st.markdown(f"**Task {number}**{at}")
            st.text(words)


def _link() -> str:
    return address_of(
        {name: text for name, text in session.shared().items() if name not in ADDRESS}
    )


def _foot() -> None:
    link = _link()
    place = this_session().own(LastSheet).foot or st.container(key="foot_of_hand_out", gap=None)
    with place, st.container(horizontal=True, vertical_alignment="center"):
        if len(link) <= MOST_IN_A_CODE:
            import segno  # here: it takes an eighth of a second, and no page needs it

            code = segno.make(link, error="l", micro=False)
            st.image(code.svg_inline(scale=4, border=1, dark="#000", light="#fff"), width=110)
        with st.container(gap=None):
            st.markdown("**Live, with every number to point at:**")
            st.text(link)
