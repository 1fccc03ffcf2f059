"""The class that a visitor is in, as the pages read it: known by the cookie that its link has set.

What the class is at is looked up at the top of a page and in events, and does not change in
between: to the pages it is a source, each visitor's own.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import streamlit as st

from ..classroom.classes import CLASSES
from ..classroom.classroom import Classroom, First, Now
from ..reactive.session import this_session
from ..reactive.source import source

COOKIE = "attention_class"
LEARNER, TEACHER = "l", "t"


@dataclass
class InClass:
    """What this visitor knows of the class, as it was looked up last."""

    code: str = ""
    person: str = ""
    token: str = ""
    now: Now | None = None
    """None in no class, and in one that has ended."""
    pulse: str = ""
    """What the browser is told; it asks the server whether this has changed."""
    taken_up: int = 0
    """How many of the questions that were uncovered have been uncovered on this visitor's pages."""
    leaves: bool = False
    """Whether the visitor has asked to leave the class."""
    problem: str = ""
    """Why what was sent last does not count, in words."""

    @property
    def room(self) -> Classroom | None:
        """The class, as its teacher or as one of its learners."""
        room = CLASSES.get(self.code) if self.code else None
        if room and (room.is_teacher(self.token) if self.token else room.knows(self.person)):
            return room
        return None

    def look(self) -> Now | None:
        """Look up what the class is at."""
        room, before = self.room, self.now
        self.pulse = room.pulse(bool(self.token)) if room else ""
        self.now = room.now("" if self.token else self.person) if room else None
        if before and self.now and before.version != self.now.version:
            self.problem = ""  # it was about what was asked before
        return self.now


def parted(said: object) -> tuple[str, str, str]:
    """What the cookie of a class says: its code, whether a learner's or a teacher's, and the id."""
    if not isinstance(said, str):
        return "", "", ""
    code, _, rest = said[:200].partition(":")
    role, _, name = rest.partition(":")
    return (code, role, name) if role in (LEARNER, TEACHER) and name else ("", "", "")


def cookie() -> object:
    """What the browser has been given by the link of a class."""
    return st.context.cookies.get(COOKIE, "")


def arrive() -> None:
    """At the top of a page: whose class the visitor is in, and what it is at."""
    code, role, name = parted(cookie())
    here = this_session().own(InClass)
    person, token = (name, "") if role == LEARNER else ("", name)
    if (code, person, token) != (here.code, here.person, here.token):
        here = this_session().renew(InClass(code, person, token))
    here.look()


@source(own=True)
def class_now(_: str) -> Now | None:
    """What the class is at; None in no class."""
    return this_session().own(InClass).now


@source(own=True)
def class_problem(_: str) -> str:
    """Why what was sent to the class last does not count, in words."""
    return this_session().own(InClass).problem


@source(own=True)
def class_pulse(_: str) -> str:
    """A text that changes whenever anything about the class has changed."""
    return this_session().own(InClass).pulse


@source(own=True)
def class_covers(key: str) -> bool:
    """Whether the visitor's class is asked this, so that nobody is to see its numbers yet."""
    now: Now | None = this_session().own(InClass).now
    return now is not None and key in now.covers


@source(own=True)
def teaches(_: str) -> bool:
    """Whether the visitor is a class's teacher: then nothing is uncovered by scrolling past it."""
    here = this_session().own(InClass)
    return here.now is not None and bool(here.token)


def answered_alone(key: str, first: First) -> None:
    """In an event: what a learner has answered on a page of their own."""
    here = this_session().own(InClass)
    if here.person and (room := here.room):
        room.answers(here.person, key, first)


def tell_near(parts: Iterable[str]) -> None:
    """From a callback: tell the class which parts of the page are on the screen, or near it."""
    here = this_session().own(InClass)
    if here.person and (room := here.room):
        room.hears(here.person, this_session().page, [*parts])
