"""Lessons finished, and when their questions come again: kept by the browser alone."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from ..controls.lesson_session import this_session
from ..reactive.widget import sent
from ..streamlit_workarounds.unseen_component import unseen
from .contents import LESSONS

DAYS = (1, 3, 7, 16, 35)
"""After how many days the questions of a lesson come again, by the box it lies in. A right answer
moves it to the next box, a wrong one back to the first: S. Leitner's boxes (*So lernt man lernen*,
1972). The days are those that P. Wozniak found for cards of paper in 1985 (1, 7, 16, 35), with 3
before the second.
"""
LAST_DAY = 100_000
"""Since 1970: the year 2243."""
Kept = dict[str, tuple[int, int]]
"""The box of each lesson, and the day when it comes again."""
_browser = unseen("coming_back", Path(__file__).with_suffix(".js").read_text(encoding="utf-8"))


@dataclass
class ComingBack:
    """What the browser has told in this visit, and what it has yet to keep."""

    text: str = ""
    day: int = 0
    changes: list[dict[str, tuple[int, int] | None]] = field(default_factory=list)
    visit: str = field(default_factory=lambda: uuid4().hex)
    """Whose changes they are: the browser makes each once."""

    @property
    def due(self) -> Kept:
        """The lessons whose questions come again today, those that wait longest first."""
        due = {name: at for name, at in understood(self.text).items() if at[1] <= self.day}
        return dict(sorted(due.items(), key=lambda each: each[1][1]))

    def keep(self, changes: Mapping[str, int | None]) -> None:
        """Let the browser put lessons into these boxes, from today on; None takes one out."""
        self.changes.append(
            {name: None if box is None else (box, DAYS[box]) for name, box in changes.items()}
        )


def understood(text: object) -> Kept:
    """What a browser has kept; nothing of what is no lesson, no box or no day, whoever wrote it."""
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        found = None
    kept = {}
    for name in [each.name for each in LESSONS] if isinstance(found, dict) else ():
        match found.get(name):
            case [box, day] if type(box) is type(day) is int:
                if box in range(len(DAYS)) and 0 < day < LAST_DAY:
                    kept[name] = (box, day)
    return kept


def put_browser(asks: bool = False) -> None:
    """At the end of a part: the browser keeps what has changed, and tells it if it `asks`."""
    here = this_session().own(ComingBack)
    if asks or here.changes:
        told = {"asks": asks, "text": here.text, "day": here.day}
        given = {"visit": here.visit, "changes": here.changes}
        _browser(key="coming_back", data={**told, **given}, on_kept_change=_heard, height=1)


def _heard() -> None:
    here = this_session().own(ComingBack)
    match sent("coming_back", {}).get("kept"):
        case {"text": str(text), "day": int(day)} if len(text) <= 4_000 and 0 < day < LAST_DAY:
            here.text, here.day = text, day
