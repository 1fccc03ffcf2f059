"""Where a lesson shows a result: its page, and what has to be chosen there."""

from dataclasses import dataclass, field, replace

from attention_core.published import RECIPES
from attention_core.published.report import Outcome

from ...controls.shared import CELL
from ...frame.contents import Lesson, lesson
from ...frame.rooms import example_query


@dataclass(frozen=True)
class Where:
    """The page on which a trace of `attention_core.published.building` is drawn."""

    page: str
    row: str = "query"
    """The control that chooses the row that is expanded into steps of its own."""
    at: dict[str, str] = field(default_factory=dict)
    """Values besides the example's own, as a link says them."""
    section: str = ""
    """The equation that draws it, where it is not the lesson's own trace."""


WHERE = {
    "tokenize": Where("tokenize_and_embed"),
    "simplified": Where("simplified_attention"),
    "softmax_or_sum": Where("softmax_or_sum", "row_query"),
    "qkv": Where("queries_keys_values", "token"),
    "qkv_linear": Where("queries_keys_values", "token", {"start": "linear"}),
    "qkv_again": Where("queries_keys_values", "token", section="again"),
    "qkv_wrong_axis": Where("queries_keys_values", "token", section="wrong_axis"),
    "token_axis": Where("queries_keys_values", "token", section="token_axis"),
    "causal": Where("causal_mask"),
    "multi_head": Where("multi_head_attention"),
    "multi_head_wrong_axis": Where("multi_head_attention", section="compete"),
}
"""By the lesson of a place. That of the decoder is drawn nowhere."""
ROW = -1
INSTEAD = {
    "scores_by_loop": ("scores", (0, 0)),
    "one_key": ("keys", (ROW, 0)),
    "one_value": ("values", (ROW, 0)),
    "key_layer": ("W_key", (0, 0)),
    "linear_context_vectors": ("context_vectors", (0, 0)),
    **dict.fromkeys(
        (
            *("one_head_query", "one_head_key", "one_head_value", "repeated_embeddings"),
            *("batched_queries", "batched_keys", "batched_values"),
            *("permuted_keys", "permuted_values"),
        ),
        ("permuted_queries", (0, 0, 0)),
    ),
}
"""By a step that no equation draws at first sight, the cell that is opened in its place: of the
same numbers in another step, in the `ROW` that the result is about, or of the way they are made.
"""
DEEPER = {"query_context": "one_context", "permuted_queries": "ways"}
"""By a step that is drawn below *Go deeper* alone, its card there: the link opens it."""
VARIANCES = Where("divide_by_sqrt_d")
"""Shows the printed variances, which no trace has."""


@dataclass(frozen=True)
class Link:
    """A link to a lesson that shows a result."""

    lesson: Lesson
    query: dict[str, str]
    why_not: str
    """Why it cannot be followed, in words; "" where it can."""


class Links:
    """Links to the lessons that show the results of a notebook. Those into one state of a lesson
    differ in the cell that they open alone: the rest of them is worked out once.
    """

    def __init__(self, notebook: str) -> None:
        self._notebook = notebook
        self._states: dict[tuple, tuple[dict[str, str], str]] = {}

    def to(self, outcome: Outcome) -> Link | None:
        """The link to the lesson with a result on its screen; None where no lesson shows it."""
        recipe = RECIPES[self._notebook].get(outcome.result.id)
        if recipe is None or not recipe.places:
            is_shown = outcome.result.id.startswith("var_")
            return self._link(VARIANCES.page, self._notebook, {}) if is_shown else None
        place = recipe.place
        where = WHERE.get(place.lesson)
        if where is None:
            return None
        row = {} if place.query is None else {where.row: str(place.query)}
        link = self._link(where.page, place.example, where.at | row)
        if outcome.cell is None or link.why_not:
            return link
        step, index = INSTEAD.get(place.step, (place.step, outcome.cell))
        index = tuple(place.query if at == ROW else at for at in index)
        opened = CELL.field.write(((step, index),))
        drawn_in = where.section or DEEPER.get(step)
        section = {"section": drawn_in} if drawn_in else {}
        return replace(link, query=link.query | {"cell": opened} | section)

    def _link(self, page: str, example: str, at: dict[str, str]) -> Link:
        state = (page, example, *at.items())
        if state not in self._states:
            self._states[state] = example_query(page, example, **at)
        return Link(lesson(page), *self._states[state])
