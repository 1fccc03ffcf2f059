"""The browser says what is near the visitor's eyes and hands, and asks for what waits."""

from pathlib import Path
from typing import Any

from ..controls import parts
from ..controls.visit_state import this_visit
from ..controls.widget import sent
from ..streamlit_workarounds import turns
from ..streamlit_workarounds.unseen_component import unseen

AT_REST, AFTER_A_MOVE = 1_200, 8_000
"""Milliseconds before what waits is asked for: at rest; and after a move, with many at once."""
MANY = 0.2
"""So much of the time somebody has a turn then."""
_watch = unseen("near", Path(__file__).with_name("near.js").read_text(encoding="utf-8"))


def watcher() -> None:
    """At the end of a page: the part that talks with the browser."""
    parts.part(parts.WATCHER, _draw)


@parts.source("watch")
def _to_tell(_: str) -> dict[str, Any]:
    """What the browser is to know: told again where it has changed."""
    here = parts.of_page()
    page = this_visit().declared
    with parts.unnoted():
        waiting = here.waiting()
        asking = [*page.waits_for_guess()] if page else []
        stands_open = page.stands_open() if page else []
    return {
        "page": this_visit().page,
        "parts": [name for name, one in here.drawn.items() if one.waits],
        "waiting": waiting,
        "hands": sorted(here.hands or ()),
        "rest": _rest(here.is_at_rest) if waiting else 0,
        "asking": asking,
        "open": stands_open,
    }


def _draw() -> None:
    _watch(
        key="near",
        data=parts.read("watch"),
        on_near_change=_came_near,
        on_hand_change=_hand_came,
        on_rest_change=_at_rest,
        on_past_change=_went_on,
        height=1,
    )


def _rest(is_at_rest: bool) -> int:
    return AT_REST if is_at_rest or turns.share() < MANY else AFTER_A_MOVE


def _said(what: str) -> str | None:
    """What the browser says; None where it tells of a page that it has just left."""
    said = sent("near", {}).get(what)
    return said if isinstance(said, str) else None


def _came_near() -> None:
    if (said := _said("near")) is not None:
        near = frozenset(said.split(","))
        parts.of_page().near = near
        this_visit().window = near & {"phone"}
        tables = (each.removeprefix("tables_") for each in near if each.startswith("tables_"))
        this_visit().misread = int(next(tables, "0"))
    parts.run_parts([], of=parts.WATCHER)


def _hand_came() -> None:
    if (said := _said("hand")) is not None:
        parts.of_page().hands = frozenset(said.split(","))
    parts.run_parts([], of=parts.WATCHER)


def _went_on() -> None:
    """Somebody has gone on from the questions of these parts without an answer."""
    if (said := _said("past")) is not None and this_visit().declared:
        this_visit().declared.went_on(said.split(","))
        parts.run_what_reads(of=parts.WATCHER)


def _at_rest() -> None:
    """Run what waits: the parts that come near; or one, where nothing has come for a while, unless
    somebody waits for a turn.
    """
    waiting, said = parts.of_page().waiting(), (_said("rest") or "").split(",")
    if coming := [each for each in waiting if each in said]:
        parts.run_parts(coming)
    else:
        one = [] if turns.someone_waits() else waiting[:1]
        parts.run_parts(one, is_at_rest=True, of=parts.WATCHER)
