"""Predict, then reveal: a question covers the picture that would answer it until a guess."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import takewhile
from typing import Any

import streamlit as st

from attention_core.trace import Step

from ..classroom.classroom import Asked, First
from ..controls.in_class import answered_alone, class_covers, teaches
from ..controls.lesson_session import this_session
from ..frame import hand_out
from ..reactive import settings
from ..reactive.fragments import event
from ..reactive.source import source, untracked
from ..reactive.widget import about_as_wide, begin_anew
from .covers import SHAPE, Cover
from .elements import set_values
from .questions import Pick, Question, Verdict
from .show import chart

PREDICT = "predict"
MOST_BUTTONS = 16
ASKED_IN_CLASS = ":material/groups: Your class is asked this now"
LOOK: dict[str, Any] = {"horizontal": True, "vertical_alignment": "center", "gap": "small"}
IS_WORDS = re.compile(r"(\d+(, \d+)*: ?)?(?:[^\W_]|[␣ ])*[.,]?")
"""No sign of Markdown, of HTML or of one of Streamlit's own marks."""


@dataclass(frozen=True)
class Guess:
    """What was answered, and for which numbers. Who asked to be shown has no guess, no verdict."""

    fingerprint: int
    guess: Any = None
    verdict: Verdict | None = None


@dataclass
class Guesses:
    """Those of a visit, by the keys of their questions, and which question was sent without one."""

    given: dict[str, Guess] = field(default_factory=dict)
    missing: str = ""


@dataclass
class GoneOn:
    """The questions of a visit that it went on from without an answer, by their keys: what they
    cover stands open, and they can still be answered.
    """

    keys: set[str] = field(default_factory=set)


@dataclass
class Tally:
    """How well a person has guessed: the first verdict of this session for each question and its
    numbers; None if shown. Nothing is kept beyond it.
    """

    verdicts: dict[tuple[str, int], Verdict | None] = field(default_factory=dict)

    def count(self, question: str, fingerprint: int, verdict: Verdict | None) -> bool:
        """Record a verdict, or None for a skip. Returns whether it counts."""
        is_new = (question, fingerprint) not in self.verdicts
        self.verdicts.setdefault((question, fingerprint), verdict)
        return is_new and verdict is not None

    def words(self) -> str:
        """The tally in a sentence or two; '' before the first guess."""
        counted = [verdict for verdict in self.verdicts.values() if verdict is not None]
        off = [each.distance for each in counted if each.distance is not None]
        picks = [each.right for each in counted if each.distance is None]
        said = []
        if picks:
            guesses = "guess" if len(picks) == 1 else "guesses"
            said.append(f"{sum(picks)} of {len(picks)} {guesses} right this session.")
        if off:
            rows = "In 1 row," if len(off) == 1 else f"In {len(off)} rows, on average"
            mean = sum(off) / len(off)
            said.append(f"{rows} {mean:.0%} of the guessed weight was on the wrong keys.")
        return " ".join(said)


def tally() -> Tally:
    """This session's."""
    return this_session().own(Tally)


def asks_first() -> bool:
    """Whether questions are asked here at all."""
    values = settings.values()
    return bool(values.predict and not values.card)


def is_asked(asked: Question | None, key: str) -> bool:
    """Whether a question covers what it hides: neither answered yet nor gone on from."""
    if asked is None:
        return False
    if class_covers(key):
        return True
    if not asks_first():
        return False
    if settings.values().paper:
        return True
    if is_passable(asked, key) and _has_gone_on(key):
        return False
    given: Guess | None = _given(key)
    return given is None or bool(asked.until_right and given.verdict and not given.verdict.right)


def is_passable(asked: Question | None, key: str) -> bool:
    """Whether reading on uncovers what a question covers: not in a game, not where a teacher's
    link makes everybody guess, not while a class is asked this, and not on its teacher's screen.
    """
    if asked is None or asked.until_right or teaches() or class_covers(key):
        return False
    return PREDICT not in settings.values().lock


def went_on(key: str) -> None:
    """From a callback: somebody went on from a question."""
    this_session().own(GoneOn).keys.add(key)


@source(own=True)
def is_first(ask: str) -> bool:
    """Whether no question that stands above this one is still open."""
    page, met = this_session().declared, this_session().covering
    with untracked():
        above = takewhile(lambda one: one.name != ask, page.asks)
        return not any(one.is_unanswered() for one in above if one.name in met)


def was_passed(key: str) -> bool:
    """Whether somebody has answered a question, or gone on from it."""
    return not is_without_guess(key) or _has_gone_on(key)


