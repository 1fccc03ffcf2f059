"""The class at the top of a page: what a learner answers, what a wall shows, what a teacher does.

Each piece of it is a fragment of its own, which runs when the class goes on. The rest of the page
runs only where a question covers or uncovers something.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from ..charts.votes import LETTERS
from ..classroom.classes import spoken
from ..classroom.classroom import ASKED, BARS, MOST_TURNS, OPEN, Asked, Classroom, Now, Turn
from ..controls.in_class import InClass, class_now, class_problem
from ..controls.lesson_session import this_session
from ..frame.basics import LINE
from ..frame.class_changes import put_changes
from ..frame.class_share import class_settings, link_of, put_reach, qr_code
from ..frame.contents import lesson
from ..reactive import settings
from ..reactive.fragments import event, fragment
from ..reactive.source import source, untracked
from ..reactive.widget import put_in, sent
from . import class_bars
from .class_overview import put_overview
from .question import answer_in, picks_at_once, put_choices, uncover_in_class
from .questions import Pick
from .row_question import Row
from .show import chart

TOO_LATE = "Too late to count: your class has gone on."
TITLE, ANCHOR = ":material/groups: Your class", "class"
ON_WALL = 19
"""Pixels of a letter on a wall, which is read from the last row."""
PICKED = "class_question"
"""The key of the widget that chooses the next question."""
IN_BOX = 90
"""Letters of a question that the box to choose it shows on a wide screen."""
ENDED = "This class has ended. The lessons are open to you as before."
YOU_ENDED = "This class has ended. Leave it, then make a new one with *Share*."


def put_class() -> None:
    """At the top of a page; nothing on paper, or for a visitor who is in no class."""
    here = this_session().own(InClass)
    if not here.code or settings.values().paper:
        return
    _take_up()
    fragment("class", _draw)
    if here.token:
        fragment("class_alone", put_overview)
    fragment("class_changes", lambda: put_changes(_changed, _heard()))


def _draw() -> None:
    now: Now | None = class_now()
    kind = "class_wall" if this_session().own(InClass).token else "class_own"
    with st.container(border=True, key="class", gap="small"), st.container(key=kind):
        if now is None:
            is_teacher = bool(this_session().own(InClass).token)
            st.markdown(f":material/groups: {YOU_ENDED if is_teacher else ENDED}")
            label = "Leave it" if is_teacher else "Go on alone"
            st.button(label, key="class_leave", on_click=_leave)
        elif this_session().own(InClass).token:
            _teacher(now)
        else:
            _learner(now)


# --- a learner -----------------------------------------------------------------------------------
def _learner(now: Now) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(TITLE, anchor=ANCHOR)
        st.button("Leave the class", key="class_leave", type="tertiary", on_click=_leave)
    if now.asked is None:
        st.markdown(
            "Work on your own for now. When your teacher asks a question, it appears here. Nobody "
            "sees who gave which answer.",
            width=LINE,
        )
        return
    asked: Any = now.asked.question
    _put_words(now.asked)
    _put_way(now.asked)
    if now.stage == ASKED:
        _vote(now, asked)
        if now.own is None:
            _call("Your teacher has asked a question. Answer it")
    else:
        if now.stage == BARS:
            _call("See what your class has answered")
        _put_bars(now)
        if now.own is not None:
            _put_answer("You answered", asked, now.own)
        _put_truth(now)
    if problem := class_problem():
        st.markdown(f":orange[:material/info:] {problem}")


def _heard() -> str:
    """What a screen reader says to a learner when the class has gone on."""
    now: Now | None = class_now()
    if this_session().own(InClass).token:
        return ""
    if now is None:
        return "This class has ended."
    if now.asked is None:
        return "Your class is back at the lesson." if now.version else ""
    asks = "Your teacher asks once more." if now.turn.turn else "Your teacher asks a question."
    words = {
        ASKED: asks if now.own is None else "Your answer is in.",
        BARS: "Your class’s answers are shown.",
        OPEN: "The numbers are shown.",
    }
    return words[now.stage]


def _call(words: str) -> None:
    """Calls back whoever has scrolled away from the class: see class_changes.js."""
    with st.container(key="class_call"):
        st.markdown(f"[{words}](#{ANCHOR})")


def _vote(now: Now, asked: Any) -> None:
    code, turn = now.code, now.turn
    widget = f"class_{code}_{turn.round}_{turn.turn}"
    if turn.turn:
        st.markdown(
            "**Once more.** Talk it over with your neighbours: why do you think so? Then answer "
            "again, with what you think now."
        )
        if now.before is not None:
            _put_answer("Before, you answered", asked, now.before)
            if isinstance(asked, Row):
                last = f"class_{code}_{turn.round}_{turn.turn - 1}"
                asked.begin_with(widget, asked.where_left(last, now.before))
    put_choices(asked, widget, _voted, (code, turn, widget, asked), "Answer", f"send_{widget}")
    if now.own is not None:
        _put_answer(":green[:material/check:] Your answer is in", asked, now.own)
        st.caption("You can change it until your teacher goes on.")


def _voted(code: str, turn: Turn, widget: str, asked: Any) -> None:
    here = this_session().own(InClass)
    if here.code != code or not here.person:
        return
    with event(fragment="class"):
        guess, problem = answer_in(asked, widget), ""
        if guess is None:
            problem = "" if picks_at_once(asked) else asked.missing
        elif room := here.room:
            numbers = tuple(round(each, 4) for each in guess)
            problem = "" if room.votes(here.person, turn, numbers) else TOO_LATE
        seen = here.look()
        is_on = seen is not None and (seen.turn, seen.stage) == (turn, ASKED)
        here.problem = problem if is_on or not problem else TOO_LATE
        _take_up()


def _put_answer(words: str, asked: Any, numbers: Any) -> None:
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.markdown(f"{words}:", width="content")
        st.text(class_bars.in_words(asked, numbers), width="content")


def _put_way(asked: Asked) -> None:
    """The way to the numbers that the class is asked about, from wherever a learner is."""
    if _is_there(asked.key):
        st.markdown(f"It is about [“{asked.title}”](#{asked.card}) on this page.")
        return
    there = lesson(asked.page)
    same = there.name == this_session().page
    where = "with the class’s numbers" if same else f"in *{there.title}*"
    label = f"Go to “{asked.title}” {where}"
    st.page_link(there.page, label=label, query_params=dict(asked.link), icon=":material/east:")


@source(own=True)
def _is_there(key: str) -> bool:
    """Whether the open page has the question that the class is asked, about the same numbers."""
    now, page = this_session().own(InClass).now, this_session().declared
    if page is None or now is None or now.asked is None or now.asked.page != page.name:
        return False
    with untracked():
        return any(one.key == key and one.made()[1] == now.asked.fingerprint for one in page.asks)


# --- what both see -------------------------------------------------------------------------------
def _put_words(asked: Asked) -> None:
    question: Any = asked.question
    with st.container(key="class_words", gap="xsmall"):
        st.markdown(question.words, width=LINE)
        if question.asked:
            st.text(question.asked)


def _put_offered(asked: Any) -> None:
    """What can be chosen, for whoever looks at the wall."""
    if isinstance(asked, Pick):
        with st.container(horizontal=True, gap="small", key="class_offered"):
            for each in asked.offered:
                st.text(each, width="content")


def _put_bars(now: Now) -> None:
    """The answers, which both teacher and learners may see by now."""
    asked: Any = now.asked and now.asked.question
    is_wall = bool(this_session().own(InClass).token)
    letters, width = (ON_WALL, 1_000) if is_wall else (LETTERS, 680)
    made = class_bars.drawn(asked, now.tallies, now.stage == OPEN, letters)
    if sum(n for _, n in now.tallies[-1]):
        chart(f"votes_{now.turn.round}_{now.turn.turn}_{now.stage}", made, width=width)
    else:
        st.markdown("Nobody has answered.")
    has_before = len(now.tallies) > 1 and bool(now.tallies[-2])
    if isinstance(asked, Row):
        grey = " The grey ones are from the vote before." if has_before else ""
        st.caption(f"Each line is one answer.{grey}")
    elif has_before:
        st.caption("The thin bars show the answers of the vote before.")


def _put_truth(now: Now) -> None:
    if now.stage != OPEN or now.asked is None:
        return
    question: Any = now.asked.question
    guess = None if now.own is None else question.understood(now.own)
    if guess is None:
        words = question.answer()
    else:
        verdict = question.judged(guess)
        colour, mark = ("green", "check") if verdict.right else ("orange", "trending_flat")
        words = f":{colour}[:material/{mark}:] {verdict.words}"
    st.markdown(f"{words} {question.teaches}".strip(), width=LINE)


# --- the teacher ---------------------------------------------------------------------------------
def _teacher(now: Now) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        here = f"{now.n_here} here" if now.n_here else "nobody is here yet"
        st.subheader(f"{TITLE}, {here}", anchor=ANCHOR)
        is_first = not now.version  # nothing was asked yet: people are still coming in
        if not is_first:
            with st.popover("How to join", type="tertiary"):
                _put_link(now)
        with st.popover("End it", type="tertiary"):
            st.markdown("Ending the class deletes its results. Save what you want to keep first.")
            st.button("End the class", key="class_end", on_click=_ends)
    if now.asked is None:
        if is_first:
            _put_link(now)
        _put_next(now, "Ask the class", "primary")
        return
    _put_words(now.asked)
    if not _is_there(now.asked.key):
        _put_way(now.asked)
    if now.stage == ASKED:
        _put_offered(now.asked.question)
        again = " once more" if now.turn.turn else ""
        with st.container(key="class_count"):
            st.markdown(f"**{now.n_votes}** of {now.n_here} have answered{again}")
        if now.turn.turn:
            st.markdown("Talk it over with your neighbours, then answer again.")
    else:
        _put_bars(now)
        _put_truth(now)
        if now.stage == OPEN:
            st.markdown(class_bars.how_many_right(now.asked.question, now.tallies))
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        if now.stage == ASKED:
            what = "rows" if isinstance(now.asked.question, Row) else "bars"
            _act(f"Show the {what}", Classroom.shows_bars, now, "primary")
        if now.stage != OPEN and now.turn.turn + 1 < MOST_TURNS:
            label = "Talk, then ask again"
            kind = "primary" if now.stage == BARS else "secondary"
            waits = now.stage == ASKED and not now.n_votes
            _act(label, Classroom.asks_again, now, kind, disabled=waits)
        if now.stage != OPEN:
            _act("Uncover the numbers", Classroom.uncovers, now)
            _act("Drop this question", Classroom.goes_on, now, "tertiary")
        else:
            if len(_titles()) > 1:
                _put_next(now, "Ask this next", "primary")
            _act("Back to the lesson", Classroom.goes_on, now, "tertiary")


def _put_link(now: Now) -> None:
    """The way into the class, for the wall."""
    link = link_of(now.code)
    with st.container(horizontal=True, vertical_alignment="center", key="class_link"):
        if picture := qr_code(link):
            st.image(picture, width=200)
        with st.container(gap="xsmall"):
            st.markdown("Point your phone here, or open")
            st.text(link)
            door = link.rpartition("/")[0]
            st.markdown(
                f"Or open `{door}` and type `{spoken(now.code)}`. You need not give a name."
            )
            put_reach(link)
            closed = f"closes_{now.code}"
            put_in(closed, now.is_closed)
            st.toggle("Nobody else can join", key=closed, on_change=_closes, args=(closed,))


def _put_next(now: Now, label: str, kind: str) -> None:
    """The questions of the page, and the button that asks one."""
    found = _questions()
    if not found:
        st.markdown(
            "This page has no question that a class can vote on. Open a lesson that has one, such "
            "as *The causal mask*."
        )
        return
    names = [*found]
    if sent(PICKED) not in names:  # it was not drawn while the class voted: take the next in turn
        keys = [found[name].key for name in names]
        before = now.asked.key if now.asked else ""
        put_in(PICKED, names[(keys.index(before) + 1) % len(names) if before in keys else 0])
    look: dict[str, Any] = {"vertical_alignment": "bottom", "gap": "small", "width": "content"}
    with st.container(horizontal=True, **look):
        titles = {name: _titles()[name] for name in names}
        st.selectbox("Question", names, format_func=titles.get, key=PICKED, width=640)
        ask: dict[str, Any] = {"type": kind, "on_click": _asks, "args": (now.version,)}
        st.button(label, key="class_ask", **ask)
    chosen = titles.get(sent(PICKED), "")
    if len(chosen) > IN_BOX:
        st.caption(chosen, width=LINE)


@source(own=True)
def _asked_here(_: str) -> tuple[tuple[str, str], ...]:
    """The page's questions that a class can be asked: the name of each, and its card and words."""
    page = this_session().declared
    if page is None:
        return ()
    with untracked():
        return tuple(
            (card.ask.name, f"{card.title}: {made.words}".replace("*", ""))
            for card in page.every_card()
            if card.ask
            and (made := card.ask.made()[0]) is not None
            and not made.until_right
            and (card.when is None or page.given(card.when))
        )


