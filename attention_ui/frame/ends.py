"""What a lesson ends with: what goes deeper, answers, printed numbers, what to take along."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec

import streamlit as st

from attention_core.published.marking import Mark
from attention_core.text.tokenizers import visible
from attention_core.trace import Trace

from ..controls import session
from ..controls.lesson_session import this_session
from ..controls.shared import has_random_numbers
from ..reactive import settings
from ..reactive.fragments import window_is
from . import hand_out
from .basics import LINE
from .contents import lesson as here
from .lights import as_taught, draw_lights, lights_of
from .page import close_lesson
from .proof import proof
from .take_away import take_away

Given = ParamSpec("Given")


@dataclass(frozen=True)
class Answer:
    """A closing question and its answer; `card` shows why, `shows` are the steps it quotes."""

    question: str
    answer: str
    card: str
    shows: tuple[str, ...] = ()


def closes(
    question: str, card: str, *shows: str
) -> Callable[[Callable[Given, str | None]], Callable[Given, Answer | None]]:
    """Makes a function that says an answer, or None, one that gives the `Answer`, or None."""

    def made(says: Callable[Given, str | None]) -> Callable[Given, Answer | None]:
        @wraps(says)
        def answered(*given: Given.args, **named: Given.kwargs) -> Answer | None:
            words = says(*given, **named)
            return None if words is None else Answer(question, words, card, shows)

        return answered

    return made


@contextmanager
def row(label: str, key: str, icon: str, *cards: str) -> Iterator[bool]:
    """A row that opens; what is in it costs nothing before. It is open where the link's cell
    belongs to one of the `cards` in it. Gives whether it is open. Beside a card that stands alone
    there is no other row than the one that the card is in, or that is in the card.
    """
    values = settings.values()
    if values.card and values.card not in cards and not this_session().in_card:
        yield False
        return
    is_linked = bool(values.cell) and values.section in cards
    is_open = is_linked or values.card in cards
    look = {"expanded": is_open, "icon": icon, "on_change": "rerun"}
    fold = st.expander(label, key=f"row_{key}", **look)
    with fold:
        yield bool(fold.open)


CLOSING = "What you can now answer"
RANDOM = (
    "This page’s numbers are drawn at random. How the answers come about is true of any numbers; "
    "which word gets the most here means nothing."
)


def put_answers(
    each: Sequence[Answer],
    titles: Mapping[str, str],
    covered: Mapping[str, str],
    about_weights: bool,
    places: Mapping[str, str],
) -> None:
    """Questions that the reader can now answer, each folded over its answer and the way to the
    picture that shows why; `titles` and `places` are those of the cards. One that would tell what a
    question covers waits for it: `covered` has the place where each step is asked about. Those
    `about_weights` name words that get much of them, whatever the numbers are.
    """
    if "answers" in session.names_in("hide"):
        return
    is_folded = window_is("phone") and not settings.values().paper
    fold = f"**{CLOSING}**", "answers", ":material/question_mark:"
    with (
        st.container(key="closing", gap="xsmall"),
        row(*fold) if is_folded else nullcontext(True) as is_open,
    ):
        if not is_open:
            return
        if not is_folded:
            st.header(CLOSING, anchor="answers")
        if about_weights and has_random_numbers(settings.values()):
            st.caption(RANDOM)
        if settings.values().paper:
            told = [(titles[one.card], one.question, one.answer) for one in each]
            hand_out.closing_questions(told)
            return
        for at, one in enumerate(each):
            with st.expander(one.question, key=f"answer_{at}"):
                if asked := [covered[step] for step in one.shows if step in covered]:
                    where = f"The card {asked[0]}" if asked[0] else "A card above"
                    st.markdown(
                        f"{where} asks for the same numbers. Look at it once more and guess there: "
                        "then the answer stands here."
                    )
                else:
                    st.text(one.answer, width=LINE)  # plain: it may quote the person
                    st.markdown(f"The card {places[one.card]} shows it.")


def put_ends(trace: Trace, output: str, marks: Sequence[Mark]) -> None:
    """The rows that every page ends with, and the way to the next."""
    session.settle_cell()
    name, values = this_session().page, settings.values()
    if values.card and values.card not in this_session().cards:
        st.text(f"This page has no picture called “{values.card}”.")
    if values.paper:
        hand_out.close(here(name).title)
    if values.card or values.paper:
        return
    with st.container(key="ends", gap="xsmall"):
        if marks:
            with row(_matching(marks), "notebook", ":material/fact_check:") as is_open:
                if is_open:
                    proof(name, marks)
        if output:
            holds = "**What holds of this attention**"
            with row(holds, "checks", ":material/fact_check:") as is_open:
                if is_open:
                    draw_lights([as_taught(each, name) for each in lights_of(trace, output)])
        if "take_away" not in values.hide:
            label = (
                "**Take it with you**: program, notebook, exercise, spreadsheet, tensors, lesson"
            )
            with row(label, "take_away", ":material/download:") as is_open:
                if is_open:
                    take_away(name, trace)
    close_lesson(name)


def _matching(marks: Sequence[Mark]) -> str:
    good = sum(mark.check.matching for mark in marks)
    count = sum(mark.check.published for mark in marks)
    told = f"all {count:,}" if good == count else f"{good:,} of {count:,}"
    return f"**Checked against the notebook**: {told} printed values match"


def named(trace: Trace, axis: str, place: int) -> str:
    """A place of an axis in a sentence: “cat” (key 2); `key 2` where it has no name."""
    name = trace.name_of(axis, place)
    return f"{axis} {place}" if name is None else f"“{visible(name)}” ({axis} {place})"
