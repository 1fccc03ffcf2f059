"""A class that is asked, votes, talks and votes again. Knows no screen, and nobody's name.

    room = Classroom("1BCDFGHJK")
    person = room.joins()
    room.asks(Asked("causal_mask.row", question, 7, "causal_mask", {}, "weights", "Weights"), 0)
    room.votes(person, room.now(person).turn, (2,))
    room.now().n_votes  # 1

All of it lives in the memory of one process, is bounded, and is gone when the class ends.
"""

import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Any

LASTS = 6 * 3600.0
"""Seconds that a class lasts, from when it was made."""
MOST_PEOPLE, MOST_ROUNDS, MOST_TURNS = 300, 60, 5
MOST_NUMBERS, MOST_KEYS, MOST_PARTS = 64, 100, 60
"""Numbers in an answer; questions answered alone; parts of a page that a browser has near."""
LONGEST = 300
"""Characters that are kept of an answer in words, and of the sentence that judges it."""
HERE = 75.0
"""Seconds that somebody counts as here after their browser was heard: a browser lets a tab that
is not seen ask once a minute.
"""
ASKED, BARS, OPEN = "asked", "bars", "open"
"""How far a class is with a question: it votes; it sees the bars; it sees the numbers."""
Guess = tuple[float, ...]
"""An answer as numbers: the places of picked choices, the sides of a shape, or shares."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What a class is asked: a question of a page, about the numbers that its link gives."""

    key: str
    """Under which its page covers what it asks for."""
    question: Any
    """It judges answers (`attention_ui/cards/questions.py`)."""
    fingerprint: int
    """Of the numbers that it is about."""
    page: str
    link: Mapping[str, str]
    card: str
    title: str
    """The name and the title of the card that asks it."""


@dataclass
class Round:
    """A question, and its votes: for each turn, everybody's last answer."""

    asked: Asked
    turns: list[dict[str, Guess]] = field(default_factory=lambda: [{}])
    stage: str = ASKED
    at: str = ""
    """When it was asked first, for whoever reads the table later: a day and a time in UTC."""


@dataclass(frozen=True)
class Turn:
    """Which vote on which question: an answer that comes too late names an earlier one."""

    round: int
    turn: int


@dataclass(frozen=True)
class Now:
    """What a class is at, as far as one person may know; without a person, all its teacher sees."""

    code: str
    version: int
    """Changes whenever the teacher has done something."""
    asked: Asked | None = None
    turn: Turn = Turn(-1, -1)
    stage: str = ""
    covers: frozenset[str] = frozenset()
    """The keys of questions whose numbers nobody is to see yet."""
    uncovered: tuple[tuple[Asked, Guess | None], ...] = ()
    """The questions whose numbers were uncovered, with this person's last answer."""
    own: Guess | None = None
    before: Guess | None = None
    """This person's answers: in this turn, and the last one in a turn before."""
    tallies: tuple[tuple[tuple[Guess, int], ...], ...] = ()
    """For each turn, how often each answer was given; a learner has none before the bars."""
    n_here: int = 0
    n_votes: int = 0
    """How many are here, and how many of them have voted; a learner is not told."""
    is_closed: bool = False
    """Whether nobody else can join."""


@dataclass(frozen=True)
class First:
    """One person's first answer to a question, alone, and the numbers that it was about."""

    fingerprint: int
    right: bool | None
    """None for somebody who asked to be shown."""
    answer: str = ""
    words: str = ""


@dataclass(frozen=True)
class Alone:
    """What is known of a question that people answer alone: counts, and nothing of one person."""

    answered: int = 0
    right: int = 0
    shown: int = 0
    wrong: tuple[tuple[str, str, int], ...] = ()
    """The most common wrong answers: each with the sentence that judged it, and how often it was
    given.
    """


@dataclass
class _Person:
    heard: float
    page: str = ""
    near: frozenset[str] = frozenset()


