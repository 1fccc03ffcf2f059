"""What only a class's teacher sees: how a vote stands, how many work where, what goes wrong."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from ..classroom.classroom import ASKED, Classroom, Now
from ..controls.in_class import InClass, class_now, class_pulse, teaches
from ..controls.lesson_session import this_session
from ..frame.basics import LINE
from ..frame.data_frame import put_frame
from ..reactive.source import untracked
from . import class_bars, class_files
from .show import chart

LABEL = "**For you alone**, not for the wall: how your class is doing, and results to save"
FILES: tuple[tuple[str, str, str, Callable[[Classroom], bytes]], ...] = (
    ("Votes as CSV", "class.csv", "text/csv", class_files.as_csv),
    (
        "Both tables for Excel",
        "class.xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        class_files.as_xlsx,
    ),
    ("A page to print", "class.html", "text/html", class_files.as_page),
)


def put_overview() -> None:
    """A row that is folded at first: it costs nothing, and shows nothing on a wall."""
    if not teaches():
        return
    room = this_session().own(InClass).room
    fold = st.expander(LABEL, key="row_class", icon=":material/visibility:", on_change="rerun")
    with fold:
        if fold.open and room and (now := class_now()):
            class_pulse()  # read, so that all of this is drawn anew whenever something comes in
            _put_vote(now)
            _put_cards(room)
            _put_files(room)


def _put_vote(now: Now) -> None:
    """How the current vote stands, by which the teacher decides whether they should talk."""
    if now.stage != ASKED or not now.n_votes or now.asked is None:
        return
    question: Any = now.asked.question
    right = sum(n for guess, n in now.tallies[-1] if class_bars.is_right(question, guess))
    st.markdown(f"**The vote so far**: {right} of {now.n_votes} right.")
    made = class_bars.drawn(question, now.tallies[-1:], is_open=True)
    chart(f"class_so_far_{now.turn.round}_{now.turn.turn}", made, width=560)


def _put_cards(room: Classroom) -> None:
    """For each card of this page: how many read it, their first answers, common wrong ones."""
    page = this_session().declared
    if page is None:
        return
    rows, wrong = [], []
    with untracked():
        cards = [each for each in page.every_card() if not each.when or page.given(each.when)]
        for card in cards:
            row: dict[str, Any] = {"Card": card.title}
            row["Reading here now"] = room.near(page.name, f"card_{card.name}")
            asked, fingerprint = card.ask.made() if card.ask else (None, 0)
            if asked is not None:
                found = room.alone(card.ask.key, fingerprint)
                row["Have answered"] = str(found.answered)
                row["Right the first time"] = str(found.right)
                row["Shown the answer"] = str(found.shown)
                wrong += [(card.title, *each) for each in found.wrong]
            rows.append(row)
    n_here = room.on_page(page.name)
    people = "1 person has" if n_here == 1 else f"{n_here} people have"
    st.markdown(f"**By themselves**: {people} this lesson open.")
    put_frame(pd.DataFrame(rows).fillna(""), key="class_cards")
    if wrong:
        st.markdown("**Common wrong answers**, for the numbers on your screen:")
    for title, answer, words, n in wrong:
        with st.container(horizontal=True, gap="small", width=LINE):
            st.markdown(f"**{n} ×**", width="content")
            with st.container(gap=None):
                st.text(f"{title}: {answer}")
                st.text(words)


def _put_files(room: Classroom) -> None:
    st.markdown(
        "**To save**: every answer, and how often it was given, without names. Where a row of "
        "weights was shared out: the mean of the rows, and how many were right.",
        width=LINE,
    )
    with st.container(horizontal=True, gap="small"):
        for label, name, mime, make in FILES:
            look: dict[str, Any] = {"on_click": "ignore", "icon": ":material/download:"}
            key = f"class_file_{name.partition('.')[2]}"
            st.download_button(label, _maker(make, room), name, mime, key, **look)


def _maker(make: Callable[[Classroom], bytes], room: Classroom) -> Callable[[], bytes]:
    return lambda: make(room)
