"""What runs at a change, and what waits: decided here, and nowhere else.

A page is drawn in fragments. While one is drawn, each source that it reads is tracked, with what it
was. A fragment is stale when one of them is something else now, or when it was never drawn to its
end. At the end of an event the stale fragments run that are visible; the others wait until they
are, or until the server has nothing else to do. Where nobody says what is visible (no browser, on
paper), nothing waits.

    fragment("scores", draw_scores)  # now, and whenever what it read has changed

    def pressed():
        with event():
            this_session().apples += 1
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException

from .isolation import Misdeclared
from .session import this_session
from .source import Dependencies, Read, Source, current, current_of_each, source

PAGE = ""
"""In the place of a fragment's name: all of the page that is in none."""
WATCHER = "near"
"""The fragment that tells the browser what waits."""


@source()
def is_hovered(place: str) -> bool:
    """Whether a hand has come to a place since it was drawn anew."""
    hovered = page_fragments().hovered
    return hovered is None or place in hovered


@source()
def window_is(name: str) -> bool:
    """Whether the window is a `phone`'s, as the browser says, or said at its first request."""
    said = this_session().window
    return st.context.cookies.get(name) == "1" if said is None else name in said


@dataclass
class Fragment:
    """A fragment of the page as it was drawn last."""

    parent: str = PAGE
    """The fragment that it stands in."""
    waits: bool = False
    """Whether it may wait while it is not visible."""
    reads: Dependencies | None = None
    """None until its end was reached: a run that was cut short has drawn who knows what."""
    keys: set[str] = field(default_factory=set)
    """Those of its widgets, as far as they have something of their own to begin with."""
    hoverable: set[str] = field(default_factory=set)
    """The names of what stands in it to which a hand may come."""

    def is_stale(self, now: Callable[[Read], Any] = current) -> bool:
        """Whether it would be drawn otherwise now."""
        return self.reads is None or any(now(read) != was for read, was in self.reads.items())


@dataclass
class Fragments:
    """The fragments of the page that a visitor has open, in their order."""

    drawn: dict[str, Fragment] = field(default_factory=lambda: {PAGE: Fragment()})
    visible: frozenset[str] | None = None
    """Those that the browser has near what is seen; None where none has said."""
    hovered: frozenset[str] | None = None
    """Places a hand has come to, such as `moves_scores`, until redrawn; None: no browser said."""
    is_at_rest: bool = False
    """Whether nothing but what waited has been drawn last."""
    all_at_once: bool = False
    """Whether nothing waits on this page: on paper, and where a card stands alone."""
    open: list[str] = field(default_factory=lambda: [PAGE])
    """Those that are being drawn, the innermost last."""
    known: dict[Any, Any] = field(default_factory=dict)
    """What was worked out since the last event."""
    just_found: list[str] | None = None
    """Those that have to run, at the end of an event, until they do: nothing changes before."""
    mounted: set[str] = field(default_factory=set)
    """The keys of the widgets that were there when their fragment was drawn last."""

    def stale(self) -> list[str]:
        """Those that have to run, without those in one that has to."""
        if self.just_found is not None:
            return self.just_found
        now = current_of_each()  # most are read by many
        drawn = {name: one for name, one in self.drawn.items() if name not in (PAGE, WATCHER)}
        found = {name for name, one in drawn.items() if one.is_stale(now)}
        return [name for name in self.drawn if name in found and not self._above(name) & found]

    def waiting(self) -> list[str]:
        """Of these, the ones that are not visible."""
        return [name for name in self.stale() if self.may_wait(name)]

    def may_wait(self, name: str) -> bool:
        """Whether one is left stale for now."""
        if self.visible is None or self.all_at_once or not self.drawn[name].waits:
            return False
        return name not in self.visible

    def _above(self, name: str) -> set[str]:
        found: set[str] = set()
        while name := self.drawn[name].parent if name in self.drawn else PAGE:
            found.add(name)
        return found

    @contextmanager
    def draws(self, name: str, waits: bool) -> Iterator[None]:
        """A fragment is drawn; it counts as drawn when its end is reached."""
        tracking = this_session().tracking
        runs_alone = not tracking and name in self.drawn
        parent = self.drawn[name].parent if runs_alone else self.open[-1]
        old = self.keys(name)
        for below in [each for each in self.drawn if name in self._above(each)]:
            del self.drawn[below]
        one = self.drawn[name] = Fragment(parent, waits)
        reads: Dependencies = {}
        self.open.append(name)
        tracking.append(reads)
        try:
            yield
            one.reads = reads
            self.mounted -= old - self.keys(name)
        finally:
            self.open.pop()
            tracking.pop()

    def keys(self, name: str) -> set[str]:
        """Those of the widgets in a fragment, and in those in it."""
        within = (each for at, each in self.drawn.items() if name in (at, *self._above(at), PAGE))
        return set().union(*(each.keys for each in within))


def page_fragments() -> Fragments:
    """Those of the page that this visitor has open."""
    return this_session().own(Fragments)


