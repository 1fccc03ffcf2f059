"""What lasts while a visitor is here: one object in Streamlit's session, beside its widgets.

    @dataclass
    class Basket(Session):
        apples: int = 0

    use_session(Basket)
    this_session().apples += 1  # in an event, or while the page is drawn

An app has a class of its own. Its rooms keep what is theirs in classes of theirs:
`this_session().own(Tally)`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import streamlit as st

from .control import Control, Texts, Values
from .isolation import SESSION, check_open, gate_opened

Kind = TypeVar("Kind")
KEY = "session"
"""In Streamlit's session."""


@dataclass
class Session:
    """What the engine itself keeps of a visitor. An app says what is its own in a subclass:
    `first`, `instead`, `shorten`, and methods such as `fixes`.
    """

    first: ClassVar[Mapping[str, str]] = {}
    """What an address that says nothing stands for: a preset, by which all controls start."""
    instead: ClassVar[str] = "The value that it starts with is used."
    """What is said after what a link has and cannot be used."""
    shorten: ClassVar[str] = "Shorten what was typed."
    """What is said to whoever has chosen more than an address holds."""

    # The page that is open.
    page: str = ""
    """The name of the page that is open."""
    controls: Sequence[Control] = ()
    values: Values = field(default_factory=Values)
    """Those of its controls, as they are now."""
    declared: Any = None
    """The page as its script declares it (`page.Page`)."""

    # What was chosen.
    chosen: Texts = field(default_factory=dict)
    """All that differs from the preset, also for other pages; empty before the first page."""
    unfit: set[str] = field(default_factory=set)
    """The names in it that do not fit on this page now: they stay, and no address says them."""
    asked: Texts = field(default_factory=dict)
    """What was asked for where other values left no room: it comes back when it fits."""
    fixed: Texts = field(default_factory=dict)
    """What a link fixes, with its value now, also for other pages."""
    unread: set[str] = field(default_factory=set)
    """The names in a link that no page has had a control for yet."""
    drafts: Texts = field(default_factory=dict)
    """What was typed and cannot be used."""
    problems: Texts = field(default_factory=dict)
    """Why, in words."""
    notices: list[str] = field(default_factory=list)
    """What was not applied, in words that may quote the person."""

    # The address.
    written: tuple[str, Texts] | None = None
    """The page and the parameters that the address was last given; None if a link was taken up."""
    linked: dict[str, Texts] = field(default_factory=dict)
    """The parameters of our own links, by where they stand."""
    script: str = ""
    """What Streamlit calls the page."""
    goes_back: bool = False
    """Whether the address is another step of the same page, which has not been taken up yet."""

    # The run that is on.
    tracking: list[dict[Any, Any]] = field(default_factory=list)
    """What has been read by each of those that are being drawn or made, the innermost last."""
    events: int = 0
    """How many events, one within the other, are on."""
    was_touched: bool = False
    """Whether a callback of ours began this run: the browser may still tell the address before."""
    by_address: bool = False
    """Whether the address has asked for this run: then it is of the whole page."""
    window: frozenset[str] | None = None
    """What the browser says of its window, such as `phone`; None before it says so of a page."""
    _own: dict[type, Any] = field(default_factory=dict)

    def hears(self, said: frozenset[str]) -> None:
        """What the browser says of its window, beside the fragments that are visible."""
        self.window = said & {"phone"}

    def chosen_here(self) -> Texts:
        """What was chosen and fits on this page, as a link says it."""
        return {name: text for name, text in self.chosen.items() if name not in self.unfit}

    def opens_page(self, is_same: bool) -> None:
        """At the top of a page, the same as before or another: nothing of it is drawn yet."""

    def fixes(self) -> frozenset[str]:
        """The names of the controls whose values the link fixes."""
        return frozenset()

    def hidden(self) -> Sequence[str]:
        """The names of the controls that are not drawn for this visitor."""
        return ()

    def locked(self) -> Sequence[str]:
        """The names of those that are drawn, and cannot be used."""
        return ()

    def is_printed(self) -> bool:
        """Whether the page is for paper: nothing moves on it, and controls are words."""
        return False

    def is_all_at_once(self) -> bool:
        """Whether nothing of the page waits until it is visible."""
        return self.is_printed()

    def says_undone(self, names: Iterable[str]) -> list[str]:
        """What is said where a change took these with it, which belonged to the old value alone."""
        labels = [each.label or each.name for each in self.controls if each.name in names]
        return [f"Taken back with it: {', '.join(labels)}."]

    def cleaned(self, text: str) -> str:
        """What somebody wrote, without what only does harm, to be quoted."""
        return "".join(filter(str.isprintable, text))

    def asking(self) -> list[str]:
        """The fragments where something is asked that need not be answered."""
        return []

    def stands_open(self) -> list[str]:
        """The fragments where what was asked was answered, or gone on from."""
        return []

    def goes_past(self, fragments: list[str]) -> None:
        """In an event: the visitor has gone on from what is asked in these."""

    def own(self, kind: type[Kind]) -> Kind:
        """What a room keeps for the session, in a class of its own; made when first needed."""
        if kind not in self._own:
            self._own[kind] = kind()
        return self._own[kind]

    def renew(self, one: Kind) -> Kind:
        """Takes the place of what was there of its class."""
        self._own[type(one)] = one
        return one


_make: list[type[Session]] = [Session]
_OF_RUN: ContextVar[Session | None] = ContextVar("session of the run", default=None)
"""Streamlit is asked for it once a run, since that takes 10 µs."""


def use_session(kind: type[Session]) -> None:
    """From now on, a new visitor's session is of this class."""
    _make[0] = kind


def this_session() -> Any:
    """That of the visitor whose page this run draws. Raises Misdeclared while something is made
    for everybody: that reads sources (`source.py`).
    """
    session = SESSION.get()
    if session is None:
        check_open()
        session = the_session()
        SESSION.set(session)
    return session


def the_session() -> Any:
    """The same for the engine, which tracks all that is read: through the gate that
    `isolation.py` closes.
    """
    session = _OF_RUN.get()
    if session is None:
        with gate_opened():
            session = st.session_state.get(KEY)
            if session is None:
                session = st.session_state[KEY] = _make[0]()
        _OF_RUN.set(session)
    return session


@contextmanager
def session_of(one: Session) -> Iterator[None]:
    """Within, whoever asks gets this session: that of somebody without a browser, for whom a page
    is written to a file. Streamlit is not asked.
    """
    before = [(each, each.set(of)) for each, of in ((_OF_RUN, one), (SESSION, None))]
    try:
        yield
    finally:
        for each, was in before:
            each.reset(was)
