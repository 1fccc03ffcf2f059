"""Predict, then reveal: pictures that would answer a question stay covered until the person has
guessed or skipped it. Everything else on the page is drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from attention_core.trace import Trace

from ..cards.questions import Question, Verdict
from ..cards.tally import tally
from ..charts.guess_bars import width_of
from ..page.show import show_within
from ..page.view import Cover, View
from ..settings import session
from ..words import listed

ANSWERS = "answers"


@dataclass(frozen=True)
class Answer:
    """What a person answered, and for which numbers. A skip has no guess and no verdict."""

    fingerprint: int
    guess: Any = None
    verdict: Verdict | None = None
    counts: bool = False


def cover_by(view: View, name: str, question: Question, steps: Sequence[str], where: str) -> Cover:
    """The cover that an open question, which stands `where`, puts over pictures. A guess counts
    only for the numbers that these steps have now; steps that are not in the trace are left out.
    """
    known = [step for step in steps if step in view.trace]
    fingerprint = _fingerprint(view.trace, known, question.only_shapes)
    return Cover(f"{view.page}.{name}", fingerprint, question.only_shapes, where)


def is_answered(cover: Cover, question: Question) -> bool:
    """Whether a question has been answered, or skipped; rightly, where that is what uncovers."""
    answer = st.session_state.setdefault(ANSWERS, {}).get(cover.question)
    if answer is None or not question.until_right:
        return answer is not None
    return answer.verdict is None or answer.verdict.right


def covered(name: str, covers: Sequence[Cover], here: str = "") -> None:
    """Drawn in place of a part that would answer open questions: a way to uncover it. What stands
    `here`, in the same section, needs no link.
    """
    places = ("the question above" if cover.where == here else cover.where for cover in covers)
    where = listed(list(dict.fromkeys(places)))
    counts = "that question counts" if len(covers) == 1 else "those questions count"
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(
            f":material/visibility_off: Covered, since it would answer {where}. If you look, "
            f"{counts} as skipped.",
            width="content",
        )
        st.button("Uncover", key=f"uncover_{name}", on_click=_skipped, args=covers)


def panel(question: Question, cover: Cover) -> None:
    """The question, or, once it is answered, the guess and the truth."""
    key = cover.question
    answer: Answer | None = st.session_state[ANSWERS].get(key)
    with st.container(border=True, gap="small", key=f"predict_{key.partition('.')[2]}"):
        st.markdown(f":material/psychology_alt: **Predict first.** {question.words}")
        if question.asked:
            st.text(question.asked)
        if answer is None:
            _ask(question, cover)
        else:
            _reveal(question, cover, answer)


def _fingerprint(trace: Trace, steps: Sequence[str], only_shapes: bool) -> int:
    """Changes when the numbers that a guess is about change."""
    if only_shapes:
        return hash(tuple(trace[step].value.shape for step in steps))
    return hash(tuple(trace[step].value.numpy().tobytes() for step in steps))


def _ask(question: Question, cover: Cover) -> None:
    """The widgets and the buttons."""
    key = cover.question
    with st.container(horizontal=True, vertical_alignment="bottom"):
        question.ask(f"guess_{key}")
        asked = (question, cover)
        st.button("Reveal", key=f"reveal_{key}", type="primary", on_click=_guessed, args=asked)
        st.button("Skip, show me", key=f"skip_{key}", on_click=_skipped, args=(cover,))
        st.caption(
            "Only the answer is covered. You can turn the questions off in the sidebar.", width=260
        )
    if st.session_state.pop(f"missing_{key}", False):
        st.markdown(f":orange[:material/info:] {question.missing}")


def _guessed(question: Question, cover: Cover) -> None:
    key, fingerprint = cover.question, cover.fingerprint
    guess = question.guess(f"guess_{key}")
    if guess is None:
        st.session_state[f"missing_{key}"] = True
        return
    verdict = question.judged(guess)
    counts = tally().count(key, fingerprint, verdict)
    st.session_state[ANSWERS][key] = Answer(fingerprint, guess, verdict, counts)
    session.run_whole_page()


def _skipped(*covers: Cover) -> None:
    for cover in covers:
        tally().count(cover.question, cover.fingerprint, None)
        st.session_state[ANSWERS][cover.question] = Answer(cover.fingerprint)
    session.run_whole_page()


def _taken_back(key: str) -> None:
    st.session_state[ANSWERS].pop(key, None)
    session.run_whole_page()


def _reveal(question: Question, cover: Cover, answer: Answer) -> None:
    """The guess with the truth over it, what the question teaches, and the tally so far."""
    key = cover.question
    guessed = answer.verdict is not None
    if guessed and answer.fingerprint != cover.fingerprint:
        st.markdown("The numbers have changed since your guess.")
    elif guessed:
        _judged(question, answer)
    else:
        st.markdown(f"{question.answer()} {question.teaches}".strip())
    st.button(
        "Guess again" if guessed else "Make a guess after all",
        key=f"again_{key}",
        type="tertiary",
        on_click=_taken_back,
        args=(key,),
    )
    said = tally().words()
    if guessed and answer.fingerprint == cover.fingerprint and not answer.counts:
        said += " Only a guess made before you saw the answer counts."
    if said:
        st.caption(said)


def _judged(question: Question, answer: Answer) -> None:
    """The picture of guess and truth, and beside it the verdict."""
    said = question.said(answer.guess)
    if said:
        st.text(f"Your guess: {said}")
    chart = question.drawn(answer.guess)
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        if chart is not None:
            show_within(chart, width_of(len(chart.frame) // 2))
        with st.container(width=340 if chart else "stretch"):
            colour, mark = (
                ("green", "check") if answer.verdict.right else ("orange", "trending_flat")
            )
            st.markdown(f":{colour}[:material/{mark}:] {answer.verdict.words}")
            if question.teaches:
                st.markdown(question.teaches)
