"""What functions of noted reads have come to, kept for everybody by what they read."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import torch

from ..controls import parts
from ..controls.guard import made_for_everybody
from ..controls.parts import OWN, Reads, Source
from ..frame.of_the_system import share_of_memory
from .identity import Identity

MOST_BYTES = share_of_memory()
"""Of all that is kept together: what was asked for longest ago goes first."""


CALLED = {
    "card": "The card {2!r} of {1}",
    "ask": "The question {2!r} of {1}",
    "hides": "What the question {2!r} of {1} covers",
    "answers": "A closing answer of {1}",
    "trace": "The trace of {1}",
    "marks": "What is printed of {1}",
    "positions": "The picture {3!r} of the card {2!r} of {1}",
}


def in_words(what: tuple) -> str:
    """What is made, as a sentence begins: by its kind and its names."""
    return CALLED.get(what[0], "What {0!r} is").format(*what)


@contextmanager
def same_chance() -> Iterator[None]:
    """Whatever draws torch's own random numbers within draws the same at each run: so does a layer
    of torch's when it is made, though others take the place of its numbers.
    """
    before = torch.random.get_rng_state()
    torch.default_generator.manual_seed(0)
    try:
        yield
    finally:
        torch.random.set_rng_state(before)


class Kept:
    """Results by what they are of, and by what their making has read, which decides them."""

    def __init__(self, most_bytes: int) -> None:
        self._most, self._bytes = most_bytes, 0
        self._found: OrderedDict[tuple, tuple[Any, int]] = OrderedDict()
        """Each with the bytes that it takes."""
        self._names: dict[Hashable, dict[tuple[Source, ...], None]] = {}
        self._lock = Lock()

    def get(self, what: tuple, make: Callable[[], Any], size: Callable[[Any], int]) -> Any:
        """What `make` gives, made before or now. What it read counts as read by who asks. `what`
        begins with what kind of thing it is, and for whom that is in words. Raises Misdeclared
        where it asks for what is one visitor's own without reading a source.
        """
        for names in [*self._names.get(what, ())]:
            worths = parts.worths_now(names)
            with self._lock:
                found = self._found.get((what, names, worths))
                if found:
                    self._found.move_to_end((what, names, worths))
            if found:
                for one, now in zip(names, worths, strict=True):
                    parts.note(one, now)
                return found[0]
        with parts.reading() as reads, made_for_everybody(in_words(what)), same_chance():
            made = make()
        is_alone = any(isinstance(each, Identity) and each.is_alone for each in what)
        if not (is_alone or any(kind in OWN for kind, _ in reads)):
            self._keep(what, reads, made, size(made))
        return made

    def _keep(self, what: Hashable, reads: Reads, made: Any, n_bytes: int) -> None:
        names = tuple(sorted(reads))
        key = (what, names, tuple(reads[one] for one in names))
        with self._lock:
            self._names.setdefault(what, {})[names] = None
            self._found[key] = made, n_bytes
            self._bytes += n_bytes
            while self._bytes > self._most and len(self._found) > 1:
                _, (_, freed) = self._found.popitem(last=False)
                self._bytes -= freed


class Few:
    """The last few of what a picture has come to since it was made, which who draws it has to have
    read as whoever made each of them had.
    """

    MOST = 4

    def __init__(self) -> None:
        self._each: list[tuple[Hashable, Reads, Any]] = []

    def found(self, what: Hashable) -> Any:
        """What was made before, as it would be made now; None for nothing. What it read counts as
        read by who asks.
        """
        for key, reads, made in self._each:
            if key == what and parts.worths_now(reads) == tuple(reads.values()):
                for one, now in reads.items():
                    parts.note(one, now)
                return made
        return None

    def get(self, what: Hashable, make: Callable[[], Any], called: str) -> Any:
        """What `make` gives, made before or now; `called` as it is in what refuses."""
        if (found := self.found(what)) is not None:
            return found
        with parts.reading() as reads, made_for_everybody(called), same_chance():
            made = make()
        self._each = [*self._each[1 - self.MOST :], (what, dict(reads), made)]
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


kept = Kept(MOST_BYTES)