def _titles() -> dict[str, str]:
    return dict(_asked_here())


def _questions() -> dict[str, Any]:
    page = this_session().declared
    asks = {one.name: one for one in page.asks} if page else {}
    return {name: asks[name] for name in _titles()}


def _asks(version: int) -> None:
    """Ask the class the chosen question, about the numbers that the teacher's page has now."""
    here = this_session().own(InClass)
    room, page = here.room, this_session().declared
    with event(fragment="class"):
        with untracked():
            one = _questions().get(sent(PICKED))
            made, fingerprint = one.made() if one else (None, 0)
        if here.token and room and made is not None:
            card = next(each for each in page.every_card() if each.ask is one)
            link = class_settings()
            asked = Asked(one.key, made, fingerprint, page.name, link, card.name, card.title)
            if here.now and here.now.stage == OPEN:
                room.goes_on(version)
                version += 1
            room.asks(asked, version)
        here.look()
        _take_up()


def _act(
    label: str,
    act: Callable[[Classroom, int], bool],
    now: Now,
    kind: str = "secondary",
    **more: Any,
) -> None:
    look: dict[str, Any] = {"type": kind, "on_click": _acted, "args": (act, now.version), **more}
    st.button(label, key=f"class_{act.__name__}", **look)


def _acted(act: Callable[[Classroom, int], object], version: int) -> None:
    here = this_session().own(InClass)
    with event(fragment="class"):
        if here.token and (room := here.room):
            act(room, version)
        here.look()
        _take_up()


def _closes(key: str) -> None:
    _acted(lambda room, _: room.closes(bool(sent(key))), 0)


def _ends() -> None:
    _acted(lambda room, _: room.ends(), 0)


# --- what changes --------------------------------------------------------------------------------
def _changed() -> None:
    with event(fragment="class_changes"):
        this_session().own(InClass).look()
        _take_up()


def _leave() -> None:
    with event(fragment="class"):
        here = this_session().own(InClass)
        here.leaves, here.pulse = True, f"{here.pulse} "


def _take_up() -> None:
    """Uncover on this visitor's pages what the class was shown, each question once."""
    here = this_session().own(InClass)
    if here.now is None:
        return
    for asked, guess in here.now.uncovered[here.taken_up :]:
        uncover_in_class(asked, guess)
    here.taken_up = max(here.taken_up, len(here.now.uncovered))
