"""What open questions cover now, as all rooms read it; `cards/covers.py` works out what that is."""

from typing import Any

from ..reactive.source import source
from .lesson_session import this_session

EVERY = "*"
"""In the place of a step: all that is covered."""


@source()
def covered_how(step: str) -> Any:
    """How a question covers a step, a `Cover`, or None; of `EVERY` one all that is covered."""
    page = this_session().declared
    if step == EVERY:
        return tuple(sorted(page.covers().items())) if page else ()
    return page.covers().get(step) if page else None
