"""The trace of each lesson, from an example's own inputs."""

from collections.abc import Callable

from ..embedding import embed
from ..examples import Example
from ..simplified import SimplifiedOptions, attend, expand_query
from ..trace import Trace


def _tokenize(example: Example, _: int | None) -> Trace:
    return embed(example.inputs)


def _simplified(example: Example, query: int | None, normalise: str = "softmax") -> Trace:
    options = SimplifiedOptions(divide=example.divide, normalise=normalise)
    trace = attend(embed(example.inputs), options)
    return trace if query is None else expand_query(trace, query)


def _simplified_by_sum(example: Example, query: int | None) -> Trace:
    return _simplified(example, query, normalise="sum")


BUILDERS: dict[str, Callable[[Example, int | None], Trace]] = {
    "tokenize": _tokenize,
    "simplified": _simplified,
    "simplified_by_sum": _simplified_by_sum,
}
"""By lesson: an example, and the row to expand or None, to the trace the lesson shows."""
