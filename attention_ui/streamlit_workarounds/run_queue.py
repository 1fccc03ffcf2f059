"""Works around Streamlit: “the whole class waited for each answer, and some for minutes”. One
script runs at a time, first come first served. A turn is taken just before what was asked for is,
so Streamlit itself merges all that a visitor does while waiting, and no press is lost.

What it is worth, in pairs of one server with and without it, on two cores beside other work. Where
a class opens one link at once (12 people, 5 pairs), the first makes for all what each would make:
without turns it takes 28 ± 6 % more of the processor, and half of them wait 25 ± 16 % longer. Where
everybody has a sentence of their own it saves nothing (12 people: 3 ± 4 %, 30: 9 ± 13 %), and the
last waits longer for it: without turns the 95th percentile is 21 ± 7 % and 42 ± 8 % lower, since
what leaves the interpreter lock runs on the other core; beside a training, 19 % lower.

Seen by tests/test_streamlit_contract.py. It may go once Streamlit has a limit of its own of scripts
that run at once, such as `runner.maxConcurrent`: there is none in 1.67; or once whoever asks the
cache for what somebody else is making waits for that (`attention_ui/reactive/cache.py`).
"""

import math
import threading
import time
from collections import deque
from contextlib import suppress
from functools import wraps
from typing import Any

import streamlit as st

PIECE = 0.1
"""Seconds after which a turn is given back where it can be, if somebody waits."""
LONGEST = 1.0
"""Seconds after which others run beside one that waits for something itself."""
LATELY = 10.0
"""Seconds, of which is counted for how much somebody had a turn."""
NOT_AS_EXPECTED = (ImportError, AttributeError, TypeError)


class Turns:
    """Threads one at a time, in the order in which they came."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[tuple[threading.Thread, threading.Event]] = deque()
        self._whose: threading.Thread | None = None
        self._since = 0.0
        self._share = 0.0
        self._mine = threading.local()

    def take(self) -> None:
        """Wait until it is this thread's turn."""
        me, called = threading.current_thread(), threading.Event()
        self._mine.taken = True
        with self._lock:
            if not self._waiting and self._is_free():
                return self._begin(me)
            self._waiting.append((me, called))
        while not called.wait(LONGEST):
            with self._lock:
                if not called.is_set() and self._waiting[0][0] is me and self._is_free():
                    self._waiting.popleft()
                    return self._begin(me)
        return None

    def end(self) -> None:
        """Call the next thread, if it was this one's turn."""
        self._mine.taken = False
        with self._lock:
            if self._whose is threading.current_thread():
                self._begin(None)
                if self._waiting:
                    thread, called = self._waiting.popleft()
                    self._begin(thread)
                    called.set()

    def give_back(self) -> None:
        """Let those go first who wait by now, where this thread's turn has lasted for a `PIECE`."""
        if self._waiting and getattr(self._mine, "taken", False):
            is_mine = self._whose is threading.current_thread()
            if not is_mine or time.monotonic() - self._since > PIECE:
                self.end()
                self.take()

    def someone_waits(self) -> bool:
        """Whether a thread waits for its turn."""
        return bool(self._waiting)

    def share(self) -> float:
        """For how much of the last seconds somebody had a turn."""
        return self._share * math.exp((self._since - time.monotonic()) / LATELY)

    def _begin(self, thread: threading.Thread | None) -> None:
        now = time.monotonic()
        fades = math.exp((self._since - now) / LATELY)
        self._share = self._share * fades + (1 - fades) * (self._whose is not None)
        self._whose, self._since = thread, now

    def _is_free(self) -> bool:
        whose = self._whose
        return not (whose and whose.is_alive() and time.monotonic() - self._since < LONGEST)


_TURNS = Turns()
someone_waits = _TURNS.someone_waits
share = _TURNS.share
gives_turn_back = _TURNS.give_back


def run_in_turns(turns: Turns = _TURNS) -> None:
    """Let every script wait for its turn. Changes nothing where Streamlit's requests are not as
    expected, nor with `runner.fastReruns`: then a run that waits is given up for the next one,
    with all that was pressed.
    """
    with suppress(*NOT_AS_EXPECTED):
        from streamlit.runtime.scriptrunner_utils.script_requests import (
            ScriptRequests,
            ScriptRequestType,
        )

        ready, at_yield = ScriptRequests.on_scriptrunner_ready, ScriptRequests.on_scriptrunner_yield
        again, asked = ScriptRequestType.RERUN, ScriptRequests()
        is_known = hasattr(asked, "_state") and _preempts(asked) is not None
        if not is_known or hasattr(ready, "__wrapped__") or st.get_option("runner.fastReruns"):
            return

        @wraps(ready)
        def ready_in_turn(requests: Any) -> Any:
            turns.end()  # of the run that was before this
            if requests._state is again:
                turns.take()
            asked_for = ready(requests)
            if asked_for.type is not again:
                turns.end()
            return asked_for

        @wraps(at_yield)
        def yield_in_turn(requests: Any) -> Any:
            if requests._state is again and _preempts(requests):
                turns.give_back()  # who starts anew all the time is served like the others
            return at_yield(requests)

        ScriptRequests.on_scriptrunner_ready = ready_in_turn
        ScriptRequests.on_scriptrunner_yield = yield_in_turn


def _preempts(requests: Any) -> bool:
    """Whether what is asked for ends the run that is on, so that this is not its usual message."""
    asked = requests._rerun_data
    return bool(asked.is_fragment_scoped_rerun or not asked.fragment_id_queue)


def page_is_asked_for() -> bool:
    """Whether this run's visitor has asked for a page: else one that repeats is served first."""
    with suppress(*NOT_AS_EXPECTED):
        from streamlit.runtime.scriptrunner import get_script_run_ctx
        from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType

        requests = get_script_run_ctx().script_requests
        is_asked = requests._state is ScriptRequestType.RERUN
        return is_asked and not requests._rerun_data.fragment_id_queue
    return False
