"""Work that may take seconds: started by a button, with its progress, and a way to stop it.

A click on Stop interrupts the script at the next thing it draws. What was found until then is in
the session and is shown.
"""

import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass

import streamlit as st

BETWEEN_UPDATES = 0.1
"""Seconds; the browser could not draw more often."""


@dataclass
class Run:
    """Work as far as it has come. `about` says what it was for; other settings, another run."""

    about: Hashable
    going: bool
    share: float = 0.0
    found: object = None

    @property
    def is_complete(self) -> bool:
        return self.share >= 1


def long_run(
    name: str,
    about: Hashable,
    work: Callable[[], Iterator[tuple[float, object]]],
    quick: bool,
    cost: str,
) -> Run:
    """Do the work, or offer to, and give what is found so far; `found` is None before that.

    `work()` yields how much is done, from 0 to 1, and the result so far. `quick` work is done at
    once. `cost` says in words how much work it is. Call it in a fragment.
    """
    key = f"run_{name}"
    run: Run | None = st.session_state.get(key)
    if run is None or run.about != about:
        run = st.session_state[key] = Run(about, going=quick)
    if run.is_complete:
        return run
    if quick:
        for run.share, run.found in work():
            pass
        return run
    place = st.empty()
    if not run.going:
        with place.container(horizontal=True, vertical_alignment="center", key=f"offer_{name}"):
            _offer(run, name, cost)
        return run
    with place.container(key=f"going_{name}"):
        bar = st.progress(0.0, text=f"{cost}: 0 %")
        st.button(
            "Stop", key=f"stop_{name}", icon=":material/stop:", on_click=_set, args=(run, False)
        )
    shown = time.monotonic()
    for run.share, run.found in work():
        if time.monotonic() - shown > BETWEEN_UPDATES:
            bar.progress(run.share, text=f"{cost}: {run.share:.0%}")
            shown = time.monotonic()
    run.going = False
    place.empty()
    return run


def _offer(run: Run, name: str, cost: str) -> None:
    stopped = run.found is not None
    st.button(
        "Start again" if stopped else "Measure",
        key=f"start_{name}",
        type="secondary" if stopped else "primary",
        icon=":material/play_arrow:",
        on_click=_set,
        args=(run, True),
    )
    said = f"Stopped at {run.share:.0%}: what was found until then is shown." if stopped else cost
    st.markdown(said, width="content")


def _set(run: Run, going: bool) -> None:
    run.going = going
