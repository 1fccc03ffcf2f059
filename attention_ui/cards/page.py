"""A page, declared: its cards as functions of values, its questions, what goes deeper, its ends.

What a card reads is tracked while it is made, and from that alone follows when it runs, by what its
output is kept and for whom (`attention_ui/reactive`). So a card only says what it shows:

    page = Page("cross_attention", output="context_vectors")

    @page.card("scores", "Scores", "Each query meets each key.", controls=[SOURCE])
    def scores(v, trace):
        yield matrices(trace, trace["scores"])

    page.show()
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property, partial
from inspect import signature
from itertools import takewhile
from types import MappingProxyType
from typing import Any

import streamlit as st

from attention_core.published.marking import Mark
from attention_core.trace import Trace
from attention_core.utils.validation import among

from ..controls.covered import covered_how
from ..controls.lesson_session import this_session
from ..frame import ends
from ..frame.contents import lesson
from ..frame.ends import row
from ..frame.glossary import Term, terms_in
from ..frame.lesson_modules import module_of
from ..frame.long_run import Run, Work, go_on, go_on_with_page, put_run, put_run_of, run_so_far
from ..frame.page import open_lesson
from ..frame.proof import marks_of, published_lessons
from ..picture.layout import Layout
from ..reactive import settings
from ..reactive.code_check import check_code
from ..reactive.control import Control, Placed, Values
from ..reactive.fragments import end_page, fragment, page_fragments, window_is
from ..reactive.function_identity import FunctionIdentity, function_identity
from ..reactive.isolation import Misdeclared, is_closed, made_for_everybody
from ..reactive.near_names import is_slip
from ..reactive.session import the_session
from ..reactive.source import source, tracked_later, untracked
from ..reactive.visibility import watch_visibility
from .cached import cache
from .card import framed
from .covers import NUMBERS, SHAPE, Cover, giving_away, joined
from .elements import Element, Picture, Row, note, put
from .pinned import since_the_pin
from .question import (
    asks_first,
    fingerprint_of,
    is_asked,
    is_passable,
    opens,
    put_question,
    was_passed,
    went_on,
)
from .questions import Question
from .seen import in_card
from .tracked_trace import TrackedTrace, plain, tracked

Body = Callable[..., Iterable[Element]]
OfBoth = Callable[..., Any]
"""What follows from `v`, the values of the controls, and `trace`, the page's, or one of them."""


_ONLY_DECLARED = ContextVar("only declared", default=False)


@contextmanager
def only_declared() -> Iterator[None]:
    """Pages whose scripts run within are declared, and show nothing."""
    before = _ONLY_DECLARED.set(True)
    try:
        yield
    finally:
        _ONLY_DECLARED.reset(before)


def given(
    made: Callable[..., Any],
    trace: Callable[[], Trace],
    values: Callable[[], Values] = settings.values,
) -> Any:
    """What a function of a page gives, which takes what it asks for by name: `v` or `values`, those
    of the controls, and `trace`, the page's. Raises Misdeclared for any other name.
    """
    known = {"v": values, "values": values, "trace": trace}
    names = signature(made).parameters
    if unknown := names.keys() - known.keys():
        raise Misdeclared(
            f"{getattr(made, '__name__', made)} asks for {', '.join(sorted(unknown))}; a function "
            "of a page can ask for v, the values of its controls, and trace"
        )
    return made(**{name: known[name]() for name in names})


