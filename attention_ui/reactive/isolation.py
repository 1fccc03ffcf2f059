"""The gate between what is made for everybody and what is one visitor's own.

What is made for everybody is cached by the sources that it has read (`source.py`). So meanwhile
nothing of a session can be reached but by reading a source, which is tracked: whatever else asks
for the session, or for Streamlit, is refused, in words that say what is made and what to use
instead.

    with made_for_everybody("The card 'apples'"):
        this_session()  # raises Misdeclared
        with gate_opened():  # who works out what a source is, and nobody else
            this_session()
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import PurePath
from types import FrameType
from typing import Any

INSTEAD = [
    "What it makes is cached for everybody by what it has read, so it can read sources alone "
    "(attention_ui/reactive/source.py). What runs in an event may ask for anything."
]
"""What to use in its place, in words: an app says its own, see `say_instead`."""
ENGINE = [f"{__package__}."]
"""The modules whose names begin so are no app's: who asks is in none of them."""


def say_instead(words: str, *engine: str) -> None:
    """What an app tells whoever was refused, and which modules of its own ask for others."""
    INSTEAD[:], ENGINE[1:] = [words], engine


class Misdeclared(ValueError):
    """What a page says or does that cannot be, in words for who writes the page."""


@dataclass(slots=True)
class Making:
    """What is being made for everybody, and what it was refused first."""

    what: str
    refused: Misdeclared | None = None


Withhold = Callable[[Callable[[str], Misdeclared] | None], Any]
SESSION: ContextVar[Any] = ContextVar("session", default=None)
"""What `this_session` gives at once: that of the run that is on; None while the gate is closed."""
_MAKING: ContextVar[Making | None] = ContextVar("making", default=None)
_also: list[tuple[Withhold, Callable[[Any], None]]] = []


def withhold_also(withhold: Withhold, give_back: Callable[[Any], None]) -> None:
    """What else the gate closes: `withhold` is given what refuses, or None where it opens, and
    returns what `give_back` takes. So is Streamlit (`streamlit_workarounds/withheld.py`).
    """
    _also[:] = [(withhold, give_back)]


@contextmanager
def _gate(making: Making | None) -> Iterator[None]:
    of_session, of_making = SESSION.set(None), _MAKING.set(making)
    was = [(give_back, withhold(making and _refused)) for withhold, give_back in _also]
    try:
        yield
    finally:
        for give_back, held in was:
            give_back(held)
        _MAKING.reset(of_making)
        SESSION.reset(of_session)


@contextmanager
def made_for_everybody(what: str) -> Iterator[None]:
    """Within, only sources can be read. `what` is made begins the sentence that refuses.
    Raises Misdeclared for the first thing that was refused, also where that was caught.
    """
    making = Making(what)
    with _gate(making):
        try:
            yield
        finally:
            if making.refused is not None:
                raise making.refused from None


def gate_opened() -> Any:
    """Within, what is made for everybody may ask for the session: for who works out what a source
    is, and tracks it.
    """
    return _gate(None)


READABLE = {sys.prefix, sys.base_prefix, *(os.path.abspath(each) for each in sys.path)}
"""Folders with files of the program itself, the same for everybody; an app adds its own."""


_OUTSIDE = {"open", "os.listdir", "os.scandir", "subprocess.Popen", "socket.connect"}
"""Audit events of Python that reach outside the program, most of them with a path first."""


def _refuse_outside(event: str, given: tuple) -> None:
    """Raises Misdeclared where what is made for everybody reads a file, be it in a library."""
    if event not in _OUTSIDE or not is_closed():
        return
    is_file = isinstance(given[0], str | bytes | os.PathLike)
    if event == "open" and not is_file:
        return  # one that is open already
    told = os.fsdecode(given[0]) if is_file else event
    if told in (os.devnull, sys.executable):
        return  # the first has nothing to read; the other is this program, in another process
    place = f"{os.path.abspath(told)}{os.sep}"
    if event != "subprocess.Popen" and place.startswith(
        tuple(f"{one}{os.sep}" for one in READABLE)
    ):
        return
    if _is_imported(sys._getframe(1)):
        return
    making = _MAKING.get()
    error = Misdeclared(f"{making.what} reads {told}, which may change tomorrow. {INSTEAD[0]}")
    making.refused = making.refused or error
    raise error


def _is_imported(frame: FrameType | None) -> bool:
    """Whether a module is being looked for or imported there, on this machine once for all."""
    while frame and frame.f_code.co_name not in {"_find_and_load", "_find_spec"}:
        frame = frame.f_back
    return frame is not None


sys.addaudithook(_refuse_outside)  # cannot be taken back; it costs 3 ms as a page opens


def is_closed() -> bool:
    """Whether something is being made for everybody."""
    return _MAKING.get() is not None


def check_open() -> None:
    """Raises Misdeclared while something is made for everybody."""
    if _MAKING.get() is not None:
        raise _refused(_who_asks(sys._getframe(1)))


def _refused(by: str) -> Misdeclared:
    making = _MAKING.get()
    error = Misdeclared(f"{making.what} asks for what is one visitor’s own, by {by}. {INSTEAD[0]}")
    making.refused = making.refused or error
    return error


def _who_asks(frame: FrameType) -> str:
    """The function of the engine's that was called from outside of it, and where."""
    told, outer = frame.f_code.co_name, frame.f_back
    while outer and outer.f_globals.get("__name__", "").startswith(tuple(ENGINE)):
        told, outer = outer.f_code.co_name, outer.f_back
    where = outer and f" at {PurePath(outer.f_code.co_filename).name}:{outer.f_lineno}"
    return f"`{told}`{where or ''}"
