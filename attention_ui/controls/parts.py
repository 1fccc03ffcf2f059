"""What runs at a move, and what waits: decided here, and nowhere else.

A page is drawn in parts. While one is drawn, each source that it uses is noted, with what it was
worth: a control's value, whether a question covers a step, the state of a run. A part is stale when
one of them is worth something else now, or when it was never drawn to its end. After a change the
stale parts run that are near the visitor's eyes; the others wait until they come near, or until the
server has nothing else to do. Where nobody says what is near (no browser, on paper), nothing waits.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial, wraps
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException

from .visit_state import this_visit

Source = tuple[str, str]
"""Its kind and its name: `("value", "d_in")`, `("covers", "weights")`."""
Reads = dict[Source, Any]
"""Sources, with what each was worth when it was read."""
AROUND = ""
"""In the place of a part's name: all of the page that is in none."""
WATCHER = "near"
"""The part that tells the browser what waits."""
OWN = {"run", "guess", "gone on", "first", "draft", "session", "wrong"}
"""Kinds whose worth is one visitor's own: what has read one is kept for nobody else."""
_WORTH: dict[str, Callable[[str], Any]] = {}


def source(kind: str) -> Callable[[Callable[[str], Any]], Callable[[str], Any]]:
    """Makes a function say what the sources of a kind are worth now, by their names."""

    def of(worth_of: Callable[[str], Any]) -> Callable[[str], Any]:
        _WORTH[kind] = worth_of
        return worth_of

    return of


def worth(one: Source) -> Any:
    """What a source is worth now."""
    return _WORTH[one[0]](one[1])


@source("hand")
def _has_a_hand(place: str) -> bool:
    """Whether a hand has come to a control's or a picture's place since it was drawn anew."""
    hands = of_page().hands
    return hands is None or place in hands


@source("window")
def _is_so(name: str) -> bool:
    """Whether the window is a `phone`'s, as the browser says, or said at its first request."""
    said = this_visit().window
    return st.context.cookies.get(name) == "1" if said is None else name in said


@source("misread")
def _misread(_: str) -> int:
    return this_visit().misread


def is_drawing() -> bool:
    """Whether a page is being drawn: what a callback or a test asks, nobody shows."""
    return bool(of_page().noting)


def read(kind: str, name: str = "") -> Any:
    """What a source is worth; noted by the part that is being drawn."""
    noting = of_page().noting
    if noting and (kind, name) in noting[-1]:
        return noting[-1][kind, name]
    now = worth((kind, name))
    if noting:
        noting[-1][kind, name] = now
    return now


def read_all(each: Iterable[Source]) -> None:
    """Note many sources."""
    if noting := of_page().noting:
        for one in each:
            if one not in noting[-1]:
                noting[-1][one] = worth(one)


def note(one: Source, now: Any) -> None:
    """That the part which is being drawn has read a source that is worth so much."""
    if noting := of_page().noting:
        noting[-1].setdefault(one, now)


@contextmanager
def reading(counts: bool = True) -> Iterator[Reads]:
    """What is read within, which `counts` as read around it too."""
    noting = of_page().noting
    reads: Reads = {}
    noting.append(reads)
    try:
        yield reads
    finally:
        noting.pop()
        if noting and counts:
            noting[-1].update(reads)


unnoted = partial(reading, counts=False)
"""What is read within is noted by nobody: it only works out what a source is worth."""


@dataclass
class Part:
    """A part of the page as it was drawn last."""

    above: str = AROUND
    """The part that it stands in."""
    waits: bool = False
    """Whether it may wait while it is not near."""
    reads: Reads | None = None
    """None until its end was reached: a run that was cut short has drawn who knows what."""
    keys: set[str] = field(default_factory=set)
    """Those of its widgets, as far as they have something of their own to begin with."""
    pictures: set[str] = field(default_factory=set)
    """The names of those that stand in it."""

    def is_stale(self, worth: Callable[[Source], Any] = worth) -> bool:
        """Whether it would be drawn otherwise now."""
        return self.reads is None or any(worth(one) != was for one, was in self.reads.items())


