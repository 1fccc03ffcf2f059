"""Somebody who has a lesson open where nothing is drawn: what its cards come to at any settings."""

import time
from collections.abc import Collection, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from ..cards.page import Ask, Card, Page
from ..cards.question import Guess, Guesses
from ..cards.seen import in_card
from ..cards.tracked_trace import plain
from ..controls.lesson_session import LessonSession
from ..controls.shared import AROUND, FIRST
from ..reactive import settings
from ..reactive.control import Control, Values, understood
from ..reactive.fragments import page_fragments
from ..reactive.long_run import Run, Runs
from ..reactive.page import Made
from ..reactive.session import session_of

Texts = Mapping[str, str]
MOST_SECONDS = 45.0
"""For work that a card declares, such as a training; what takes longer waits for the app."""


class CannotBe(ValueError):
    """Settings that a lesson cannot open with, in words."""


@dataclass
class Reader:
    """A page at the settings that it opens with, `texts`, and at others."""

    page: Page
    texts: Texts
    most_seconds: float = MOST_SECONDS
    session: LessonSession = field(default_factory=LessonSession)
    runs: dict[tuple[str, Hashable], Run] = field(default_factory=dict)
    """What long work came to, by its name and what it is about."""
    unfinished: dict[str, str] = field(default_factory=dict)
    """By the names of cards, what their work takes where that was too long to be done here."""

    def __post_init__(self) -> None:
        self.controls: tuple[Control, ...] = (*self.page.controls, *AROUND)
        known = {each.name for each in self.controls}
        if unknown := [name for name in self.texts if name not in known]:
            raise CannotBe(
                f"{self.page.name} has no control {unknown[0]!r}. It has "
                f"{', '.join(each.name for each in self.page.controls)}."
            )
        self.texts = {"example": FIRST, **self.texts}
        values, wrong = understood(self.texts, self.controls)
        for name, why in wrong.items():
            raise CannotBe(f"{name}={self.texts[name]!r} cannot be used: {why}.")
        self.base = values
        self.session.page, self.session.controls = self.page.name, self.controls
        self.session.declared, self.session.window = self.page, frozenset()

    @contextmanager
    def here(self) -> Iterator["Reader"]:
        """Within, this is who asks."""
        with session_of(self.session):
            yield self

    def values_with(self, more: Texts) -> Values | None:
        """The values with other texts of some controls; None where they cannot be used."""
        undone = {
            name for each in self.controls if each.name in more for name in each.undoes
        } - more.keys()
        texts = {name: text for name, text in {**self.texts, **more}.items() if name not in undone}
        values, wrong = understood(texts, self.controls)
        return None if wrong.keys() & {*more} else values

    def goes_to(
        self, values: Values, asked: Collection[str] = (), texts: Texts | None = None
    ) -> None:
        """These values, with these questions open and all others answered."""
        self.session.values = values.read_by(settings.value.touch)
        self.session.chosen = {**self.texts, **(texts or {})}
        self.session.covering, self.session.cells, self.session.pictures = {}, [], {}
        page_fragments().known.clear()
        given = self.session.own(Guesses).given
        given.clear()
        given |= {each.key: Guess(0) for each in self.page.asks if each.name not in asked}
        page_fragments().known.clear()

    def is_there(self, card: Card) -> bool:
        """Whether a card is on the page: what it waits for is there, and its `when` says so."""
        gate = card.gate
        if gate and card is not gate and not self.page.given(gate.opens):
            return False
        return not card.when or bool(self.page.given(card.when))

    def within(self, card: Card) -> AbstractContextManager[None]:
        """What is made within belongs to this card."""
        self.session.in_card = card.title
        return in_card(card.name, lambda: plain(self.page.trace()))

    def made(self, card: Card) -> Made | None:
        """What a card has come to, `within` it; None where it is not on the page."""
        if card.gate and card is not card.gate:
            self._work_of(card.gate)
        if not self.is_there(card):
            return None
        self._work_of(card)
        return card.made()

    def _work_of(self, card: Card) -> None:
        """Its work, as far as it was done for these values: all of it for those that the page
        opens with, and elsewhere what begins by itself.
        """
        work = card.declared_work() if card.work else None
        if work is None:
            return
        by_name, key = self.session.own(Runs).by_name, (work.name, work.about)
        if key not in self.runs:
            by_name.pop(work.name, None)
            run = work.run()
            if run.share < 1 and (work.begins or not self.session.values.changed(self.base)):
                self._finish(run, work.pieces)
            if run.share < 1:
                run = Run(work.about)
                run.name, run.cost, run.verb = work.name, work.cost, work.verb
            self.runs[key] = run
        by_name[work.name] = self.runs[key]
        if self.runs[key].share < 1:
            self.unfinished[card.name] = work.cost
        else:
            self.unfinished.pop(card.name, None)

    def _finish(self, run: Run, pieces) -> None:
        until = time.monotonic() + self.most_seconds
        run.steps = run.steps or pieces()
        while run.steps is not None and run.share < 1 and time.monotonic() < until:
            run.advance(1.0)
        run.steps = None
        page_fragments().known.clear()

    def asks_at(self, values: Values) -> list[Ask]:
        """The questions that are asked at these values."""
        self.goes_to(values, {each.name for each in self.page.asks})
        return [each for each in self.page.asks if each.is_unanswered()]