class Classroom:
    """One class, safe to use from many threads. Whatever a teacher does names the `version` that
    was on the screen, and nothing happens if the class has gone on since: two presses act once.
    """

    def __init__(
        self,
        code: str,
        page: str = "",
        link: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.code, self._clock, self.ends_at = code, clock, clock() + LASTS
        self.token = secrets.token_urlsafe(24)
        """Whoever has it is the teacher."""
        self._where = (page, dict(link or {}))
        self._lock = Lock()
        self._people: dict[str, _Person] = {}
        self._rounds: list[Round] = []
        self._is_over = True
        """Whether the class is done with its last question."""
        self._first: dict[str, dict[str, First]] = {}
        self._version, self._heard = 0, 0
        self._has_ended = self._is_closed = False
        self.heard = clock()
        """When one of its browsers last asked for the pulse."""

    # --- who is there --------------------------------------------------------------------------
    def joins(self) -> str:
        """A new person's id; "" where the class is full, closed or over."""
        with self._lock:
            full = len(self._people) >= MOST_PEOPLE
            if full or self._is_closed or self._is_gone():
                return ""
            person = secrets.token_urlsafe(12)
            self._people[person] = _Person(self._clock())
            self._heard += 1
            return person

    def leaves(self, person: str) -> None:
        """Somebody leaves, and takes along the answer to the vote that is on."""
        with self._lock:
            one = self._current()
            if self._people.pop(person, None) is None:
                return
            if one and one.stage == ASKED:
                one.turns[-1].pop(person, None)
            self._heard += 1

    def knows(self, person: str) -> bool:
        """Whether this is the id of somebody who has joined."""
        return person in self._people

    def is_teacher(self, token: str) -> bool:
        """Whether this is the teacher's token, in the same time whatever it is."""
        return secrets.compare_digest(token.encode(), self.token.encode())

    def hears(self, person: str, page: str = "", near: Sequence[str] | None = None) -> None:
        """Somebody's browser was heard; it may say which page is open and what of it is near."""
        with self._lock:
            if one := self._people.get(person):
                one.heard = self._clock()
                if near is not None:
                    told = page[:40], frozenset(each[:40] for each in near[:MOST_PARTS])
                    self._heard += told != (one.page, one.near)
                    one.page, one.near = told

    def pulse(self, is_teacher: bool) -> str:
        """A text that changes whenever a learner's screen does, or the teacher's; "" at its end."""
        with self._lock:
            if self._is_gone():
                return ""
            self.heard = self._clock()
            if not is_teacher:
                return str(self._version)
            return f"{self._version}.{self._heard}.{len(self._here())}"

    @property
    def has_ended(self) -> bool:
        return self._is_gone()

    def ends(self) -> None:
        """The teacher ends it: nobody joins or votes any more."""
        with self._lock:
            self._has_ended = True
            self._version += 1

    def closes(self, closed: bool) -> None:
        """Close the class to whoever has not joined yet, or open it again."""
        with self._lock:
            self._is_closed = closed
            self._heard += 1

    # --- ask, vote, talk, vote again -----------------------------------------------------------
    def asks(self, asked: Asked, version: int) -> bool:
        """Ask the class something. Returns whether that was done."""

        def ask() -> bool:
            if not self._is_over or len(self._rounds) >= MOST_ROUNDS:
                return False
            now = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
            self._rounds.append(Round(asked, at=now))
            self._is_over = False
            return True

        return self._acts(version, ask)

    def shows_bars(self, version: int) -> bool:
        """Everybody sees what was answered, and nobody answers any more."""
        return self._goes(version, {ASKED}, BARS)

    def asks_again(self, version: int) -> bool:
        """After they have talked: everybody answers anew. Not while nobody has answered."""

        def again() -> bool:
            one = self._current()
            if one is None or one.stage == OPEN or len(one.turns) >= MOST_TURNS:
                return False
            if one.stage == ASKED and not one.turns[-1]:
                return False  # nobody has answered: the second press of two, a moment apart
            one.turns.append({})
            one.stage = ASKED
            return True

        return self._acts(version, again)

    def uncovers(self, version: int) -> bool:
        """Everybody sees the numbers that were asked for."""
        return self._goes(version, {ASKED, BARS}, OPEN)

    def goes_on(self, version: int) -> bool:
        """The class is done with the question. Where its numbers were not uncovered, each page
        decides again whether it covers them.
        """

        def leave() -> bool:
            self._is_over, was = True, self._is_over
            return not was

        return self._acts(version, leave)

    def votes(self, person: str, turn: Turn, guess: Sequence[float]) -> bool:
        """Count somebody's answer, in place of an earlier one. False where it does not count: it
        is too late or too long, or whoever sent it has not joined.
        """
        with self._lock:
            one = self._current()
            if (
                one is None
                or turn != self._turn()
                or one.stage != ASKED
                or person not in self._people
                or len(guess) > MOST_NUMBERS
                or self._is_gone()
            ):
                return False
            one.turns[-1][person] = tuple(guess)
            self._people[person].heard = self._clock()
            self._heard += 1
            return True

    # --- what is to be seen --------------------------------------------------------------------
    def now(self, person: str = "") -> Now:
        """What the class is at, as far as this person may know; without one, as its teacher."""
        with self._lock:
            one, turn = self._current(), self._turn()
            covers = frozenset([one.asked.key] if one and one.stage != OPEN else ())
            if one is None:
                told = Now(self.code, self._version)
            else:
                sees = not person or one.stage != ASKED
                told = Now(
                    self.code,
                    self._version,
                    one.asked,
                    turn,
                    one.stage,
                    own=one.turns[-1].get(person),
                    before=_last(one.turns[:-1], person),
                    tallies=tuple(map(_tally, one.turns)) if sees else (),
                )
            uncovered = tuple(
                (each.asked, _last(each.turns, person))
                for each in self._rounds
                if each.stage == OPEN
            )
            counts = {} if person else self._counts(one)
            every = {"covers": covers, "uncovered": uncovered, **counts}
            return Now(**{**vars(told), **every})

    def where(self) -> tuple[str, Mapping[str, str]]:
        """The page and the settings that the class is at: where latecomers are led."""
        with self._lock:
            last = self._rounds[-1].asked if self._rounds else None
            return (last.page, last.link) if last else self._where

    def rounds(self) -> list[tuple[Round, list[Counter[Guess]]]]:
        """All that the class was asked, with what was answered at each turn."""
        with self._lock:
            return [(one, [Counter(turn.values()) for turn in one.turns]) for one in self._rounds]

    # --- while they work alone -----------------------------------------------------------------
    def answers(self, person: str, key: str, first: First) -> None:
        """What somebody has answered alone; only the first answer to a question counts."""
        with self._lock:
            if person not in self._people or self._is_gone():
                return
            if key not in self._first and len(self._first) >= MOST_KEYS:
                return
            short = First(
                first.fingerprint, first.right, first.answer[:LONGEST], first.words[:LONGEST]
            )
            self._first.setdefault(key, {}).setdefault(person, short)
            self._heard += 1

    def near(self, page: str, part: str) -> int:
        """How many of those who are here have this part of a page near."""
        with self._lock:
            here = self._here()
            return sum(one.page == page and part in one.near for one in here.values())

    def on_page(self, page: str) -> int:
        """How many of those who are here have this page open."""
        with self._lock:
            return sum(one.page == page for one in self._here().values())

    def answered_alone(self) -> list[str]:
        """The questions that somebody has answered alone."""
        with self._lock:
            return sorted(self._first)

    def alone(self, key: str, fingerprint: int | None = None, most: int = 3) -> Alone:
        """First answers to a question. The wrong ones are those about the numbers with this
        fingerprint; without one, about the numbers that most people had.
        """
        with self._lock:
            each = [*self._first.get(key, {}).values()]
        if fingerprint is None and each:
            fingerprint = Counter(one.fingerprint for one in each).most_common(1)[0][0]
        wrong = Counter(
            (one.answer, one.words)
            for one in each
            if one.right is False and one.fingerprint == fingerprint
        )
        return Alone(
            sum(one.right is not None for one in each),
            sum(one.right is True for one in each),
            sum(one.right is None for one in each),
            tuple((*what, n) for what, n in wrong.most_common(most)),
        )

    # --- within the lock -----------------------------------------------------------------------
    def _is_gone(self) -> bool:
        return self._has_ended or self._clock() > self.ends_at

    def _current(self) -> Round | None:
        return None if self._is_over or not self._rounds else self._rounds[-1]

    def _turn(self) -> Turn:
        one = self._current()
        return Turn(len(self._rounds) - 1, len(one.turns) - 1) if one else Turn(-1, -1)

    def _here(self) -> dict[str, _Person]:
        since = self._clock() - HERE
        return {name: one for name, one in self._people.items() if one.heard >= since}

    def _counts(self, one: Round | None) -> dict[str, Any]:
        voted = one.turns[-1] if one else {}
        return {
            "n_here": len({*self._here(), *voted}),
            "n_votes": len(voted),
            "is_closed": self._is_closed,
        }

    def _acts(self, version: int, act: Callable[[], bool]) -> bool:
        with self._lock:
            if version != self._version or self._is_gone() or not act():
                return False
            self._version += 1
            return True

    def _goes(self, version: int, stages: set[str], to: str) -> bool:
        def go() -> bool:
            one = self._current()
            if one is None or one.stage not in stages:
                return False
            one.stage = to
            return True

        return self._acts(version, go)


def _tally(votes: Mapping[str, Guess]) -> tuple[tuple[Guess, int], ...]:
    # Sorted by the answers, so that the order does not tell who came when.
    return tuple(sorted(Counter(votes.values()).items()))


def _last(turns: Sequence[Mapping[str, Guess]], person: str) -> Guess | None:
    return next((turn[person] for turn in reversed(turns) if person in turn), None)