@dataclass(eq=False)
class Ask:
    """A question that covers steps on every card of its page until it is answered."""

    page: "Page"
    name: str
    make: OfBoth
    about: Sequence[str]
    covers: Sequence[str] | OfBoth | None = None
    """What it covers whole, where no step of its trace says so: else see `covers.giving_away`."""
    stays: Sequence[str] | None = None
    """What it is to be worked out from, which stays; the inputs of what it is about."""
    of: OfBoth | None = None
    """Gives the trace that has these steps, where the page's has not."""
    each: OfBoth | None = None
    again: Sequence[str] | None = ()
    """The steps that have to be seen where it is asked away from its page; None where it is not."""

    @cached_property
    def identity(self) -> FunctionIdentity:
        """What tells it from one that is asked otherwise."""
        return function_identity(*self.made_by, self.about, self.stays, self.again)

    @property
    def made_by(self) -> tuple:
        """The functions that decide what it asks, when, and what it covers."""
        return self.make, self.covers, self.of, self.each, self.page.trace_of

    @property
    def key(self) -> str:
        """What a guess is kept by: of each of several questions, where `each` tells them apart."""
        which = f"_{self.page.given(self.each)}" if self.each else ""
        return f"{self.page.name}.{self.name}{which}"

    def made(self) -> tuple[Question | None, int]:
        """The question, and a fingerprint of the numbers that it is about."""
        return cache.get(
            ("ask", self.page.name, self.name, self.identity), self._make, lambda _: 2_000
        )

    def _trace(self) -> Trace:
        return self.page.given(self.of) if self.of else self.page.trace()

    def _make(self) -> tuple[Question | None, int]:
        asked = self.page.given(self.make)
        if asked is None:
            return None, 0
        trace = self._trace()
        known = [trace[name] for name in self.about if name in trace]
        if not known:
            raise Misdeclared(
                f"the question {self.name!r} of {self.page.name} is about {', '.join(self.about)}, "
                f"and its trace has no such step{among(self.about[0], plain(trace))}"
            )
        self._check_slips("is about", self.about, trace)
        self._check_slips("lets stay", self.stays or (), trace)
        self._check_slips("is asked again with", self.again or (), trace)
        return asked, fingerprint_of(known, asked.only_shapes)

    def _check_slips(self, does: str, names: Iterable[str], *traces: Trace) -> None:
        """Raises Misdeclared for a name that no trace has, and that is nearly one which it has."""
        there = {name: None for trace in traces for name in plain(trace)}
        for name in names:
            meant = (
                None if name in there else next((one for one in there if is_slip(name, one)), None)
            )
            if meant:
                raise Misdeclared(
                    f"the question {self.name!r} of {self.page.name} {does} {name!r}, which is no "
                    f"step of its trace. Is {meant!r} meant?"
                )

    def hides(self) -> Mapping[str, Cover]:
        """What it covers while it is open, by the names of steps."""
        return cache.get(
            ("hides", self.page.name, self.name, self.identity),
            self._hides,
            lambda found: 1_000 * (1 + len(found)),
        )

    def _hides(self) -> Mapping[str, Cover]:
        asked, _ = self.made()
        if asked is None:
            return {}
        if self.covers is not None:
            covers = [*self.page.given(self.covers)]
            self._check_slips("covers", covers, self._trace(), self.page.trace())
            return dict.fromkeys(covers, Cover(NUMBERS))
        if asked.only_shapes:
            cards = [each.name for each in self.page.every_card() if each.ask is self]
            return dict.fromkeys(self.about, Cover(SHAPE, card=cards[0] if cards else ""))
        trace = self._trace()
        whole = trace.whole() if isinstance(trace, TrackedTrace) else trace
        found = giving_away(whole, self.about, asked.at, self.stays)
        return {name: Cover.of(mask, asked.at) for name, mask in found.items()}

    def covered(self) -> Mapping[str, Cover]:
        """The steps that it covers now, each with how."""
        if not asks_first():
            return {}  # without making what nobody is asked
        asked, _ = self.made()
        hides = self.hides() if is_asked(asked, self.key) else {}
        return {} if opens(hides) else hides

    def is_unanswered(self) -> bool:
        """Whether it is asked, and nobody has answered it or gone on from it."""
        return asks_first() and self.made()[0] is not None and not was_passed(self.key)

    def is_passable(self) -> bool:
        """Whether it is asked now, and whoever goes on is not held up by it."""
        if not asks_first():
            return False
        asked, _ = self.made()
        return is_passable(asked) and is_asked(asked, self.key) and not opens(self.hides())

    def draw(self) -> None:
        if asks_first():
            with untracked():  # it is drawn for what is asked, whatever that covers
                covered = frozenset(self.covered())
            _is_covering(self.name)
            put_question(self.name, self.key, *self.made(), covered)

    def waits(self) -> bool:
        """Whether it has to be answered; what it covers waits for its card, though folded."""
        covered = frozenset(self.covered())
        this_session().covering[self.name] = (this_session().in_card, covered)
        return bool(covered)