def is_without_guess(key: str) -> bool:
    """Whether nobody has answered a question."""
    return _given(key) is None


@source(own=True)
def _has_gone_on(key: str) -> bool:
    return key in this_session().own(GoneOn).keys


def opens(hides: Mapping[str, Cover]) -> bool:
    """Whether the address opens a cell that is hidden: then all that the question hides is open,
    but on paper.
    """
    if settings.values().paper:
        return False
    for name, index in (settings.values().cell or ())[-1:]:
        cover = hides.get(name)
        if cover and (cover.how == SHAPE or not cover.shape):
            return True
        if cover and len(index) == len(cover.shape):
            return all(at < size for at, size in zip(index, cover.shape, strict=True)) and bool(
                cover.mask[index]
            )
    return False


def put_question(
    name: str, key: str, asked: Question | None, now: int, covered: frozenset[str]
) -> None:
    """Ask it, or say what was answered; `now` are its numbers, and it has `covered` these steps."""
    if asked is None:
        return
    if settings.values().paper:
        answer = f"{asked.answer()} {asked.teaches}".strip()
        hand_out.ask(this_session().in_card, asked.words, answer, asked.asked, asked.offered)
    else:
        given: Guess | None = _given(key)
        with st.container(key=f"question_{name}", **LOOK):
            if class_covers(key):
                way = "." if teaches() else ": [answer at the top](#class)."
                st.markdown(ASKED_IN_CLASS + way, width="content")
            elif given is None and is_passable(asked, key) and _has_gone_on(key):
                _passed(key, asked)
            elif given is None:
                _ask(key, asked, now, ":material/psychology_alt: **Predict first.** ", name)
            else:
                _answered(key, asked, now, given)
    this_session().covering[name] = (this_session().in_card, covered)


def put_alone(key: str, asked: Question, now: int) -> Guess | None:
    """A question that covers nothing, away from its page. Returns what was answered."""
    given: Guess | None = _given(key)
    with st.container(key="question_alone", **LOOK):
        if given is None:
            _ask(key, asked, now)
        else:
            _answered(key, asked, now, given, tells_tally=False)
    return given


@source(own=True)
def _given(key: str) -> Guess | None:
    return this_session().own(Guesses).given.get(key)


def was_missed(name: str) -> bool:
    """Whether the first answer to a question of this page was wrong, or was asked to be shown."""
    key = f"{this_session().page}.{name}"
    return any(
        verdict is None or not verdict.right
        for (asked, _), verdict in tally().verdicts.items()
        if asked == key
    )


def fingerprint_of(steps: Sequence[Step], only_shapes: bool) -> int:
    """Changes when the numbers that a guess is about change."""
    if only_shapes:
        return hash(tuple(step.value.shape for step in steps))
    # Not Python's own hash, which is another in each process: files and courses keep it.
    made = blake2b(digest_size=8)
    for step in steps:
        made.update(step.value.numpy().tobytes())
    return int.from_bytes(made.digest())


def _ask(key: str, asked: Any, now: int, before: str = "", name: str = "") -> None:
    st.markdown(before + asked.words, width="content")
    if asked.asked:
        st.text(asked.asked, width="content")
    widget = f"guess_{key}"
    put_choices(asked, widget, _revealed, (key, widget, asked, now), "Check", f"reveal_{key}")
    shown = {"type": "tertiary", "on_click": _judge, "args": (key, asked, now, None)}
    with st.container(horizontal=True, width="content", gap="small"):  # in one line, or below
        st.button("Show me", key=f"skip_{key}", **shown)
        if name:
            _offer_all(name)
    guesses = this_session().own(Guesses)
    if guesses.missing == key:
        guesses.missing = ""
        st.markdown(f":orange[:material/info:] {asked.missing}")


def put_choices(
    asked: Any, widget: str, given: Callable[..., None], args: tuple, label: str, key: str
) -> None:
    """The widgets that answer a question: `given` is called with `args` once a choice is picked, or
    a button with this label is pressed. It finds the answer by `answer_in`.
    """
    if picks_at_once(asked):
        offered = ("Your guess", range(len(asked.choices)))
        look: dict[str, Any] = {"format_func": asked.choices.__getitem__, "key": widget}
        look |= {"on_change": given, "args": args, "label_visibility": "collapsed"}
        if asked.in_full:
            st.radio(*offered, index=None, **look)
        else:
            st.pills(*offered, width=about_as_wide("", asked.choices), wrap=True, **look)
    else:
        asked.ask(widget)
        st.button(label, key=key, type="primary", on_click=given, args=args)


