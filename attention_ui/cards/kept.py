"""What functions of noted reads have come to, kept for everybody by what they read."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any

from ..controls import parts
from ..controls.parts import OWN, Reads, Source
from ..frame.of_the_system import share_of_memory

MOST_BYTES = share_of_memory()
"""Of all that is kept together: what was asked for longest ago goes first."""


class Kept:
    """Results by what they are of, and by what their making has read, which decides them."""

    def __init__(self, most_bytes: int) -> None:
        self._most, self._bytes = most_bytes, 0
        self._found: OrderedDict[tuple, tuple[Any, int]] = OrderedDict()
        """Each with the bytes that it takes."""
        self._names: dict[Hashable, dict[tuple[Source, ...], None]] = {}
        self._lock = Lock()

    def get(self, what: Hashable, make: Callable[[], Any], size: Callable[[Any], int]) -> Any:
        """What `make` gives, made before or now. What it read counts as read by who asks."""
        for names in [*self._names.get(what, ())]:
            worths = tuple(map(parts.worth, names))
            with self._lock:
                found = self._found.get((what, names, worths))
                if found:
                    self._found.move_to_end((what, names, worths))
            if found:
                for one, now in zip(names, worths, strict=True):
                    parts.note(one, now)
                return found[0]
        with parts.reading() as reads:
            made = make()
        if not any(kind in OWN for kind, _ in reads):
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


kept = Kept(MOST_BYTES)
