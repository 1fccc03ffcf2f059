"""A page, declared: cards as functions of values, rows of further cards, and what waits for what.

    page = Page("fruit", "A bill", [APPLES, PRICE])

    @page.card("bill", "The bill", "Move the slider.", controls=[APPLES])
    def bill(v):
        yield text(f"{v.apples} apples cost {v.apples * v.price} coins")

    page.show()

What a card reads is tracked while it is made, and from that alone follows when it runs, by what its
output is kept, and for whom. So a card only says what it shows.

An app adds what is its own in subclasses of these three: what a function of a page may ask for
(`Page.offers`), what stands around the cards (`Page.opens`, `Page.draw`), how a card is framed and
drawn (`Card.framed`, `Card.draw_made`), and what else it may not yield (`Card.check`).
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, partial
from inspect import signature
from pathlib import PurePath
from typing import Any, ClassVar

import streamlit as st

from . import settings
from .cache import Cache
from .code_check import check_code
from .control import Control, Placed, Values
from .elements import Element, all_in, is_drawn, put
from .fragments import end_page, fragment
from .function_identity import FunctionIdentity, function_identity
from .isolation import Misdeclared, is_closed, made_for_everybody
from .long_run import Run, Work, go_on, go_on_with_page, put_run, put_run_of, run_so_far
from .mentions import Mentions
from .near_names import meant_by
from .session import this_session
from .visibility import watch_visibility
from .with_streamlit import mend_streamlit

Body = Callable[..., Iterable[Element]]
Given = Callable[..., Any]
"""A function of what a page offers, which its parameters name: `v` for the values."""
_MENTIONED: dict[tuple, str] = {}
"""What is wrong with pages whose mentions were looked at; "" for nothing."""
_ONLY_DECLARED = ContextVar("only declared", default=False)

mend_streamlit()


@contextmanager
def only_declared() -> Iterator[None]:
    """Pages whose scripts run within are declared, and show nothing."""
    before = _ONLY_DECLARED.set(True)
    try:
        yield
    finally:
        _ONLY_DECLARED.reset(before)


def given(made: Given, offers: Mapping[str, Callable[[], Any]]) -> Any:
    """What a function of a page returns when it is called with what its parameters name. Raises
    Misdeclared for a name that the page does not offer.
    """
    names = signature(made).parameters
    if unknown := names.keys() - offers.keys():
        raise Misdeclared(
            f"{getattr(made, '__name__', made)} asks for {', '.join(sorted(unknown))}; a function "
            f"of a page can ask for {', '.join(sorted(offers))}"
        )
    return made(**{name: offers[name]() for name in names})


@dataclass(frozen=True)
class Made:
    """What a card has come to."""

    words: str
    controls: Sequence[Any]
    elements: Sequence[Any]


@dataclass(eq=False)
class Card:
    """One card. Its name is its anchor, and the key of the container that it stands in."""

    page: Any
    """The `Page` that it stands on."""
    name: str
    title: str
    words: str | Given
    body: Body
    controls: Sequence[Control | Placed] | Given = ()
    when: Given | None = None
    work: Callable[[Values], Work | None] | None = None
    opens: Given | None = None
    """Whether all that follows on the page is there: after work that all of it waits for."""
    is_section: bool = False
    """Whether it is a heading with what follows, and no frame."""
    gate: "Card | None" = None
    """The card before it that it waits for."""

    @cached_property
    def identity(self) -> FunctionIdentity:
        """What tells it from one that is made otherwise."""
        return function_identity(*self.made_by)

    @property
    def made_by(self) -> tuple:
        """The functions, or what stands in their place, that decide what it shows, and when."""
        return self.body, self.words, self.controls, self.when, self.opens, self.work

    @property
    def called(self) -> str:
        """As a sentence says what it is of."""
        return f"the card {self.name!r} of {self.page.name}"

    def draw(self) -> None:
        """The card, for the values there are now."""
        if self.opens:
            self._draw()
        else:
            self.page.behind(self.gate, self.name, self._draw)

    def _draw(self) -> None:
        with self.belongs():
            self._draw_what_is_there()

    def belongs(self) -> AbstractContextManager[Any]:
        """What is made and drawn within belongs to this card."""
        return nullcontext()

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
        is_beside = run is not None and not any(map(is_place_of_work, made.elements))
        self.draw_made(made, run if is_beside else None, failed)
        if run is not None and self.opens is None:
            go_on(run)

    def draw_made(self, made: Made, run: Run | None, failed: Exception | None) -> None:
        """What it has come to, with work beside its words, if there is any; what has `failed` is
        raised in its place.
        """
        with self.framed(made, bool(made.controls) or run is not None) as beside:
            self.put_beside(beside, made.controls, run)
            for each in made.elements:
                put(each)
            self.raise_in_place(failed)

    def put_beside(self, beside: Any, controls: Iterable[Any], run: Run | None) -> None:
        """Beside its words, its controls and its work."""
        with beside:
            for each in controls:
                put(each)
            if run is not None:
                put_run(run)

    def raise_in_place(self, failed: Exception | None) -> None:
        """Raise what has failed in a card that others wait for, so that its place says it."""
        if self.opens:
            with self.page.within(self.name):  # also without: it may have the way to try again
                if failed:
                    raise failed

    @contextmanager
    def framed(self, made: Made, has_beside: bool) -> Iterator[Any]:
        """Its frame, with its title and words; gives the place of what stands beside them."""
        with st.container(key=f"card_{self.name}", border=not self.is_section):
            if self.title:
                st.subheader(self.title, anchor=self.name)
            if made.words:
                st.markdown(made.words)
            yield st.container(horizontal=True) if has_beside else nullcontext()

    def run(self) -> Run | None:
        """Its work, as far as it has come."""
        work = self.declared_work() if self.work else None
        return work and work.run()

    def declared_work(self) -> Work | None:
        """Its work for the values there are now."""
        with made_for_everybody(f"The work of {self.called}"):
            return self.work(settings.values()) if self.work else None

    def draw_work(self) -> None:
        """In place of a card that is not drawn: the work that others wait for."""
        with self.page.within(self.name):
            if run := self.run():
                put_run(run)

    def go_on_with_page(self) -> None:
        """Once all else is drawn: the next slice of the work that others wait for."""
        work = self.declared_work()
        run = work and run_so_far(work.name)
        if run and run.steps is not None:
            with self.page.within("goes_on"):
                go_on_with_page(run)

    def made(self) -> Made:
        """What it has come to for the values there are now; within `belongs`."""
        return self.page.cache.get(
            ("card", self.page.name, self.name, self.identity),
            self._make,
            lambda made: 4_000 + sum(getattr(each, "n_bytes", 0) for each in made.elements),
        )

    def _make(self) -> Made:
        given = self.page.given
        words, controls = given(self.words), given(self.controls)
        placed = [self.named(one.at() if isinstance(one, Control) else one) for one in controls]
        elements = [self.named(each) for each in self._yielded(given(self.body))]
        for one in all_in([*placed, *elements]):
            if not is_drawn(one):
                raise Misdeclared(
                    f"{self.called} {'has among its controls' if one in placed else 'yields'} "
                    f"{str(one)[:60]!r}, which cannot be drawn: {self.page.EXAMPLES}"
                )
        self.check(placed, elements)
        return Made(words, placed, elements)

    def named(self, each: Any) -> Any:
        """An element, with the name that it has on this card."""
        return each

    def check(self, placed: Sequence[Any], elements: Sequence[Any]) -> None:
        """Raises Misdeclared for controls and elements that this card cannot have."""

    def _yielded(self, made: Any) -> Iterable[Any]:
        """What its function yields. Raises Misdeclared where that returns something, or nothing."""
        if isinstance(made, Iterable) and not isinstance(made, str):
            return made
        told = "returns nothing" if made is None else f"returns {str(made)[:60]!r}"
        raise Misdeclared(
            f"{self.called} {told}: it has to `yield` what it shows, one element after the other"
        )


def is_place_of_work(each: Any) -> bool:
    """Whether an element is, or has in it, the place of its card's work."""
    return any(getattr(one, "call", None) is put_run_of for one in all_in([each]))