@dataclass(eq=False)
class Card:
    """One card: its name is its anchor, what a link calls it, and its picture's name."""

    page: "Page"
    name: str
    title: str
    words: str | OfBoth
    body: Body
    controls: Sequence[Control | Placed] | OfBoth = ()
    ask: Ask | None = None
    when: OfBoth | None = None
    work: Callable[[Values], Work | None] | None = None
    opens: OfBoth | None = None
    """Whether all that follows on the page is there: after work that all of it waits for."""
    is_section: bool = False
    """Whether it is a heading with what follows, and no frame."""
    pictures: Sequence[str] = ()
    """The names of its pictures, where they are others than its own: a link to one opens its row.
    """
    gate: "Card | None" = None
    """The card before it that it waits for."""

    @cached_property
    def identity(self) -> FunctionIdentity:
        """What tells it from one that is made otherwise."""
        return function_identity(*self.made_by)

    @property
    def made_by(self) -> tuple:
        """The functions, or what stands in their place, that decide what it shows, and when."""
        made = self.body, self.words, self.controls, self.when, self.opens, self.work
        return *made, self.page.trace_of

    def draw(self) -> None:
        """The card, for the values there are now."""
        if self.opens:
            self._draw()
        else:
            self.page.behind(self.gate, self.name, self._draw)

    def _draw(self) -> None:
        with in_card(self.name, lambda: plain(self.page.trace())):
            self._draw_what_is_there()

    def _draw_what_is_there(self) -> None:
        if self.when and not self.page.given(self.when):
            return
        run, failed = None, None
        try:
            run = self.run()
        except Exception as error:
            if self.opens is None:
                raise
            failed = error  # what can be chosen here is drawn first: it may be the way out
        made = self.made()
        this_session().cards[self.name] = self.title
        above = self.page.explained_above(self)
        kept_open, folded = self._folds(made)
        controls = [each for each in made.controls if each in kept_open]
        is_beside = run is not None and not any(map(_is_place_of_work, made.elements))
        around = self.is_section, above, bool(controls) or is_beside
        with framed(self.name, self.title, made.words, *around) as beside:
            with beside:
                for each in controls:
                    put(each)
                if is_beside:
                    put_run(run)
            if self.ask and folded is None:
                self.ask.draw()
            self.page.drawing = self
            for each in made.elements:
                if each in kept_open:
                    put(each)
            if folded is not None:
                self._draw_folded(folded)
            if self.opens:
                with self.page.within(self.name):
                    if failed:
                        raise failed
        if run is not None and self.opens is None:
            go_on(run)

    def _folds(self, made: "Made") -> tuple[list[Any], list[Any] | None]:
        """What a card shows, and what it folds on a phone with its question: all but its first
        picture or main row, with the control in it, and its work. None where it folds nothing.
        """
        every = [*made.controls, *made.elements]
        rows = (each for each in every if isinstance(each, Row) and each.is_main)
        main = next(filter(_is_picture, every), None) or next(rows, None)
        if self not in self.page.cards or self.opens or main is None or not _is_on_phone():
            return every, None
        stays = [each for each in every if each is main or _belongs_to(each, main)]
        folded = [each for each in every if each not in stays]
        is_short = not (self.ask or made.controls or folded[1:] or any(map(_is_picture, folded)))
        return (every, None) if is_short else (stays, folded)

    def _draw_folded(self, folded: Sequence[Any]) -> None:
        """The row with what a phone folds; it says what is in it."""
        controls = [*filter(_is_control, folded)]
        told = {
            "**Predict first**": self.ask and self.ask.waits(),
            "change it": controls,
            "read on": len(controls) < len(folded),
        }
        label = ", ".join(words for words, is_so in told.items() if is_so) or "read on"
        label = label[0].upper() + label[1:]
        names = [*filter(None, map(_name_of, folded))]
        with row(label, f"more_{self.name}", ":material/unfold_more:", *names) as is_open:
            if is_open:
                if self.ask:
                    self.ask.draw()
                for each in folded:
                    put(each)

    def run(self) -> Run | None:
        """Its work, as far as it has come."""
        work = self._work() if self.work else None
        return work and work.run()

    def _work(self) -> Work | None:
        with made_for_everybody(f"The work of the card {self.name!r} of {self.page.name}"):
            return self.work(settings.values())

    def draw_work(self) -> None:
        """In place of a card that is not drawn: the work that others wait for."""
        with self.page.within(self.name):
            if run := self.run():
                put_run(run)

    def go_on_with_page(self) -> None:
        """When all else was drawn: the next slice of work that all waits for."""
        run = run_so_far(self._work().name)
        if run and run.steps is not None:
            with self.page.within("goes_on"):
                go_on_with_page(run)

    def made(self) -> "Made":
        """What it has come to for the values there are now; within `in_card`."""
        return cache.get(
            ("card", self.page.name, self.name, self.identity),
            self._make,
            lambda made: 4_000 + sum(getattr(each, "n_bytes", 0) for each in made.elements),
        )

    def _make(self) -> "Made":
        given = self.page.given
        words, controls = given(self.words), given(self.controls)
        placed = [self._named(one.at() if isinstance(one, Control) else one) for one in controls]
        elements = [self._named(each) for each in self._yielded(given(self.body))]
        for each in elements:
            if isinstance(each, Picture):
                self._check(each)
                each.now()  # so that what it reads is tracked
        drawn = {_name_of(one) for one in _all_in(elements)} - {""}
        for one in _all_in([*placed, *elements]):
            if not hasattr(one, "draw") and not isinstance(one, Placed | Control):
                raise Misdeclared(
                    f"the card {self.name!r} of {self.page.name} "
                    f"{'has among its controls' if one in placed else 'yields'} {str(one)[:60]!r}, "
                    "which is nothing that can be drawn: a control is a `Control` of the lesson, "
                    "words are `ui.say(…)`, steps are `ui.matrices(trace, trace[…])`"
                )
            if isinstance(one, Placed) and one.in_picture:
                self._check_moved(one, elements)
            if isinstance(one, Placed) and one.in_picture not in {*drawn, *self.pictures, ""}:
                raise Misdeclared(
                    f"the card {self.name!r} of {self.page.name} has {one.control.name!r} in the "
                    f"picture {one.in_picture!r}, but draws {', '.join(sorted(drawn)) or 'none'}"
                )
        return Made(words, placed, elements)

    def layout_with(self, picture: str, values: Values) -> Layout:
        """One of its pictures, as it would be with other values."""
        body = given(self.body, lambda: self.page.trace_of(values), lambda: values)
        return next(each.now() for each in map(self._named, body) if picture == _name_of(each))

    def _yielded(self, made: Any) -> Iterable[Any]:
        """What its function yields. Raises Misdeclared where that returns something, or nothing."""
        if isinstance(made, Iterable) and not isinstance(made, str):
            return made
        told = "returns nothing" if made is None else f"returns {str(made)[:60]!r}"
        raise Misdeclared(
            f"the card {self.name!r} of {self.page.name} {told}: what it shows it has to `yield`, "
            "one element after the other"
        )

    def _check_moved(self, one: Placed, elements: Sequence[Any]) -> None:
        """Raises Misdeclared where a picture of the card is to have a control, and does not move
        by it.
        """
        name = one.control.name
        for each in _all_in(elements):
            if not isinstance(each, Picture) or each.name != one.in_picture:
                continue
            if each.carries is None or each.carries.name != name:
                raise Misdeclared(
                    f"the card {self.name!r} of {self.page.name} has {name!r} in the picture "
                    f"{each.name!r}, which does not move by it: let the card yield "
                    "`ui.moving(CONTROL, at)`, where `at` gives what is drawn at a position"
                )

    def _check(self, one: Picture) -> None:
        if one.carries is not None and one.carries.name not in settings.values():
            raise Misdeclared(self.page.lacks(self.name, one.carries.name))

    def _named(self, each: Any) -> Any:
        """A picture, or the place of a control in one, named as the card where it has no name."""
        if isinstance(each, Picture) and each.name == "*":
            each.name = self.name
        if isinstance(each, Placed) and each.in_picture == "*":
            return replace(each, in_picture=self.name)
        if isinstance(each, Row):
            return replace(each, elements=[self._named(one) for one in each.elements])
        return each


