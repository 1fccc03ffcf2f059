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
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from types import MappingProxyType
from typing import Any

from attention_core.published.marking import Mark
from attention_core.trace import Trace
from attention_core.utils.validation import among

from ..controls.covered import covered_how
from ..controls.in_class import class_covers
from ..controls.lesson_session import this_session
from ..frame import ends
from ..frame.contents import lesson
from ..frame.ends import row
from ..frame.glossary import Term, terms_in
from ..frame.lesson_modules import module_of
from ..frame.page import open_lesson
from ..frame.proof import marks_of, published_lessons
from ..picture.layout import Layout
from ..reactive import page as engine
from ..reactive import settings
from ..reactive.control import Control, Placed, Values
from ..reactive.elements import Element, Row, all_in, put
from ..reactive.fragments import fragment, page_fragments, window_is
from ..reactive.function_identity import FunctionIdentity, function_identity
from ..reactive.isolation import Misdeclared
from ..reactive.long_run import Run
from ..reactive.mentions import Mentions
from ..reactive.near_names import meant_by
from ..reactive.page import Made, given, is_place_of_work
from ..reactive.session import the_session
from ..reactive.source import source, tracked_later, untracked
from .cached import cache
from .card import framed
from .class_part import put_class
from .covers import NUMBERS, SHAPE, Cover, giving_away, joined
from .elements import InPicture, Picture, note
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

OfBoth = Callable[..., Any]
"""What follows from `v`, the values of the controls, and `trace`, the page's, or one of them."""