def answer_in(asked: Any, widget: str) -> Any | None:
    """What the widgets of a question hold; None where they hold no answer."""
    guess = asked.guess(widget)
    return None if guess is None else asked.understood(guess)


def picks_at_once(asked: Question) -> bool:
    """Whether a choice that is picked is an answer, without a button."""
    return isinstance(asked, Pick) and (asked.in_full or _as_buttons(asked))


def _offer_all(name: str) -> None:
    """Beside the first open question of a page: what the switch above the page does."""
    values = settings.values()
    if not is_first(name) or PREDICT in {*values.hide, *values.lock}:
        return
    shown = {"type": "tertiary", "on_click": set_values, "args": ({PREDICT: False},)}
    st.button("Show everything from now on", key=f"show_all_{name}", **shown)


def _as_buttons(asked: Question) -> bool:
    """Whether few choices of plain words stand as buttons, whose labels are Markdown."""
    return (
        isinstance(asked, Pick)
        and not asked.many
        and len(asked.choices) <= MOST_BUTTONS
        and all(IS_WORDS.fullmatch(choice) for choice in asked.choices)
    )


def _revealed(key: str, widget: str, asked: Question, now: int) -> None:
    guess = answer_in(asked, widget)
    if guess is not None:
        _judge(key, asked, now, guess)
    elif not picks_at_once(asked):
        this_session().own(Guesses).missing = key


@event()
def _judge(key: str, asked: Question, now: int, guess: Any) -> None:
    """From a callback: a guess, or None of who asked to be shown."""
    verdict = None if guess is None else asked.judged(guess)
    answered_alone(key, _first(asked, now, guess, verdict))
    _keep(key, now, guess, verdict)


def _keep(key: str, now: int, guess: Any, verdict: Verdict | None) -> None:
    tally().count(key, now, verdict)
    this_session().own(Guesses).given[key] = Guess(now, guess, verdict)


def _first(asked: Question, now: int, guess: Any, verdict: Verdict | None) -> First:
    """What a class's teacher may know of a guess: not how far off one person's row was."""
    if verdict is None:
        return First(now, None)
    words = verdict.words if verdict.distance is None else asked.answer()
    return First(now, verdict.right, asked.in_words(guess), words)


def uncover_in_class(asked: Asked, numbers: Sequence[float] | None) -> None:
    """In an event, or before a page is drawn: uncover for this visitor what a class was shown. A
    vote counts as a guess; whoever has not voted counts as shown the answer.
    """
    question = asked.question
    guess = None if numbers is None else question.understood(numbers)
    verdict = None if guess is None else question.judged(guess)
    _keep(asked.key, asked.fingerprint, guess, verdict)


def _answered(key: str, asked: Question, now: int, given: Guess, tells_tally: bool = True) -> None:
    """The question, the guess and the verdict, what it teaches, and a way to guess again."""
    st.caption(asked.words, width="content")
    if asked.asked:
        st.text(asked.asked, width="content")
    if given.verdict is None:
        st.markdown(f"{asked.answer()} {asked.teaches}".strip(), width="content")
    elif given.fingerprint != now:
        st.markdown("The numbers have changed since your guess.", width="content")
    else:
        is_off = not given.verdict.right
        colour, mark = ("orange", "trending_flat") if is_off else ("green", "check")
        begins = "Not quite. " if is_off and given.verdict.distance is None else ""
        said = f":{colour}[:material/{mark}:] {begins}{given.verdict.words} {asked.teaches}"
        st.markdown(said.strip(), width="content", help=(tells_tally and tally().words()) or None)
        # A row that was guessed is seen beside the true one.
        if given.verdict.distance is not None and (made := asked.drawn(given.guess)) is not None:
            chart(f"truth_{key.partition('.')[2]}", made, width=420, height=190)
    again = {"type": "tertiary", "on_click": _taken_back, "args": (key,)}
    st.button("Guess again" if given.verdict else "Guess after all", key=f"again_{key}", **again)


def _passed(key: str, asked: Any) -> None:
    """For who has read on: the question, its answer, what it teaches, and a way to guess."""
    st.markdown(asked.words, width="content")
    if asked.asked:
        st.text(asked.asked, width="content")
    st.markdown(f"{asked.answer()} {asked.teaches}".strip(), width="content")
    again = {"type": "tertiary", "on_click": _taken_back, "args": (key,)}
    st.button("Guess after all", key=f"again_{key}", **again)


@event()
def _taken_back(key: str) -> None:
    this_session().own(Guesses).given.pop(key, None)
    this_session().own(GoneOn).keys.discard(key)
    begin_anew(f"guess_{key}")
