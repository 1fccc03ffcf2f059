"""The browser says what is visible and under the hand, and asks for what waits.

    watch_visibility()  # at the end of a page

What else it says of its window, and what is to be asked of whoever goes on, is the session's
(`Session.hears`, `asking`, `stands_open`, `goes_past`).
"""

from pathlib import Path
from typing import Any

import streamlit as st

from ..streamlit_workarounds import run_queue
from ..streamlit_workarounds.unseen_component import unseen
from .fragments import WATCHER, event, fragment, page_fragments, rerun
from .session import this_session
from .source import source, untracked

AT_REST, AFTER_A_MOVE = 1_200, 8_000
"""Milliseconds before what waits is asked for: at rest; and after a move, with many at once."""
MANY = 0.2
"""So much of the time somebody has a turn then."""
_watch = unseen("near", Path(__file__).with_suffix(".js").read_text(encoding="utf-8"))


def watch_visibility() -> None:
    """At the end of a page: the fragment that talks with the browser."""
    fragment(WATCHER, _draw)


@source()
def to_tell(_: str) -> dict[str, Any]:
    """What the browser is to know: told again where it has changed."""
    here, session = page_fragments(), this_session()
    with untracked():
        waiting, asking = here.waiting(), session.asking()
        stands_open = session.stands_open()
    return {
        "page": session.page,
        "parts": [name for name, one in here.drawn.items() if one.waits],
        "waiting": waiting,
        "hands": sorted(here.hovered or ()),
        "rest": _rest(here.is_at_rest) if waiting else 0,
        "asking": asking,
        "open": stands_open,
    }


def _draw() -> None:
    _watch(
        key="near",
        data=to_tell(),
        on_near_change=_became_visible,
        on_hand_change=_hovered,
        on_rest_change=_at_rest,
        on_past_change=_went_past,
        height=1,
    )


def _rest(is_at_rest: bool) -> int:
    return AT_REST if is_at_rest or run_queue.share() < MANY else AFTER_A_MOVE


def _said(what: str) -> str | None:
    """What the browser says; None where it tells of a page that it has just left."""
    said = st.session_state.get("near", {}).get(what)
    return said if isinstance(said, str) else None


def _became_visible() -> None:
    if (said := _said("near")) is not None:
        page_fragments().visible = frozenset(said.split(","))
        this_session().hears(page_fragments().visible)
    rerun([], of=WATCHER)


def _hovered() -> None:
    if (said := _said("hand")) is not None:
        page_fragments().hovered = frozenset(said.split(","))
    rerun([], of=WATCHER)


def _went_past() -> None:
    """Somebody has gone on from what is asked in these fragments without an answer."""
    if (said := _said("past")) is not None:
        with event(fragment=WATCHER):
            this_session().goes_past(said.split(","))


def _at_rest() -> None:
    """Run what waits: the fragments that become visible; or one, where nothing has come for a
    while, unless somebody waits for a turn.
    """
    waiting, said = page_fragments().waiting(), (_said("rest") or "").split(",")
    if coming := [each for each in waiting if each in said]:
        rerun(coming)
    else:
        one = [] if run_queue.someone_waits() else waiting[:1]
        rerun(one, is_at_rest=True, of=WATCHER)
