"""Questions of lessons that were finished some days ago, asked again on the home page."""

from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from ...cards.elements import picture
from ...cards.question import put_alone
from ...cards.questions import Question
from ...cards.review import Again, asked_again, declared
from ...controls import session
from ...controls.lesson_session import this_session
from ...controls.shared import FIRST
from ...frame.basics import LINE
from ...frame.contents import lesson
from ...frame.ends import Answer
from ...frame.page import link
from ...frame.spaced_repetition import DAYS, ComingBack, put_browser
from ...reactive import settings

MOST = 3
"""So many questions at a time: two minutes."""
SENTENCES = (
    "the small dog sees the cat because it barks",
    "a sleepy mouse hides and the cat waits",
    "the bird eats the worm and it flies",
    "Mary feeds the old horse because she likes it",
    "the fox chases a rabbit but it hides",
)
"""Other sentences than the lessons', of words with vectors."""

SCHEDULE = (
    f"While you still know a lesson, it comes back after {', '.join(map(str, DAYS[:-1]))} and "
    f"then {DAYS[-1]} days, like a card in Leitner’s boxes. Only this browser knows which lessons "
    "wait."
)


@dataclass
class Round:
    """What is asked in this visit: lessons, each with the place of a question among its own."""

    asked: list[tuple[str, int]] = field(default_factory=list)
    at: int = 0
    boxes: dict[str, int] = field(default_factory=dict)
    """The box of each of these lessons when the round began."""
    day: int = 0
    is_shown: bool = False
    """Whether the answer to the closing question that is asked now is on the screen."""
    right: dict[int, bool] = field(default_factory=dict)
    """Whether the first answer was right, for each question that was answered."""

    def show(self) -> None:
        """Of a closing question: its answer."""
        self.is_shown = True

    def next(self) -> None:
        """The next question, or the end."""
        self.at, self.is_shown = self.at + 1, False

    def answered(self, right: bool) -> None:
        """The first answer to this question: a lesson all right goes a box on, else back."""
        if self.at in self.right:
            return
        self.right[self.at] = right
        names = [name for name, _ in self.asked]
        now = {}
        for name in {names[at] for at in self.right}:
            known = all(good for at, good in self.right.items() if names[at] == name)
            now[name] = min(self.boxes[name] + 1, len(DAYS) - 1) if known else 0
        this_session().own(ComingBack).keep(now)


def coming_back(pages: Path) -> None:
    """A row with the questions that come again today; nothing where none does."""
    values = settings.values()
    if values.paper or values.card or "contents" in session.names_in("hide"):
        return
    here = this_session().own(Round)
    if not here.asked:
        _begin(here, pages)
    if here.asked:
        n = {1: "one question", 2: "two questions"}.get(len(here.asked), "three questions")
        label = f"**Coming back**: {n} from lessons that you have finished, two minutes at most"
        fold = st.expander(label, icon=":material/history:", key="row_again", on_change="rerun")
        with fold:
            if fold.open:
                _ask(here, pages)
    put_browser(asks=True)


def _begin(here: Round, pages: Path) -> None:
    """Choose among the lessons that come again today; of few of them, several questions each."""
    told = this_session().own(ComingBack)
    of_each = {name: len(_questions(pages, name, told.day, 0)) for name in [*told.due][:MOST]}
    here.day, here.boxes = told.day, {name: box for name, (box, _) in told.due.items()}
    turns = [(name, turn) for turn in range(MOST) for name, n in of_each.items() if turn < n]
    here.asked = turns[:MOST]


def _questions(pages: Path, name: str, day: int, at: int) -> list[Again]:
    """Those of a lesson, about numbers of the day's sentence."""
    sentence = SENTENCES[(day + at) % len(SENTENCES)]
    chosen = {"example": FIRST, "sentence": sentence, "draw_seed": str(day % 1000)}
    return asked_again(declared(pages / f"{name}.py"), chosen)


def _ask(here: Round, pages: Path) -> None:
    if here.at >= len(here.asked):
        st.markdown("That was all for today. What you knew comes again later, the rest tomorrow.")
        st.caption(SCHEDULE, width=LINE)
        return
    name, turn = here.asked[here.at]
    found = _questions(pages, name, here.day, here.at)
    one = found[(here.boxes[name] + turn) % len(found)]
    key = f"again.{name}_{here.at}"
    st.caption(f"From *{lesson(name).title}*, with another sentence.")
    if one.seen:
        picture(one.seen, "again", is_aside=True).draw()
    if isinstance(one.asked, Question):
        given = put_alone(key, one.asked, one.fingerprint)
        if given:
            here.answered(bool(given.verdict and given.verdict.right))
    else:
        _recall(here, one.asked)
    if here.at in here.right:
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            is_last = here.at + 1 == len(here.asked)
            label = "Finish" if is_last else "Next question"
            st.button(label, key="again_next", on_click=here.next)
            link(lesson(name), settings.link_query("again"), f"Open *{lesson(name).title}*")


def _recall(here: Round, one: Answer) -> None:
    """A closing question: its answer is given in one's own words, and told by oneself."""
    st.markdown(f"{one.question} Say it in your own words first.", width=LINE)
    if here.at in here.right or here.is_shown:
        st.text(one.answer, width=LINE)
    if here.at in here.right:
        return
    look = {"type": "tertiary"}
    with st.container(horizontal=True, gap="medium"):
        if here.is_shown:
            st.button("I knew it", key="again_known", on_click=here.answered, args=(True,), **look)
            st.button("Not yet", key="again_not", on_click=here.answered, args=(False,), **look)
        else:
            st.button("Show the answer", key="again_show", on_click=here.show, type="primary")