def offers(
    trace: Callable[[], Trace], values: Callable[[], Values] = settings.values
) -> Mapping[str, Callable[[], Any]]:
    """What a function of a page can ask for: `v` or `values`, and `trace`, the page's."""
    return {"v": values, "values": values, "trace": trace}


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
        return self.page.cache.get(
            ("ask", self.page.name, self.name, self.identity), self._make, lambda _: 2_000
        )

    def _trace(self) -> Trace:
        return self.page.given(self.of) if self.of else self.page.trace()

    def _make(self) -> tuple[Question | None, int]:
        is_made = False
        values = settings.values().until(lambda: is_made)  # a class judges on any page
        asked = given(self.make, offers(self.page.trace, lambda: values))
        is_made = True
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
            if meant := meant_by(name, there):
                raise Misdeclared(
                    f"the question {self.name!r} of {self.page.name} {does} {name!r}, which is no "
                    f"step of its trace. Did you mean {meant!r}?"
                )

    def hides(self) -> Mapping[str, Cover]:
        """What it covers while it is open, by the names of steps."""
        return self.page.cache.get(
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
        in_class = class_covers(self.key)
        if not asks_first() and not in_class:
            return {}  # without making what nobody is asked
        asked, _ = self.made()
        hides = self.hides() if is_asked(asked, self.key) else {}
        return {} if opens(hides) and not in_class else hides

    def is_unanswered(self) -> bool:
        """Whether it is asked, and nobody has answered it or gone on from it."""
        return asks_first() and self.made()[0] is not None and not was_passed(self.key)

    def was_passed(self) -> bool:
        """Whether it was answered or read past, and is one that reading on uncovers."""
        return was_passed(self.key) and is_passable(self.made()[0], self.key)

    def is_passable(self) -> bool:
        """Whether it is asked now, and whoever goes on is not held up by it."""
        if not asks_first():
            return False
        asked, _ = self.made()
        is_open = is_passable(asked, self.key) and is_asked(asked, self.key)
        return is_open and not opens(self.hides())

    def draw(self) -> None:
        if asks_first() or class_covers(self.key):
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
class Card(engine.Card):
    """One card: its name is its anchor, what a link calls it, and its picture's name."""

    page: "Page"
    ask: Ask | None = None
    pictures: Sequence[str] = ()
    """The names of its pictures, where they are others than its own: a link to one opens its row.
    """

    @property
    def made_by(self) -> tuple:
        """Also the function of the trace, for which it may ask."""
        return *super().made_by, self.page.trace_of

    def belongs(self) -> AbstractContextManager[None]:
        """Its name and its page's trace, which tell what is covered."""
        return in_card(self.name, lambda: plain(self.page.trace()))

    def draw_made(self, made: Made, run: Run | None, failed: Exception | None) -> None:
        """Its question first, and on a phone most of it behind a row."""
        this_session().cards[self.name] = self.title
        above = self.page.explained_above(self)
        kept_open, folded = self._folds(made)
        controls = [each for each in made.controls if each in kept_open]
        around = self.is_section, above, bool(controls) or run is not None
        with framed(self.name, self.title, made.words, *around) as beside:
            self.put_beside(beside, controls, run)
            if self.ask and folded is None:
                self.ask.draw()
            self.page.drawing = self
            for each in made.elements:
                if each in kept_open:
                    put(each)
            if folded is not None:
                self._draw_folded(folded)
            self.raise_in_place(failed)

    def _folds(self, made: "Made") -> tuple[list[Any], list[Any] | None]:
        """What a card shows, and what it folds on a phone; None where it folds nothing."""
        every = [*made.controls, *made.elements]
        folded = self.folded_on_phone(made) if _is_on_phone() else None
        return [each for each in every if each not in (folded or ())], folded

    def folded_on_phone(self, made: "Made") -> list[Any] | None:
        """What a phone folds with the question of a card: all but its first picture or main row,
        with the control in it, and its work. None where it folds nothing.
        """
        every = [*made.controls, *made.elements]
        rows = (each for each in every if isinstance(each, Row) and each.is_main)
        main = next(filter(_is_picture, every), None) or next(rows, None)
        if self not in self.page.cards or self.opens or main is None:
            return None
        stays = [each for each in every if each is main or _belongs_to(each, main)]
        folded = [each for each in every if each not in stays]
        is_short = not (self.ask or made.controls or folded[1:] or any(map(_is_picture, folded)))
        return None if is_short else folded

    def _draw_folded(self, folded: Sequence[Any]) -> None:
        """The row with what a phone folds; it says what is in it."""
        label = called_as_folded(folded, bool(self.ask and self.ask.waits()))
        names = [*filter(None, map(_name_of, folded))]
        with row(label, f"more_{self.name}", ":material/unfold_more:", *names) as is_open:
            if is_open:
                if self.ask:
                    self.ask.draw()
                for each in folded:
                    put(each)

    def check(self, placed: Sequence[Any], elements: Sequence[Any]) -> None:
        """Each control in a picture stands in one that moves by it."""
        for each in elements:
            if isinstance(each, Picture):
                self._check(each)
                each.now()  # so that what it reads is tracked
        drawn = {_name_of(one) for one in all_in(elements)} - {""}
        for one in all_in([*placed, *elements]):
            if not isinstance(one, InPicture):
                continue
            self._check_moved(one, elements)
            if one.in_picture not in {*drawn, *self.pictures}:
                raise Misdeclared(
                    f"{self.called} has {one.control.name!r} in the picture {one.in_picture!r}, "
                    f"but draws {', '.join(sorted(drawn)) or 'none'}"
                )

    def layout_with(self, picture: str, values: Values) -> Layout:
        """One of its pictures, as it would be with other values."""
        body = given(self.body, offers(lambda: self.page.trace_of(values), lambda: values))
        return next(each.now() for each in map(self.named, body) if picture == _name_of(each))

    def _check_moved(self, one: InPicture, elements: Sequence[Any]) -> None:
        """Raises Misdeclared where a picture of the card is to have a control, and does not move
        by it.
        """
        name = one.control.name
        for each in all_in(elements):
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

    def named(self, each: Any) -> Any:
        """A picture, or the place of a control in one, named as the card where it has no name."""
        if isinstance(each, Picture) and each.name == "*":
            each.name = self.name
        if isinstance(each, InPicture) and each.in_picture == "*":
            return replace(each, in_picture=self.name)
        if isinstance(each, Row):
            return replace(each, elements=[self.named(one) for one in each.elements])
        return each


def _name_of(each: Any) -> str:
    return each.name if isinstance(each, Picture) else ""


def called_as_folded(folded: Sequence[Any], asks: bool) -> str:
    """The label of what is folded: whether it has a question, controls, and more to read."""
    controls = [*filter(_is_control, folded)]
    told = {
        "**Predict first**": asks,
        "change it": bool(controls),
        "read on": len(controls) < len(folded),
    }
    label = ", ".join(words for words, is_so in told.items() if is_so) or "read on"
    return label[0].upper() + label[1:]


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
    is_in_it = isinstance(each, InPicture) and each.in_picture == _name_of(main) != ""
    return is_in_it or is_place_of_work(each)


class Fold(engine.Fold):
    """A row that also opens where a link leads into it."""

    page: "Page"

    @property
    def names(self) -> list[str]:
        """What a link calls the cards in it, and their pictures."""
        return [name for each in self.cards for name in (each.name, *each.pictures)]

    def draw(self) -> None:
        """Nothing where one card stands alone, unless it is in this fold."""
        alone = settings.values().card
        if not alone or alone in self.names:
            super().draw()


class Page(engine.Page):
    """All of a page. `name` is that of its lesson; `output` the step whose attention the checks at
    its end are on, `published` the lesson's name among the notebooks' numbers, `others` further
    traces of it whose numbers are checked, and `sidebar` controls that all its cards show. Each
    card is made and drawn `within` what says in words, in the place of that name, what goes wrong.
    """

    CARD = Card
    FOLD = Fold
    EXAMPLES = (
        "a control is a `Control` of the lesson, words are `ui.say(…)`, steps are "
        "`ui.matrices(trace, trace[…])`"
    )
    LACKS = "the lesson's CONTROLS: add it there, in its lesson.py"
    cache = cache
    cards: list[Card]
    folds: list[Fold]

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
        room = module_of(name)
        super().__init__(name, lesson(name).title, room.CONTROLS, within)
        self.output, self.published = output, published
        self.others, self.sidebar, self.has_pins = others, sidebar, has_pins
        self.trace_of: Callable[[Values], Trace] | None = getattr(room, "trace_of", None)
        self.asks: list[Ask] = []
        self.closing: Sequence[OfBoth] = ()
        self.closing_again: Sequence[OfBoth] = ()
        self.about_weights = True
        self.drawing: Card | None = None
        """The card whose elements are drawn."""

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

    def answers(self, *closing: OfBoth, about_weights: bool = True, again: bool = True) -> None:
        """What one can now answer: functions of both that give an `Answer`, or None. They are asked
        `again` where they can do without what a visitor has done on the page.
        """
        self.closing, self.about_weights = closing, about_weights
        self.closing_again = closing if again else ()

    def offers(self) -> Mapping[str, Callable[[], Any]]:
        """Also its trace."""
        return offers(self.trace)

    def trace(self) -> TrackedTrace:
        """The page's trace, kept for everybody by what it read."""
        with tracked_later():  # each step that is looked at is tracked by itself
            what = "trace", self.name, self.identity
            return self.cache.get(what, self._make_trace, _size_of_trace)

    @cached_property
    def identity(self) -> FunctionIdentity:
        """What tells its traces and its answers from those of one that is written otherwise."""
        return function_identity(*self.made_by)

    @property
    def made_by(self) -> tuple:
        return self.trace_of, self.others, *self.closing, *(each.when for each in self.folds)

    def _make_trace(self) -> TrackedTrace:
        values = settings.values()
        return tracked(lambda: self.trace_of(values) if self.trace_of else Trace())

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
                return f"“{card.title}” (under {fold.called})"
        return f"[“{card.title}”](#{card.name})"

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
                if card.ask and card.ask.was_passed()
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

    def says_unused(self, mentions: Mentions) -> str:
        """Also a question that is asked nowhere."""
        asked = [each.ask for each in self.every_card()]
        for each in self.asks:
            if each not in asked and not mentions.has(each):
                return (
                    f"the question {each.name!r} of {self.name} stands on no card, so nobody is "
                    "asked, and what it covers would stay covered: give it to a card, "
                    f"`@page.card(…, ask=…)`, or let a card yield it"
                )
        return super().says_unused(mentions)

    def opens(self) -> None:
        """Its head and the sidebar."""
        open_lesson(self.name, self.controls, self.sidebar)

    def draw(self) -> None:
        """Its cards, or one of them alone, and what it ends with."""
        put_class()
        alone = settings.values().card
        if self.has_pins and not alone:
            fragment("pinned", lambda: since_the_pin(self.trace, self.trace_of, self.controls))
        gate = self.gate
        for at, each in enumerate(self.cards):
            self.fragments(self.rows(at))
            if alone in ("", each.name, *each.pictures):
                fragment(f"card_{each.name}", each.draw, waits=each is not gate)
            elif each is gate:
                fragment(f"card_{each.name}", each.draw_work)
        rest = self.rows(len(self.cards)) | self.rows(None)
        if self.closing and not alone:
            rest["closing"] = self._answers
        self.fragments(rest | {"ends": self._ends})

    def row(self, fold: Any) -> AbstractContextManager[bool]:
        """Open where a link leads into it."""
        return row(fold.label, fold.key, fold.icon, *fold.names)

    def each_made(self) -> list[tuple[str, Any]]:
        """Also its questions, and the page itself."""
        return [
            *super().each_made(),
            *((f"The question {each.name!r} of {self.name}", each) for each in self.asks),
            (f"The page {self.name}, in its trace or in what it answers,", self),
        ]

    def check(self) -> None:
        """Also the name under which its numbers were published."""
        if self.published and self.published not in (known := published_lessons()):
            raise Misdeclared(
                f"no notebook prints numbers of {self.published!r}, as which {self.name} is "
                f"published; they have {', '.join(sorted(known))}"
            )
        super().check()

    def _answers(self) -> None:
        found = self.cache.get(
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
            if meant := meant_by(step, traces):
                raise Misdeclared(
                    f"an answer of {self.name} shows {step!r}, which is no step of its trace. Did "
                    f"you mean {meant!r}?"
                )
        covered = {step: place_of(step) for step in shown if covered_how(step)}
        places = {each.name: self.place(each) for each in self.every_card()}
        ends.put_answers(found, titles, covered, self.about_weights, places)

    def _ends(self) -> None:
        marks: list[Mark] = []
        if self.published and not (settings.values().card or settings.values().paper):
            marks = self.cache.get(
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
            if each.changes and (meant := meant_by(each.changes, trace)):
                raise Misdeclared(
                    f"the control {each.name!r} of {self.name} changes the step {each.changes!r}, "
                    f"which its trace does not have. Did you mean {meant!r}?"
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
