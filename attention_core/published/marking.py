"""Which printed results a page shows, checked against the trace that it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .checking import Check, check
from .places import PLACES, Place
from .printed import Result, notebook
from .reading import read

if TYPE_CHECKING:
    from ..trace import Trace


@dataclass(frozen=True)
class Mark:
    """A printed result, where it stands, and how the trace on the screen compares with it."""

    result: Result
    place: Place
    check: Check


def marks(
    notebook_name: str, example_name: str, lesson: str, trace: Trace, query: int | None = None
) -> list[Mark]:
    """The printed results that stand in a lesson's trace, each checked against this trace.

    `query` is the row that the trace has expanded, None for none. Results whose steps the trace
    does not have are left out. Any trace will do: one that another sentence or another seed made
    has marks too, whose checks do not hold. An example without a notebook ("") has none.
    """
    if not notebook_name:
        return []
    results = notebook(notebook_name).results
    return [
        Mark(results[name], place, check(results[name], read(place, trace)))
        for name, place in PLACES[notebook_name].items()
        if place.lesson == lesson
        and place.is_for(notebook_name, example_name)
        and place.query in (None, query)
        and _steps_of(place) <= trace.keys()
    ]


def by_step(found: list[Mark]) -> dict[str, list[Mark]]:
    """Marks by the name of the step they stand at."""
    steps: dict[str, list[Mark]] = {}
    for mark in found:
        steps.setdefault(mark.place.step, []).append(mark)
    return steps


def _steps_of(place: Place) -> set[str]:
    return {place.step} if place.against is None else {place.step, place.against[0]}
