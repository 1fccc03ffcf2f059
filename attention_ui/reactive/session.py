"""What lasts while a visitor is here: one object in Streamlit's session, beside its widgets.

    @dataclass
    class Basket(Session):
        apples: int = 0

    use_session(Basket)
    this_session().apples += 1  # in an event, or while the page is drawn

An app has a class of its own. Its rooms keep what is theirs in classes of theirs:
`this_session().own(Tally)`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

import streamlit as st

from .isolation import SESSION, check_open, gate_opened

Kind = TypeVar("Kind")
KEY = "session"
"""In Streamlit's session."""


@dataclass
class Session:
    """What the engine itself keeps of a visitor."""

    page: str = ""
    """The name of the page that is open."""
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