@dataclass(frozen=True)
class Made:
    """What a card has come to."""

    words: str
    controls: Sequence[Element]
    elements: Sequence[Element]


def _all_in(elements: Iterable[Any]) -> Iterator[Any]:
    """Elements, and those that stand in rows of them."""
    for each in elements:
        yield from _all_in(each.elements) if isinstance(each, Row) else (each,)


def _name_of(each: Any) -> str:
    return each.name if isinstance(each, Picture) else ""


def _is_on_phone() -> bool:
    return window_is("phone") and not (settings.values().card or settings.values().paper)


def _is_picture(each: Any) -> bool:
    return isinstance(each, Picture) or getattr(each, "is_chart", False)


def _is_control(each: Any) -> bool:
    return isinstance(each, Placed) or (
        isinstance(each, Row) and any(map(_is_control, each.elements))
    )


def _belongs_to(each: Any, main: Any) -> bool:
    """Whether it is the place of a control in this picture, or of work."""
    if isinstance(each, Row):
        return any(_belongs_to(one, main) for one in each.elements)
    is_in_it = isinstance(each, Placed) and each.in_picture == _name_of(main) != ""
    return is_in_it or _is_place_of_work(each)


def _is_place_of_work(each: Element) -> bool:
    if isinstance(each, Row):
        return any(map(_is_place_of_work, each.elements))
    return getattr(each, "call", None) is put_run_of


