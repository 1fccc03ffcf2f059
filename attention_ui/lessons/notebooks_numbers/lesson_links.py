"""Where a lesson shows a result: its page, and what its settings have to be."""

from dataclasses import dataclass, field
from typing import Any

from attention_core.published import PLACES
from attention_core.published.report import Outcome

from ...settings import session
from ...shell.contents import Lesson, lesson


@dataclass(frozen=True)
class Where:
    """The page on which a trace of `attention_core.published.building` is drawn."""

    page: str
    row: str = "query"
    """The setting that chooses the row that is expanded into steps of its own."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings besides the example's own."""
    beat: str = ""
    """The equation that draws it, where it is not the lesson's own trace."""


WHERE = {
    "tokenize": Where("tokenize_and_embed"),
    "simplified": Where("simplified_attention"),
    "softmax_or_sum": Where("softmax_or_sum"),
    "qkv": Where("queries_keys_values", "token"),
    "qkv_linear": Where("queries_keys_values", "token", {"start": "linear"}),
    "qkv_again": Where("queries_keys_values", "token", beat="again"),
    "qkv_wrong_axis": Where("queries_keys_values", "token", beat="wrong_axis"),
    "token_axis": Where("queries_keys_values", "token", beat="token_axis"),
    "causal": Where("causal_mask"),
    "multi_head": Where("multi_head_attention"),
    "multi_head_wrong_axis": Where("multi_head_attention", beat="compete"),
}
"""By the lesson of a place. That of the decoder is drawn nowhere."""
VARIANCES = Where("divide_by_sqrt_d")
"""Shows the printed variances, which no trace has."""


@dataclass(frozen=True)
class Link:
    """A link to a lesson that shows a result."""

    lesson: Lesson
    query: dict[str, str]
    why_not: str
    """Why it cannot be followed, in words; "" where it can."""


def link_to(notebook: str, outcome: Outcome) -> Link | None:
    """The link to the lesson with a result on its screen; None where no lesson shows it."""
    place = PLACES[notebook].get(outcome.result.id)
    if place is None:
        if not outcome.result.id.startswith("var_"):
            return None
        return Link(lesson(VARIANCES.page), *session.example_query(notebook))
    where = WHERE.get(place.lesson)
    if where is None:
        return None
    at = dict(where.settings)
    if place.query is not None:
        at[where.row] = place.query
    if outcome.cell is not None:
        at |= {"cell": ((place.step, outcome.cell),), "beat": where.beat}
    return Link(lesson(where.page), *session.example_query(place.example_of(notebook), **at))
