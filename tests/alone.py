"""A visitor without a page: chooses, and makes cards, where nothing is drawn or sent."""

import runpy
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from unittest.mock import patch

from attention_ui.cards.page import Page
from attention_ui.cards.seen import in_card
from attention_ui.cards.tracked_trace import plain
from attention_ui.controls.lesson_session import LessonSession
from attention_ui.frame.lesson_modules import controls_of, known_among
from attention_ui.reactive import fragments, settings
from attention_ui.reactive.control import Control, Values
from attention_ui.reactive.isolation import SESSION
from attention_ui.reactive.page import Made, only_declared
from attention_ui.reactive.session import _OF_RUN
from attention_ui.reactive.source import Dependencies, tracking
from conftest import ROOT


class Address(dict[str, str]):
    """What stands in the browser's address, as Streamlit hands it out."""

    def to_dict(self) -> dict[str, str]:
        return dict(self)

    def from_dict(self, said: dict[str, str]) -> None:
        self.clear()
        self.update(said)


TEXTS = (
    *("on", "off", "none", "A cat sat", "the small cat", "the tired dog sees the cat because it"),
    *("a b", "cat", "dog", "0.0:5", "0.1:5", "0.0", "0.1", "1,2,3", "2,1", "1", "seed", "d_in"),
    *("example=wild_cat&seed=70", "example=wild_cat&seed=71", "weights", "scores", "scores.0.0"),
)
"""What many a field takes."""


def other_texts(one: Control, values: Values) -> Iterator[str]:
    """Texts that a control may have, most of which it takes: those at its ends come first."""
    known = [one.field.write(value) for value in one.choices(values)]
    yield from [*known[-1:], *known]
    if hasattr(one.field, "least"):
        least, most = one.field.least, one.field.most
        yield from map(one.field.write, (most, least, type(most)((least + most) / 2), least + 1))
    yield from TEXTS


@cache
def page_of(lesson: str) -> Page:
    """The page of a lesson as its script declares it."""
    with only_declared():
        return runpy.run_path(str(ROOT / "pages" / f"{lesson}.py"))["page"]


class Visitor:
    """Somebody with an address. `reruns` are what was asked of Streamlit: fragments, or None for
    all of the page.
    """

    def __init__(self, lesson: str = "", /, **link: str) -> None:
        self.address = Address(link)
        self.state = LessonSession()
        self.reruns: list[list[str] | None] = []
        if lesson:
            self.opens(lesson)

    @contextmanager
    def here(self) -> Iterator[LessonSession]:
        """Within, what asks for the visit gets this one."""
        headers = {"User-Agent": "nobody"}
        around = SimpleNamespace(
            query_params=self.address,
            context=SimpleNamespace(headers=headers, cookies={}),
            rerun=lambda of=None, **_: self.reruns.append(of),
        )
        # As at the begin of a run of this one; what is asked for first sets the other.
        tokens = [(each, each.set(of)) for each, of in ((_OF_RUN, self.state), (SESSION, None))]
        try:
            with patch.object(settings, "st", around), patch.object(fragments, "st", around):
                yield self.state
        finally:
            for each, token in tokens:
                each.reset(token)

    @contextmanager
    def acts(self) -> Iterator[LessonSession]:
        """The same in an event, as what a callback does."""
        with self.here() as state, fragments.event():
            yield state

    def opens(self, lesson: str, link: dict[str, str] | None = None) -> "Visitor":
        """Go to a lesson, by a link where one is given, as `frame.page.open_page` does."""
        if link is not None:
            self.address.from_dict(link)
        controls = controls_of(lesson)
        with self.here() as state:
            ours = {each.name for each in controls}
            settings.arrive(lesson, controls, known_among({*self.address} - ours))
            state.declared = page_of(lesson)
            fragments.end_page()
        return self

    def makes(self, *names: str) -> dict[str, tuple[Made, Dependencies]]:
        """What the cards of the page come to now, all or those named, each with what it has read.
        Work that all waits for is done first.
        """
        page, made = self.state.declared, {}
        with self.here():
            for card in page.every_card():
                if names and card.name not in names:
                    continue
                run = card.run()
                if run is not None and card.opens:
                    run.advance()
                with tracking() as reads, in_card(card.name, lambda: plain(page.trace())):
                    gate_is_open = card.gate is None or page.given(card.gate.opens)
                    is_there = gate_is_open and (card.when is None or page.given(card.when))
                    made[card.name] = (card._make() if is_there else None), reads
        return {name: (one, dict(reads)) for name, (one, reads) in made.items()}