class Fold:
    """Cards and sections behind one row, which cost nothing before it is opened: behind so many
    cards of its page, or where no number is said behind all of them.
    """

    def __init__(
        self, page: "Page", key: str, label: str, icon: str, when: OfBoth | None, place: int | None
    ) -> None:
        self._page, self.key, self._row, self._when = page, key, (label, key, icon), when
        self.place, self.label = place, label.partition(":")[0]
        self.cards: list[Card] = []

    def card(self, name: str, title: str, words: str | OfBoth = "", **more: Any):
        """A card, as `Page.card` makes it."""
        return self._page._declared(self.cards, name, title, words, **more)

    def section(self, name: str, title: str, words: str | OfBoth = "", **more: Any):
        """The same without a frame: a heading and what follows."""
        return self.card(name, title, words, is_section=True, **more)

    def draw(self) -> None:
        """The row, and what is in it where it is open."""
        alone = settings.values().card
        names = [name for each in self.cards for name in (each.name, *each.pictures)]
        if (alone and alone not in names) or (self._when and not self._page.given(self._when)):
            return
        with row(*self._row, *names) as is_open:
            if is_open:
                for each in self.cards:
                    fragment(f"card_{each.name}", each.draw, waits=True)


class Page:
    """All of a page. `name` is that of its lesson; `output` the step whose attention the checks at
    its end are on, `published` the lesson's name among the notebooks' numbers, `others` further
    traces of it whose numbers are checked, and `sidebar` controls that all its cards show. Each
    card is made and drawn `within` what says in words, in the place of that name, what goes wrong.
    """

    def __init__(
        self,
        name: str,
        output: str = "",
        published: str = "",
        others: OfBoth | Mapping[str, Trace] = MappingProxyType({}),
        sidebar: Sequence[Control] = (),
        has_pins: bool = True,
        within: Callable[[str], AbstractContextManager] = nullcontext,
    ) -> None:
        self.name, self.output, self.published = name, output, published
        self.others, self.sidebar, self.has_pins = others, sidebar, has_pins
        self.within = within
        room = module_of(name)
        self.controls: Sequence[Control] = room.CONTROLS
        self.trace_of: Callable[[Values], Trace] | None = getattr(room, "trace_of", None)
        self.asks: list[Ask] = []
        self.cards: list[Card] = []
        self.folds: list[Fold] = []
        self.closing: Sequence[OfBoth] = ()
        self.closing_again: Sequence[OfBoth] = ()
        self.about_weights = True
        self.drawing: Card | None = None
        """The card whose elements are drawn."""

    def card(self, name: str, title: str, words: str | OfBoth, **more: Any):
        """A card, whose function of the values and the trace yields what stands below its words.

        `controls` stand beside the words, or a function of both gives them; `ask` is its question;
        `when` says whether it is there; `work` is a long run, of which the function asks
        `run_so_far`. Where all that follows waits for it, `opens` says whether that is there.
        """
        return self._declared(self.cards, name, title, words, **more)

    def _declared(self, where: list[Card], name: str, title: str, words: Any, **more: Any):
        if any(name == each.name for each in self.every_card()):
            raise Misdeclared(f"two cards of {self.name} are called {name!r}")

        def made(body: Body) -> Body:
            where.append(Card(self, name, title, words, body, gate=self.gate, **more))
            return body

        return made

    def ask(
        self,
        name: str,
        make: OfBoth,
        about: Sequence[str],
        covers: Sequence[str] | OfBoth | None = None,
        **more: Any,
    ) -> Ask:
        """A question, asked on the card that names it, or where a card yields it. It is `about`
        steps of the page's trace, or the one that `of` gives, whose numbers a guess holds for. It
        covers the cells that it asks for, and what gives them away, wherever that stands; all that
        `stays` to work it out from, which are the inputs of what it is about unless others are
        named, is open (see `covers.py`). What is no step, `covers` names. What `each` gives makes
        another question of it, guessed by itself. Where it is asked `again`, on the home page,
        these steps are shown with it; None where it needs more of its page.
        """
        one = Ask(self, name, make, about, covers, **more)
        self.asks.append(one)
        return one

    def deeper(self, words: str) -> Fold:
        """What goes beyond the point of the lesson; `words` say what is in it."""
        return self.fold("deeper", f"**Go deeper**: {words}", ":material/stairs:")

    def fold(
        self, key: str, label: str, icon: str, when: OfBoth | None = None, in_place: bool = False
    ) -> Fold:
        """A row that opens at the page's end, or `in_place`; `when` says whether it is there."""
        place = len(self.cards) if in_place else None
        self.folds.append(Fold(self, key, label, icon, when, place))
        return self.folds[-1]

    def answers(self, *closing: OfBoth, about_weights: bool = True, again: bool = True) -> None:
        """What one can now answer: functions of both that give an `Answer`, or None. They are asked
        `again` where they can do without what a visitor has done on the page.
        """
        self.closing, self.about_weights = closing, about_weights
        self.closing_again = closing if again else ()

    def given(self, made: Any) -> Any:
        """What a function of the page gives, which can read sources alone; anything else as
        it is.
        """
        if not callable(made):
            return made
        if is_closed():
            return given(made, self.trace)
        with made_for_everybody(f"A function of {self.name}, {getattr(made, '__name__', made)!r},"):
            return given(made, self.trace)

    def given_alive(self, made: Callable[..., Any]) -> Any:
        """The same of what runs for one visitor alone, whenever it is drawn."""
        return given(made, self.trace)

    def trace(self) -> TrackedTrace:
        """The page's trace, kept for everybody by what it read."""
        with tracked_later():  # each step that is looked at is tracked by itself
            what = "trace", self.name, self.identity
            return cache.get(what, self._make_trace, _size_of_trace)

    @cached_property
    def identity(self) -> FunctionIdentity:
        """What tells its traces and its answers from those of one that is written otherwise."""
        return function_identity(*self.made_by)

    @property
    def made_by(self) -> tuple:
        return self.trace_of, self.others, *self.closing, *(each._when for each in self.folds)

    def _make_trace(self) -> TrackedTrace:
        values = settings.values()
        return tracked(lambda: self.trace_of(values) if self.trace_of else Trace())

    def every_card(self) -> list[Card]:
        """All that it has, those behind rows last."""
        return [*self.cards, *(each for fold in self.folds for each in fold.cards)]

    def explained_above(self, card: Card) -> set[Term]:
        """The terms in words that always stand above a card, whatever was drawn first."""
        if settings.values().card:
            return set()
        above = takewhile(lambda each: each is not card, self.cards)
        always = [each.words for each in above if isinstance(each.words, str) and not each.when]
        return {term for words in (lesson(self.name).idea, *always) for term in terms_in(words)}

    def place(self, card: Card) -> str:
        """In our Markdown, a card with the way to it; one behind a row has none while that is
        closed, and is named with it.
        """
        for fold in self.folds:
            if card in fold.cards:
                return f"“{card.title}” (under {fold.label})"
        return f"[“{card.title}”](#{card.name})"

    @property
    def gate(self) -> Card | None:
        """The card that all that follows waits for."""
        return next((each for each in self.cards if each.opens), None)

    def behind(self, gate: Card | None, where: str, draw: Callable[[], None]) -> None:
        """Draw something if what it waits for is there. What goes wrong is said in its place."""
        if gate and not self.given(gate.opens):
            st.empty()  # in the place of what was there before
            return
        with self.within(where):
            draw()

    def covers(self) -> Mapping[str, Cover]:
        """What questions cover now, by the names of steps; tracked by nobody. Raises Misdeclared
        while something is made for everybody: that asks `is_covered`.
        """
        known = page_fragments().known
        if COVERED not in known:
            with untracked():
                known[COVERED] = joined([one.covered() for one in self.asks])
        return known[COVERED]

    def waits_for_guess(self) -> dict[str, list[Ask]]:
        """The questions that are asked and need not be, by the parts that they stand in."""
        found: dict[str, list[Ask]] = {}
        with untracked():
            for card in self.every_card():
                if card.ask and card.ask.is_passable():
                    found.setdefault(f"card_{card.name}", []).append(card.ask)
        return found

    def stands_open(self) -> list[str]:
        """The parts with a question that was answered or gone on from: to be found so again."""
        with untracked():
            return [
                f"card_{card.name}"
                for card in self.every_card()
                if card.ask and was_passed(card.ask.key) and is_passable(card.ask.made()[0])
            ]

    def went_on(self, passed: Iterable[str]) -> None:
        """From a callback: somebody went on from what is asked in these parts."""
        waiting = self.waits_for_guess()
        for one in [each for name in passed for each in waiting.get(name, ())]:
            went_on(one.key)

    def check_asked(self, step: str) -> None:
        """Raises Misdeclared for a name that is none of a step, and that no question covers."""
        if step in self._static_covers:
            return
        known = {*self._static_covers}
        depends = [each for each in self.asks if each.covers is None or callable(each.covers)]
        with tracked_later():
            known |= {name for each in depends for name in each.hides()}
            if step in known or (depends and any(step in plain(each) for each in self._traces())):
                return
        raise Misdeclared(
            f"a card of {self.name} asks whether a question covers {step!r}, and none ever does. "
            f"Its questions cover {', '.join(sorted(known)) or 'nothing'}"
        )

    def _traces(self) -> Iterator[Trace]:
        """The page's, and those that its questions are about, of which one not asked has none."""
        yield self.trace()
        for each in self.asks:
            if each.of and each.made()[0] is not None:
                yield self.given(each.of)

    @cached_property
    def _static_covers(self) -> frozenset[str]:
        """The names that its questions cover, whatever the values are, and what they are about."""
        named = (
            name for each in self.asks if not callable(each.covers) for name in each.covers or ()
        )
        return frozenset(named).union(*(each.about for each in self.asks))

    def show(self) -> None:
        """Draw all of it: the last line of a page."""
        if _ONLY_DECLARED.get():
            return
        self._check()
        values = open_lesson(self.name, self.controls, self.sidebar)
        this_session().declared = self
        if self.has_pins and not values.card:
            fragment("pinned", lambda: since_the_pin(self.trace, self.trace_of, self.controls))
        gate = self.gate
        for at, each in enumerate(self.cards):
            self._parts(self._rows(at))
            if values.card in ("", each.name, *each.pictures):
                fragment(f"card_{each.name}", each.draw, waits=each is not gate)
            elif each is gate:
                fragment(f"card_{each.name}", each.draw_work)
        rest = self._rows(len(self.cards)) | self._rows(None)
        if self.closing and not values.card:
            rest["closing"] = self._answers
        self._parts(rest | {"ends": self._ends})
        watch_visibility()
        if gate:
            fragment("goes_on", gate.go_on_with_page)
        end_page()

    def _rows(self, place: int | None) -> dict[str, Callable[[], None]]:
        """What folds draw that stand behind so many cards."""
        return {f"row_{each.key}": each.draw for each in self.folds if each.place == place}

    def _parts(self, drawn: Mapping[str, Callable[[], None]]) -> None:
        for name, draw in drawn.items():
            fragment(name, partial(self.behind, self.gate, name, draw), waits=True)

    def _check(self) -> None:
        if self.published and self.published not in (known := published_lessons()):
            raise Misdeclared(
                f"no notebook prints numbers of {self.published!r}, as which {self.name} is "
                f"published; they have {', '.join(sorted(known))}"
            )
        each_made: list[tuple[str, Any]] = [
            *((f"The card {each.name!r} of {self.name}", each) for each in self.every_card()),
            *((f"The question {each.name!r} of {self.name}", each) for each in self.asks),
            (f"The page {self.name}, in its trace or in what it answers,", self),
        ]
        for called, one in each_made:
            check_code(called, one.identity, one.made_by)
        ours = {each.name for each in self.controls}
        for each in self.every_card():
            for one in [] if callable(each.controls) else each.controls:
                one = getattr(one, "control", one)
                if isinstance(one, Control) and one.name not in ours:
                    raise Misdeclared(self.lacks(each.name, one.name))

        self._check_names()

    def _check_names(self) -> None:
        """Raises Misdeclared for a name that is there twice, or that a slip has made."""
        names = [each.name for each in self.controls]
        for kind, found in {"controls": names, "rows": [each.key for each in self.folds]}.items():
            if twice := sorted({each for each in found if found.count(each) > 1}):
                raise Misdeclared(f"two {kind} of {self.name} are called {twice[0]!r}")
        for each in self.controls:
            for name in each.undoes:
                meant = next((one for one in names if is_slip(name, one)), None)
                if name not in names and meant:
                    raise Misdeclared(
                        f"the control {each.name!r} of {self.name} undoes {name!r}, which no "
                        f"control is called. Is {meant!r} meant?"
                    )

    def lacks(self, card: str, control: str) -> str:
        """In words, that a card has a control which is none of the lesson's."""
        known = ", ".join(sorted(each.name for each in self.controls))
        return (
            f"the card {card!r} of {self.name} has the control {control!r}, which is none of the "
            f"lesson's CONTROLS: add it there, in its lesson.py. They are: {known}"
        )

    def _answers(self) -> None:
        found = cache.get(
            ("answers", self.name, self.identity),
            lambda: [*filter(None, map(self.given, self.closing))],
            lambda _: 4_000,
        )
        titles = {each.name: each.title for each in self.every_card()}
        for each in found:
            if each.card not in titles:
                raise Misdeclared(
                    f"an answer of {self.name} names the card {each.card!r}; there are "
                    f"{', '.join(titles)}"
                )
        shown = {step for each in found for step in each.shows}
        traces = {name for trace in self._traces() for name in plain(trace)} if shown else {}
        for step in shown:
            if step not in traces and (meant := [one for one in traces if is_slip(step, one)]):
                raise Misdeclared(
                    f"an answer of {self.name} shows {step!r}, which is no step of its trace. Is "
                    f"{meant[0]!r} meant?"
                )
        covered = {step: place_of(step) for step in shown if covered_how(step)}
        places = {each.name: self.place(each) for each in self.every_card()}
        ends.put_answers(found, titles, covered, self.about_weights, places)

    def _ends(self) -> None:
        marks: list[Mark] = []
        if self.published and not (settings.values().card or settings.values().paper):
            marks = cache.get(
                ("marks", self.name, self.identity),
                self._make_marks,
                lambda found: 2_000 * len(found),
            )
        trace = self.trace().whole()
        if self.output and self.output not in trace:
            raise Misdeclared(
                f"the output {self.output!r} of {self.name} is no step of its trace, which has "
                f"{', '.join(trace)}"
            )
        for each in self.controls:
            meant = next((one for one in trace if is_slip(each.changes, one)), None)
            if each.changes and each.changes not in trace and meant:
                raise Misdeclared(
                    f"the control {each.name!r} of {self.name} changes the step {each.changes!r}, "
                    f"which its trace has not. Is {meant!r} meant?"
                )
        ends.put_ends(trace, self.output, marks)

    def _make_marks(self) -> list[Mark]:
        traces = {self.published: self.trace().whole(), **self.given(self.others)}
        return [mark for each, made in traces.items() for mark in marks_of(each, made)]


