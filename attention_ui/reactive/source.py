"""Something that can be read: declared once, read by calling it, and tracked.

    @source(own=True)
    def is_locked(name: str) -> bool:
        "Whether a teacher's link locks a control."
        return name in this_session().locked

    is_locked("seed")  # whoever is being drawn depends on it from here on
    is_locked.now("seed")  # for an event, which draws nothing

What it is must be hashable, or at least comparable, and decides alone what is made of it: for
everybody, unless it is one visitor's `own`. What reads it is drawn again when it has changed, and
what was made of it is cached by it.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, update_wrapper
from typing import Any, Generic, TypeVar

from .isolation import check_open, gate_opened, is_closed
from .session import the_session

T = TypeVar("T")


class Source(Generic[T]):
    """One that is declared by a function: of a name, what it is now. See `source`."""

    def __init__(self, current: Callable[[str], T], own: bool = False, called: str = "") -> None:
        update_wrapper(self, current)
        self._current = current
        self.own = own
        """Whether it is one visitor's own: what has read it is cached for nobody else."""
        self.called = called or f"{current.__module__}.{current.__name__}"

    def __call__(self, name: str = "") -> T:
        """What it is; whoever is being drawn depends on it."""
        tracking = the_session().tracking
        if not tracking:
            return current((self, name))
        read, reads = (self, name), tracking[-1]
        if read in reads:
            return reads[read]
        now = reads[read] = current(read)
        return now

    def touch(self, name: str = "") -> None:
        """What is being drawn, if anything is, depends on this, as it is now."""
        if tracking := the_session().tracking:
            read, reads = (self, name), tracking[-1]
            if read not in reads:
                reads[read] = current(read)

    def now(self, name: str = "") -> T:
        """The same, tracked by nobody. Raises Misdeclared while something is made for everybody."""
        check_open()
        return current((self, name))

    def displayed(self, by: str) -> "Source[T]":
        """The same source as something reads it that the browser moves by itself, such as a widget:
        see `fragments.commit`.
        """
        return Source(self._current, self.own, f"{self.called}, displayed by {by}")

    def __repr__(self) -> str:
        return f"<source {self.called}>"

    def __lt__(self, other: "Source") -> bool:
        return self.called < other.called


Read = tuple[Source, str]
"""A source, with the name of what was read of it: `(is_locked, "seed")`."""
Dependencies = dict[Read, Any]
"""What was read, with what it was then."""


def source(own: bool = False) -> Callable[[Callable[[str], T]], Source[T]]:
    """Makes a function, which says of a name what something is now, a source."""

    def of(current: Callable[[str], T]) -> Source[T]:
        return Source(current, own)

    return of


def current(read: Read) -> Any:
    """What is read of a source now, tracked by nobody: for the engine alone."""
    if not is_closed():
        return read[0]._current(read[1])
    with gate_opened():
        return read[0]._current(read[1])


def currents(reads: Iterable[Read]) -> tuple[Any, ...]:
    """The same of many."""
    if not is_closed():
        return tuple(one._current(name) for one, name in reads)
    with gate_opened():
        return tuple(one._current(name) for one, name in reads)


def current_of_each() -> Callable[[Read], Any]:
    """`current`, of many reads where nothing changes meanwhile: each is worked out once. Raises
    Misdeclared while something is made for everybody.
    """
    check_open()
    return cache(_current)


def _current(read: Read) -> Any:
    return read[0]._current(read[1])


def track(dependencies: Dependencies) -> None:
    """That what is being drawn depends on these, which were read by what it is made of."""
    if tracking := the_session().tracking:
        reads = tracking[-1]
        for read, now in dependencies.items():
            reads.setdefault(read, now)


def track_now(reads: Iterable[Read]) -> None:
    """That what is being drawn depends on these, as they are now."""
    if tracking := the_session().tracking:
        for read in reads:
            if read not in tracking[-1]:
                tracking[-1][read] = current(read)


def tracking() -> AbstractContextManager[Dependencies]:
    """What is read within, on which depends what is around it too."""
    return _tracking(counts=True)


def untracked() -> AbstractContextManager[Dependencies]:
    """Nobody depends on what is read within: it only works out what a source is. Raises
    Misdeclared while something is made for everybody.
    """
    check_open()
    return _tracking(counts=False)


def tracked_later() -> AbstractContextManager[Dependencies]:
    """The same where what is made tracks by itself what it was made of, as it is looked at."""
    return _tracking(counts=False)


@contextmanager
def _tracking(counts: bool) -> Iterator[Dependencies]:
    stack = the_session().tracking
    reads: Dependencies = {}
    stack.append(reads)
    try:
        yield reads
    finally:
        stack.pop()
        if stack and counts:
            stack[-1].update(reads)
