"""What functions that read sources have made, cached for everybody by what they read.

    made = cache.get(("card", "apples", function_identity(apples)), apples, size=len)

A cache finds what was made where each source that it read is what it was then; who asks depends on
these sources too. What has read one visitor's own is cached for nobody else.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from threading import Lock
from typing import Any

from .function_identity import FunctionIdentity
from .isolation import made_for_everybody
from .source import Dependencies, Read, currents, track, tracking

CALLED: dict[str, str] = {"card": "The card {2!r} of {1}"}
"""What a refusal calls what was being made, by its kind, with its names; an app adds its own.
"""
while_made: list[Callable[[], AbstractContextManager]] = [nullcontext]
"""What else holds while something is made: an app says it, such as that chance is the same."""


def in_words(what: tuple) -> str:
    """What is made, as a sentence begins: by its kind and its names."""
    return CALLED.get(what[0], "What {0!r} is").format(*what)


def _make(make: Callable[[], Any], called: str) -> tuple[Any, Dependencies]:
    with tracking() as reads, made_for_everybody(called), while_made[0]():
        return make(), reads


class Cache:
    """Results by what they are of, and by what their making has read, which decides them."""

    def __init__(self, most_bytes: int) -> None:
        self._most, self._bytes = most_bytes, 0
        self._found: OrderedDict[tuple, tuple[Any, int]] = OrderedDict()
        """Each with the bytes that it takes."""
        self._read: dict[Hashable, dict[tuple[Read, ...], None]] = {}
        self._lock = Lock()

    def get(self, what: tuple, make: Callable[[], Any], size: Callable[[Any], int]) -> Any:
        """What `make` gives, made before or now; who asks depends on what it read. `what` begins
        with what kind of thing it is, and for whom that is in words. Raises Misdeclared where it
        asks for what is one visitor's own without reading a source.
        """
        for reads in [*self._read.get(what, ())]:
            now = currents(reads)
            with self._lock:
                found = self._found.get((what, reads, now))
                if found:
                    self._found.move_to_end((what, reads, now))
            if found:
                track(dict(zip(reads, now, strict=True)))
                return found[0]
        made, dependencies = _make(make, in_words(what))
        is_alone = any(isinstance(each, FunctionIdentity) and each.is_alone for each in what)
        if not (is_alone or any(source.own for source, _ in dependencies)):
            self._keep(what, dependencies, made, size(made))
        return made

    def _keep(self, what: Hashable, dependencies: Dependencies, made: Any, n_bytes: int) -> None:
        reads = tuple(sorted(dependencies))
        key = (what, reads, tuple(dependencies[one] for one in reads))
        with self._lock:
            self._read.setdefault(what, {})[reads] = None
            self._found[key] = made, n_bytes
            self._bytes += n_bytes
            while self._bytes > self._most and len(self._found) > 1:
                _, (_, freed) = self._found.popitem(last=False)
                self._bytes -= freed


class SmallCache:
    """The last few of what one thing has come to since it was made, which who draws it has to have
    read as whoever made each of them had.
    """

    MOST = 4

    def __init__(self) -> None:
        self._each: list[tuple[Hashable, Dependencies, Any]] = []

    def found(self, what: Hashable) -> Any:
        """What was made before, as it would be made now; None for nothing. Who asks depends on what
        it read.
        """
        for key, dependencies, made in self._each:
            if key == what and currents(dependencies) == tuple(dependencies.values()):
                track(dependencies)
                return made
        return None

    def get(self, what: Hashable, make: Callable[[], Any], called: str) -> Any:
        """What `make` gives, made before or now; `called` as it is in what refuses."""
        if (found := self.found(what)) is not None:
            return found
        made, dependencies = _make(make, called)
        self._each = [*self._each[1 - self.MOST :], (what, dict(dependencies), made)]
        return made


def remember(few: dict, key: Hashable, made: Any, most: int = 4) -> None:
    """Keep something among the last few."""
    if len(few) >= most:
        few.pop(next(iter(few)), None)
    few[key] = made


class ById:
    """Something in a key, which is no other that is equal to it."""

    __slots__ = ("one",)

    def __init__(self, one: Any) -> None:
        self.one = one

    def __hash__(self) -> int:
        return id(self.one)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ById) and self.one is other.one