class Fold:
    """Cards and sections behind one row, which cost nothing before it is opened. The row stands
    after `place` cards of its page; after all of them where that is None.
    """

    def __init__(
        self, page: "Page", key: str, label: str, icon: str, when: Given | None, place: int | None
    ) -> None:
        self.page, self.key, self.icon, self.when = page, key, icon, when
        self.label, self.place = label, place
        self.cards: list[Any] = []

    @property
    def called(self) -> str:
        """As a sentence names it."""
        return self.label.partition(":")[0]

    def card(self, name: str, title: str, words: str | Given = "", **more: Any):
        """A card, as `Page.card` makes it."""
        return self.page.declares(self.cards, name, title, words, **more)

    def section(self, name: str, title: str, words: str | Given = "", **more: Any):
        """The same without a frame: a heading and what follows."""
        return self.card(name, title, words, is_section=True, **more)

    def draw(self) -> None:
        """The row, and what is in it where it is open."""
        if self.when and not self.page.given(self.when):
            return
        with self.page.row(self) as is_open:
            if is_open:
                for each in self.cards:
                    fragment(f"card_{each.name}", each.draw, waits=True)


class Page:
    """All of a page: its name, which its address keeps, its title, and its controls, each after
    those that it depends on. Each card is made and drawn in the context `within(name)`, which can
    say in its place what goes wrong.
    """

    CARD: ClassVar[type[Card]] = Card
    FOLD: ClassVar[type[Fold]] = Fold
    EXAMPLES: ClassVar[str] = "a control is a `Control`, words are `say(…)` or `text(…)`"
    """What can be drawn, as it is said to whoever has yielded something else."""
    LACKS: ClassVar[str] = "the page's controls: add it where the page is declared"
    """Where a control has to stand, as it is said to whoever has put another on a card."""
    cache: Cache = Cache(most_bytes=100_000_000)

    def __init__(
        self,
        name: str,
        title: str = "",
        controls: Sequence[Control] = (),
        within: Callable[[str], AbstractContextManager] = nullcontext,
    ) -> None:
        self.name, self.title, self.controls, self.within = name, title, controls, within
        self.cards: list[Any] = []
        self.folds: list[Any] = []
        self._check_is_shown()

    def _check_is_shown(self) -> None:
        """Raises Misdeclared where a script makes a page that it never shows."""
        frame = sys._getframe()
        while frame.f_back and frame.f_locals.get("self") is self:
            frame = frame.f_back
        code = frame.f_code
        if code.co_name == "<module>" and "show" not in code.co_names:
            raise Misdeclared(
                f"{PurePath(code.co_filename).name} declares the page {self.name!r} and never "
                "shows it, so it would stay empty: let its last line be `page.show()`"
            )

    # --- what it declares -------------------------------------------------------------------------
    def card(self, name: str, title: str, words: str | Given = "", **more: Any):
        """A card, whose function of what the page offers yields what stands below its words.

        `controls` stand beside the words, or a function gives them; `when` says whether it is
        there; `work` is a long run, whose progress the function reads by `run_so_far`. Where all
        that follows on the page waits for it, `opens` says whether it can be drawn.
        """
        return self.declares(self.cards, name, title, words, **more)

    def declares(self, where: list[Any], name: str, title: str, words: Any, **more: Any):
        """A card among others."""
        if any(name == each.name for each in self.every_card()):
            raise Misdeclared(f"two cards of {self.name} are called {name!r}")

        def made(body: Body) -> Body:
            where.append(self.CARD(self, name, title, words, body, gate=self.gate, **more))
            return body

        return made

    def fold(
        self,
        key: str,
        label: str,
        icon: str = "",
        when: Given | None = None,
        in_place: bool = False,
    ) -> Any:
        """A row that opens at the page's end, or `in_place`; `when` says whether it is there."""
        place = len(self.cards) if in_place else None
        self.folds.append(self.FOLD(self, key, label, icon, when, place))
        return self.folds[-1]

    def every_card(self) -> list[Any]:
        """All that it has, those behind rows last."""
        return [*self.cards, *(each for fold in self.folds for each in fold.cards)]

    @property
    def gate(self) -> Any:
        """The card that all that follows waits for; None for none."""
        return next((each for each in self.cards if each.opens), None)

    # --- what its functions give ------------------------------------------------------------------
    def offers(self) -> Mapping[str, Callable[[], Any]]:
        """What its functions can ask for, by name."""
        return {"v": settings.values, "values": settings.values}

    def given(self, made: Any) -> Any:
        """What a function of the page gives, which can read sources alone; anything else as
        it is.
        """
        if not callable(made):
            return made
        if is_closed():
            return given(made, self.offers())
        with made_for_everybody(f"A function of {self.name}, {getattr(made, '__name__', made)!r},"):
            return given(made, self.offers())

    def given_alive(self, made: Given) -> Any:
        """The same of what runs for one visitor alone, whenever it is drawn."""
        return given(made, self.offers())

    # --- what is drawn ----------------------------------------------------------------------------
    def show(self) -> None:
        """Draw all of it: the last line of a page."""
        if _ONLY_DECLARED.get():
            return
        self.check()
        self.opens()
        self._put_unused()
        this_session().declared = self
        self.draw()
        watch_visibility()
        if gate := self.gate:
            fragment("goes_on", gate.go_on_with_page)
        end_page()

    def opens(self) -> None:
        """Take up what the address says, and draw what stands above the cards."""
        settings.arrive(self.name, self.controls)
        if self.title:
            st.title(self.title, anchor=False)
        fragment("notices", _put_notices)

    def draw(self) -> None:
        """Its cards, each a fragment, and its rows."""
        for at, each in enumerate(self.cards):
            self.fragments(self.rows(at))
            fragment(f"card_{each.name}", each.draw, waits=each is not self.gate)
        self.fragments(self.rows(len(self.cards)) | self.rows(None))

    def rows(self, place: int | None) -> dict[str, Callable[[], None]]:
        """What folds draw that stand behind so many cards."""
        return {f"row_{each.key}": each.draw for each in self.folds if each.place == place}

    def fragments(self, drawn: Mapping[str, Callable[[], None]]) -> None:
        """Fragments that wait for the gate, and until they are visible."""
        for name, draw in drawn.items():
            fragment(name, partial(self.behind, self.gate, name, draw), waits=True)

    def row(self, fold: Any) -> AbstractContextManager[bool]:
        """The row of a fold; gives whether it is open."""
        return opened_row(fold.label, fold.key, fold.icon)

    def behind(self, gate: Card | None, where: str, draw: Callable[[], None]) -> None:
        """Draw something if what it waits for is there. What goes wrong is said in its place."""
        if gate and not self.given(gate.opens):
            st.empty()  # in the place of what was there before
            return
        with self.within(where):
            draw()

    # --- what it refuses --------------------------------------------------------------------------
    def each_made(self) -> list[tuple[str, Any]]:
        """All that has functions whose output is cached, each as a sentence begins with it."""
        return [(f"The card {each.name!r} of {self.name}", each) for each in self.every_card()]

    def check(self) -> None:
        """Raises Misdeclared for what its declarations have wrong, whatever the values are."""
        for called, one in self.each_made():
            check_code(called, one.identity, one.made_by)
        ours = {each.name for each in self.controls}
        for each in self.every_card():
            for one in [] if callable(each.controls) else each.controls:
                one = getattr(one, "control", one)
                if isinstance(one, Control) and one.name not in ours:
                    raise Misdeclared(self.lacks(each.name, one.name))
        self._check_names()

    def _put_unused(self) -> None:
        """What is declared and nothing uses, to whoever has written it."""
        if st.get_option("client.showErrorDetails") not in (True, "full"):
            return
        made = self.each_made()
        what = self.name, *(each.name for each in self.controls), *(one.identity for _, one in made)
        if what not in _MENTIONED:
            by = [each for _, one in made for each in one.made_by]
            by += [each for one in self.controls for each in one.made_by]
            _MENTIONED[what] = self.says_unused(Mentions([*filter(callable, by)]))
        if unused := _MENTIONED[what]:
            st.exception(Misdeclared(unused))

    def says_unused(self, mentions: Mentions) -> str:
        """What is declared and used by nothing, in words; "" for nothing."""
        for each in self.controls:
            if each.name not in mentions.words and not mentions.has(each):
                return (
                    f"no card of {self.name} reads the control {each.name!r}, so nothing would "
                    f"move with it: let a card read `v.{each.name}`, or take it out of the controls"
                )
        return ""

    def _check_names(self) -> None:
        """Raises Misdeclared for a name that is there twice, or that a slip has made."""
        names = [each.name for each in self.controls]
        for kind, found in {"controls": names, "rows": [each.key for each in self.folds]}.items():
            if twice := sorted({each for each in found if found.count(each) > 1}):
                raise Misdeclared(f"two {kind} of {self.name} are called {twice[0]!r}")
        for each in self.controls:
            for name in each.undoes:
                if meant := meant_by(name, names):
                    raise Misdeclared(
                        f"the control {each.name!r} of {self.name} undoes {name!r}, but no control "
                        f"has that name. Did you mean {meant!r}?"
                    )

    def lacks(self, card: str, control: str) -> str:
        """In words, that a card has a control which is none of the page's."""
        known = ", ".join(sorted(each.name for each in self.controls))
        return (
            f"the card {card!r} of {self.name} has the control {control!r}, which is none of "
            f"{self.LACKS}. They are: {known}"
        )


@contextmanager
def opened_row(label: str, key: str, icon: str = "", is_open: bool = False) -> Iterator[bool]:
    """A row that opens; what is in it costs nothing before. Gives whether it is open."""
    look = {"expanded": is_open, "icon": icon or None, "on_change": "rerun"}
    fold = st.expander(label, key=f"row_{key}", **look)
    with fold:
        yield bool(fold.open)


def _put_notices() -> None:
    """What could not be used. Plain text: it may quote the person."""
    with st.container():  # always there: else the browser would build all that is below it anew
        for each in settings.notices():
            st.text(each)
