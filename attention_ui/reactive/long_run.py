"""Work that may take seconds, done a slice at a time, so that a click on Stop, which waits for the
fragment's run, comes between two; within a slice, other visitors' runs come between two pieces.
"""

import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from itertools import count

import streamlit as st
from streamlit.errors import StreamlitAPIException

from ..streamlit_workarounds.run_queue import gives_turn_back, page_is_asked_for
from .fragments import event, page_fragments
from .session import the_session, this_session
from .source import source

SLICE = 0.3
"""Seconds of work between two pictures of it: as long as a click on Stop may have to wait."""

LONGEST_SLICE, WORK_TO_DRAWING = 1.5, 2
"""A slice is so many times as long as its picture, else pictures would take most of the time."""

MOMENT = 0.1
"""Seconds of work before the first picture, of work that begins by itself."""

Steps = Iterator[tuple[float, object]]
"""How much is done, from 0 to 1, and the result so far."""


@dataclass
class Run:
    """Work and its results so far. `about` says what it is for: other values need another run."""

    about: Hashable
    share: float = 0.0
    result: object = None
    """The result so far; None before there is any."""
    steps: Steps | None = None
    """The work while it is going."""
    number: int = field(default_factory=count().__next__)
    """Tells it from any other."""
    name: str = ""
    work: Callable[[], Steps] | None = None
    cost: str = ""
    verb: str = ""
    ended: float | None = None
    """When its last slice did."""

    def advance(self, seconds: float | None = None) -> None:
        """Do the work, or as much of it as these seconds allow."""
        began = time.monotonic()
        if seconds is not None and self.ended is not None:
            drawn = WORK_TO_DRAWING * (began - self.ended)
            seconds = max(seconds, min(LONGEST_SLICE, drawn))
        try:
            for share, result in self.steps or ():
                self.share, self.result = share, result
                if seconds is not None and time.monotonic() - began > seconds:
                    break
                gives_turn_back()
        except Exception:
            self.steps = None  # they have ended: whoever asks again begins anew
            raise
        self.ended = time.monotonic()
        if self.share >= 1:
            self.steps = None


def within_callback(steps: Steps, most: float) -> None:
    """Do work before the page is drawn, within so many seconds, while others get their turn."""
    began = time.monotonic()
    for _ in steps:
        if time.monotonic() - began > most:
            return
        gives_turn_back()


@dataclass
class Runs:
    """Those of a visit."""

    by_name: dict[str, Run] = field(default_factory=dict)


def _run_of(name: str) -> Run | None:
    return the_session().own(Runs).by_name.get(name)


@dataclass(frozen=True)
class Work:
    """A long run as a card declares it: its `cost` in words, its button's `verb`. One that is
    `quick` is done at once; one that `begins` has no button, and goes on by `go_on_with_page`.
    """

    name: str
    about: Hashable
    pieces: Callable[[], Steps]
    cost: str = ""
    verb: str = "Measure"
    quick: bool = False
    begins: bool = False

    def run(self) -> Run:
        """As far as it has come; `quick` work at once."""
        runs = this_session().own(Runs).by_name
        run = runs.get(self.name)
        is_another = run is None or run.about != self.about
        if self.begins and (is_another or (run.steps is None and run.share < 1)):
            run = runs[self.name] = Run(self.about, steps=self.pieces())
            run.name, run.cost = self.name, self.cost
            run.advance(MOMENT)
            page_fragments().known.clear()
        elif not self.begins:
            if is_another:
                run = runs[self.name] = Run(self.about)
            run.name, run.work, run.cost, run.verb = self.name, self.pieces, self.cost, self.verb
            if self.quick and run.share < 1:
                run.steps = self.pieces()
                run.advance()
        return run


def put_run(run: Run) -> None:
    """The progress and the buttons of work that is not done."""
    _state(run.name)
    if run.share >= 1:
        return
    if not run.verb:
        st.progress(run.share, text=run.cost)
        return
    beside = {"horizontal": True, "vertical_alignment": "center"}
    with st.container(key=f"run_of_{run.name}", **beside):
        stopped = run.result is not None
        if run.steps is not None:
            st.progress(run.share, text=f"{run.cost}: {run.share:.0%}", width=480)
            label, icon, then = "Stop", "stop", _stop
        elif stopped:
            told = f"Stopped at {run.share:.0%}. The results so far are shown."
            st.markdown(told, width="content")
            label, icon, then = "Start again", "play_arrow", _start
        else:
            st.markdown(f"This takes {run.cost}, so it waits for you.", width="content")
            label, icon, then = run.verb, "play_arrow", _start
        # One key for all: a button with a key of its own would stay on the screen during the run.
        key = f"start_or_stop_{run.name}"
        st.button(label, key=key, icon=f":material/{icon}:", on_click=then, args=(run,))


def put_run_of(name: str) -> None:
    """The same of the work of this name, if it was asked for."""
    if run := _run_of(name):
        put_run(run)


@source(own=True)
def _state(name: str) -> tuple | None:
    """How far work has come: another run, and each slice of one, is something else."""
    run = _run_of(name)
    return run and (run.number, run.share, run.result is not None, run.steps is not None)


def run_so_far(name: str) -> Run | None:
    """In a card: the work of this name as far as it has come; None before it was asked for."""
    _state(name)
    return _run_of(name)


def go_on_with_page(run: Run) -> None:
    """Do the next slice and draw the whole page again, while there is work. Call it last."""
    if run.steps is not None:
        run.advance(SLICE)
        st.rerun()


def go_on(run: Run) -> None:
    """Do the next slice and draw again, and the whole page when all is done. Call it last."""
    if run.steps is None:
        return
    run.advance(SLICE)
    if page_is_asked_for():
        return  # whether it goes on, that page says
    if run.steps is None:
        st.rerun()  # what else shows the result follows
    try:
        st.rerun(scope="fragment")
    except StreamlitAPIException:  # the whole page is running
        st.rerun()


def stop_all() -> None:
    """Stop the work of a page that was left: nobody sees it, and it would hold up others."""
    for run in this_session().own(Runs).by_name.values():
        run.steps = None


@event()
def _start(run: Run) -> None:
    run.share, run.result, run.steps = 0.0, None, run.work()


@event()
def _stop(run: Run) -> None:
    run.steps = None