COVERED = "covered"


@source()
def _is_covering(ask: str) -> bool:
    page: Page = this_session().declared
    with untracked():
        return any(one.name == ask and bool(one.covered()) for one in page.asks)


def is_covered(*steps: str) -> bool:
    """In a card: whether a question covers one of these steps now."""
    covered = [covered_how(each) for each in steps]
    page: Page | None = the_session().declared
    if page is not None:
        for step, how in zip(steps, covered, strict=True):
            if not how:
                page.check_asked(step)
    return any(covered)


def place_of(step: str) -> str:
    """The place of the card whose question covers a step; "" where it is no card's."""
    return _asked_at(step)


@source()
def _asked_at(step: str) -> str:
    page: Page = this_session().declared
    with untracked():
        asking = [each for each in page.every_card() if each.ask and step in each.ask.covered()]
    return page.place(asking[0]) if asking else ""


def waits_for(step: str, what: str = "This") -> Element:
    """In a card, in the place of what would answer the question that covers a step."""
    if settings.values().paper:
        return note(f"{what} is on the page itself: the link is at the end.")
    return note(f"{what} waits for your guess at {place_of(step)}.")


def _size_of_trace(trace: TrackedTrace) -> int:
    return 4_000 + sum(each.value.nbytes for each in plain(trace).values() if not each.is_shared)
