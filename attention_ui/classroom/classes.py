"""All classes of this process, for as long as they last, by codes that nobody can guess.

A code begins with the name of the process that has the class, so that nginx, before several, asks
the right one (`attention_explorer/nginx.conf`).
"""

import os
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock

from .classroom import Classroom

PROCESS = "ATTENTION_EXPLORER_PROCESS"
"""The variable of the environment with the name of this process, where it is one of several."""
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""No vowels, so that no code is a word; and no digits, which name the process."""
LONG = 8
"""20 to the power of 8: 25 billion codes."""
MOST_CLASSES, QUIET = 40, 120.0
"""At most so many classes; then one that nobody had open for so many seconds makes room."""
MOST_TRIES, WITHIN, MOST_ADDRESSES = 20, 60.0, 2_000
"""Wrong codes that one address may try within so many seconds; and addresses remembered."""


@dataclass
class Tries:
    """Wrong codes, by the address that they came from. Whoever has tried too many waits."""

    clock: Callable[[], float] = time.monotonic
    _wrong: dict[str, list[float]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def may(self, address: str) -> bool:
        """Whether this address may try a code."""
        with self._lock:
            since = self.clock() - WITHIN
            return sum(at > since for at in self._wrong.get(address, ())) < MOST_TRIES

    def was_wrong(self, address: str) -> None:
        """Count a wrong code from this address."""
        with self._lock:
            kept = self._wrong.pop(address, [])[1 - MOST_TRIES :]
            self._wrong[address] = [*kept, self.clock()]
            while len(self._wrong) > MOST_ADDRESSES:
                del self._wrong[next(iter(self._wrong))]


class Classes:
    """The classes of a process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._rooms: dict[str, Classroom] = {}
        self.tries = Tries(clock)

    def make(self, page: str, link: Mapping[str, str]) -> Classroom | None:
        """A new class at this page. Where there are too many, it replaces one that nobody has
        open; None where somebody has each of them open.
        """
        with self._lock:
            self._forget()
            if len(self._rooms) >= MOST_CLASSES:
                quiet = min(self._rooms.values(), key=lambda one: one.heard)
                if self._clock() - quiet.heard < QUIET:
                    return None
                quiet.ends()
                del self._rooms[quiet.code]
            process = os.environ.get(PROCESS, "")
            drawn = "".join(secrets.choice(LETTERS) for _ in range(LONG))
            room = Classroom(process + drawn, page, link, self._clock)
            self._rooms[room.code] = room
            return room

    def get(self, code: str) -> Classroom | None:
        """The class with this code, however it was typed; None where there is none, or no more."""
        with self._lock:
            self._forget()
            return self._rooms.get(plain(code))

    def _forget(self) -> None:
        self._rooms = {code: one for code, one in self._rooms.items() if not one.has_ended}


def plain(code: str) -> str:
    """A code as it is kept: however it was typed."""
    return "".join(each for each in code[:40].upper() if each.isalnum())


def spoken(code: str) -> str:
    """A code as it is written on a wall: in groups of four."""
    head, letters = code[:-LONG], code[-LONG:]
    return "-".join(filter(None, [head, letters[: LONG // 2], letters[LONG // 2 :]]))


CLASSES = Classes()
"""The classes of this process."""