def begin_page(is_same: bool, has_browser: bool, all_at_once: bool) -> None:
    """At the top of a page drawn whole; on the same page what was visible still counts."""
    before = (
        page_fragments() if is_same else Fragments(hovered=frozenset() if has_browser else None)
    )
    begun = Fragments(visible=before.visible, hovered=before.hovered, all_at_once=all_at_once)
    begun.mounted = before.mounted
    this_session().tracking = [{}]
    this_session().renew(begun)


def end_page() -> None:
    """At the end of it: from now on its fragments may run alone."""
    here, tracking = page_fragments(), this_session().tracking
    if tracking:
        here.drawn[PAGE].reads = tracking.pop()
        here.mounted &= here.keys(PAGE)


def fragment(name: str, draw: Callable[[], None], waits: bool = False) -> None:
    """Draw a fragment, now and whenever what it read changes. One that `waits` is left until it is
    visible; what it draws stands in a container whose key is its name.
    """

    @st.fragment(key=_key(name))
    @wraps(draw)
    def run() -> None:
        this_session().was_touched = False
        with page_fragments().draws(name, waits):
            draw()

    run()


def is_mounted(key: str) -> bool:
    """Whether a widget was there when its fragment was drawn last; one that comes back is new."""
    here = page_fragments()
    was_there = key in here.mounted
    here.mounted.add(key)
    here.drawn[here.open[-1]].keys.add(key)
    return was_there


def hoverable(name: str) -> None:
    """That something is drawn to which a hand may come."""
    here = page_fragments()
    here.drawn[here.open[-1]].hoverable.add(name)


def current_fragment() -> str:
    """The innermost that is being drawn."""
    return page_fragments().open[-1]


# --- events --------------------------------------------------------------------------------------
@contextmanager
def event(hovered: str = "", fragment: str = PAGE) -> Iterator[None]:
    """All that a callback does: only within is anything changed, and at its end what is stale and
    visible runs, and the rest waits. `hovered` is what is in the hand: at others that are drawn
    anew, a hand has to come again. `fragment` is the one that has what was used.
    """
    with event_of_run():
        yield
    if not this_session().events:
        rerun_stale(hovered, fragment)


@contextmanager
def event_of_run() -> Iterator[None]:
    """What long work changes while the page is drawn: an event too, but who does the work has the
    page drawn again when it is done.
    """
    session = this_session()
    session.events += 1
    try:
        yield
    finally:
        session.events -= 1


def check_event(does: str) -> None:
    """Raises Misdeclared where something is changed outside of an event: nothing would run."""
    if not this_session().events:
        raise Misdeclared(
            f"{does} outside of an event, so what shows it would stay as it was. Let the callback "
            "that does so begin with `with event():` (attention_ui/reactive/fragments.py)"
        )


def commit(name: str, read: tuple[Source, str], is_shown: bool = True) -> None:
    """In an event: a fragment shows what a source is now, since the browser does; or, where that
    has moved to what it cannot show, the fragment has to be drawn.
    """
    here = page_fragments().drawn.get(name)
    if here and here.reads is not None and read in here.reads:
        here.reads = here.reads | {read: current(read)} if is_shown else None


def rerun_stale(hovered: str = "", of: str = PAGE) -> None:
    """At the end of an event, which says what the arguments are."""
    here = page_fragments()
    here.known.clear()
    stale = here.stale()
    if here.hovered:
        gone = {name for each in stale for name in here.drawn[each].hoverable} - {hovered}
        here.hovered = frozenset(one for one in here.hovered if one.partition("_")[2] not in gone)
    if here.drawn[PAGE].is_stale():
        st.rerun()
    here.just_found = stale
    try:
        rerun([], of=of)  # those that are visible
    finally:
        here.just_found = None


def rerun(names: list[str], is_at_rest: bool = False, of: str = PAGE) -> None:
    """From a callback: run these fragments and all that are stale and visible, and tell the browser
    what waits. Where Back or Forward asked for the run, all of the page runs anyway; where it is
    the fragment `of` what was used, and no other, it does so by itself.
    """
    if this_session().by_address:
        return
    here = page_fragments()
    here.is_at_rest = is_at_rest
    visible = {name for name in here.stale() if not here.may_wait(name)}
    # What waited, and what has others in it, leaves something to tell that is not known yet.
    has_news = bool(names) or any(one.parent in visible for one in here.drawn.values())
    if has_news or not visible or (WATCHER in here.drawn and here.drawn[WATCHER].is_stale()):
        visible.add(WATCHER)
    names = [name for name in here.drawn if name in {*names, *visible}]
    if not names or names == [of]:
        return  # without names, a page without a watcher: what runs anyway shows nothing new
    try:
        st.rerun([_key(each) for each in names])
    except StreamlitAPIException:  # one that Streamlit has lost: then all of the page is drawn
        st.rerun()


def _key(name: str) -> str:
    return f"part_{name}"
