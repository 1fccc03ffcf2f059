"""Which printed results a page shows, checked against the trace that it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .checking import Check, check
from .printed import Result, notebook
from .recipe import RECIPES, Place

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
        Mark(results[name], recipe.place, check(results[name], recipe.read(lambda _: trace)))
        for name, recipe in RECIPES[notebook_name].items()
        if recipe.example == example_name
        and recipe.places
        and all(
            place.lesson == lesson and place.query in (None, query) and place.step in trace
            for place in recipe.places
        )
    ]
