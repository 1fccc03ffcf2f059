"""Where a lesson shows a result: its page, and what has to be chosen there."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from attention_core.published import RECIPES
from attention_core.published.report import Outcome
from attention_core.told import told

from ...controls.shared import CELL
from ...frame.contents import Lesson, lesson
from ...frame.rooms import example_query

_TOLD = told(__package__, "lesson_links.toml")
VARIANCES = "divide_by_sqrt_d"
"""Shows the printed variances, which no trace has."""


class Link(NamedTuple):
    """A link to a lesson that shows a result."""

    lesson: Lesson
    query: dict[str, str]
    why_not: str
    """Why it cannot be followed, in words; "" where it can."""


def links_to(notebook: str, outcomes: Sequence[Outcome]) -> list[Link | None]:
    """Links to lessons with a notebook's results, or None; one state is worked out once."""

    @cache
    def state(page: str, example: str, at: tuple[tuple[str, str], ...]) -> Link:
        return Link(lesson(page), *example_query(page, example, **dict(at)))

    return [_link(notebook, outcome, state) for outcome in outcomes]


def _link(notebook: str, outcome: Outcome, state: Callable[..., Link]) -> Link | None:
    recipe = RECIPES[notebook].get(outcome.result.id)
    if recipe is None or not recipe.places:
        return state(VARIANCES, notebook, ()) if outcome.result.id.startswith("var_") else None
    place = recipe.place
    where = _TOLD["where"].get(place.lesson)
    if where is None:
        return None
    at = dict(where.get("at", {}))
    if place.query is not None:
        at[where.get("row", "query")] = str(place.query)
    link = state(where["page"], place.example, (*at.items(),))
    if outcome.cell is None or link.why_not:
        return link
    step, *index = _TOLD["instead"].get(place.step, (place.step, *outcome.cell))
    index = tuple(place.query if entry == -1 else entry for entry in index)
    query = link.query | {"cell": CELL.field.write(((step, index),))}
    drawn_in = where.get("section") or _TOLD["deeper"].get(step)
    return link._replace(query=query | ({"section": drawn_in} if drawn_in else {}))