@dataclass
class Parts:
    """The parts of the page that a visitor has open, in their order."""

    drawn: dict[str, Part] = field(default_factory=lambda: {AROUND: Part()})
    near: frozenset[str] | None = None
    """The parts that the browser has near; None where none has said."""
    hands: frozenset[str] | None = None
    """Places a hand has come to, such as `moves_scores`, until redrawn; None: no browser said."""
    is_at_rest: bool = False
    """Whether nothing but what waited has been drawn last."""
    all_at_once: bool = False
    """Whether nothing waits on this page: on paper, and where a card stands alone."""
    open: list[str] = field(default_factory=lambda: [AROUND])
    """The parts that are being drawn, the innermost last."""
    noting: list[Reads] = field(default_factory=list)
    known: dict[str, Any] = field(default_factory=dict)
    """What was worked out since the last change."""
    stood: set[str] = field(default_factory=set)
    """The keys of the widgets that were there when their part was drawn last."""

    def stale(self) -> list[str]:
        """The parts that have to run, without those in a part that has to."""
        now = cache(worth)  # most are read by many
        drawn = {name: one for name, one in self.drawn.items() if name not in (AROUND, WATCHER)}
        found = {name for name, one in drawn.items() if one.is_stale(now)}
        return [name for name in self.drawn if name in found and not self._above(name) & found]

    def waiting(self) -> list[str]:
        """Of these, the ones that are not near."""
        return [name for name in self.stale() if self._may_wait(name)]

    def _may_wait(self, name: str) -> bool:
        if self.near is None or self.all_at_once or not self.drawn[name].waits:
            return False
        return name not in self.near

    def _above(self, name: str) -> set[str]:
        found: set[str] = set()
        while name := self.drawn[name].above if name in self.drawn else AROUND:
            found.add(name)
        return found

    @contextmanager
    def draws(self, name: str, waits: bool) -> Iterator[None]:
        """A part is drawn; it counts as drawn when its end is reached."""
        runs_alone = not self.noting and name in self.drawn
        above = self.drawn[name].above if runs_alone else self.open[-1]
        old = self.keys(name)
        for below in [each for each in self.drawn if name in self._above(each)]:
            del self.drawn[below]
        one = self.drawn[name] = Part(above, waits)
        reads: Reads = {}
        self.open.append(name)
        self.noting.append(reads)
        try:
            yield
            one.reads = reads
            self.stood -= old - self.keys(name)
        finally:
            self.open.pop()
            self.noting.pop()

    def keys(self, name: str) -> set[str]:
        """Those of the widgets in a part, and in the parts in it."""
        within = (each for at, each in self.drawn.items() if name in (at, *self._above(at), AROUND))
        return set().union(*(each.keys for each in within))


def of_page() -> Parts:
    """Those of the page that this visitor has open."""
    return this_visit().own(Parts)


def begin_page(is_same: bool, has_browser: bool, all_at_once: bool) -> None:
    """At the top of a page drawn whole; on the same page what was near still counts."""
    before = of_page() if is_same else Parts(hands=frozenset() if has_browser else None)
    begun = Parts(near=before.near, hands=before.hands, all_at_once=all_at_once)
    begun.stood = before.stood
    begun.noting.append({})
    this_visit().renew(begun)


def end_page() -> None:
    """At the end of it: from now on its parts may run alone."""
    here = of_page()
    if here.noting:
        here.drawn[AROUND].reads = here.noting.pop()
        here.stood &= here.keys(AROUND)


def part(name: str, draw: Callable[[], None], waits: bool = False) -> None:
    """Draw a part, now and whenever what it read changes. One that `waits` is left until somebody
    is near; what it draws stands in a container whose key is its name.
    """

    @st.fragment(key=_key(name))
    @wraps(draw)
    def run() -> None:
        this_visit().was_touched = False
        with of_page().draws(name, waits):
            draw()

    run()


def stood(key: str) -> bool:
    """Whether a widget was there when its part was drawn last; one that comes back is new."""
    here = of_page()
    was_there = key in here.stood
    here.stood.add(key)
    here.drawn[here.open[-1]].keys.add(key)
    return was_there


def met_picture(name: str) -> None:
    """That a picture is drawn: a hand may come to it."""
    here = of_page()
    here.drawn[here.open[-1]].pictures.add(name)


def now_in() -> str:
    """The innermost part that is being drawn."""
    return of_page().open[-1]


def settle(name: str, one: Source, is_shown: bool = True) -> None:
    """From a callback: a part shows what a source is worth now, since the browser does; or, where
    that has moved to what it cannot show, the part has to be drawn.
    """
    here = of_page().drawn.get(name)
    if here and here.reads is not None and one in here.reads:
        here.reads = here.reads | {one: worth(one)} if is_shown else None


def run_what_reads(at: str = "", of: str = AROUND) -> None:
    """At the end of a callback: run what is stale and near, and let the rest wait. `at` is the
    picture in the hand; at others that are drawn anew, a hand has to come again. `of` is the part
    that has what was used.
    """
    here = of_page()
    here.known.clear()
    stale = here.stale()
    if here.hands:
        gone = {name for each in stale for name in here.drawn[each].pictures} - {at}
        here.hands = frozenset(one for one in here.hands if one.partition("_")[2] not in gone)
    if here.drawn[AROUND].is_stale():
        st.rerun()
    run_parts([], stale, of=of)  # those that are near


def run_parts(
    names: list[str], stale: list[str] | None = None, is_at_rest: bool = False, of: str = AROUND
) -> None:
    """From a callback: run these parts and all that are stale and near, and tell the browser what
    waits. Where Back or Forward asked for the run, all of the page runs anyway; where it is the
    part `of` what was used, and no other, it does so by itself.
    """
    if this_visit().by_address:
        return
    here = of_page()
    here.is_at_rest = is_at_rest
    stale = here.stale() if stale is None else stale
    near = {name for name in stale if not here._may_wait(name)}
    # What waited, and what has parts in it, leaves something to tell that is not known yet.
    has_news = bool(names) or any(one.above in near for one in here.drawn.values())
    if has_news or not near or (WATCHER in here.drawn and here.drawn[WATCHER].is_stale()):
        near.add(WATCHER)
    names = [name for name in here.drawn if name in {*names, *near}]
    if not names or names == [of]:
        return  # without names, a page without a watcher: what runs anyway shows nothing new
    try:
        st.rerun([_key(each) for each in names])
    except StreamlitAPIException:  # a part that Streamlit has lost: then all of the page is drawn
        st.rerun()


def _key(name: str) -> str:
    return f"part_{name}"
