"""The trace of each lesson, from an example's own inputs."""

from collections.abc import Callable

from ..embedding import embed
from ..examples import Example
from ..simplified import SimplifiedOptions, attend, expand_query
from ..softmax import compare_row, normalise_row
from ..trace import Trace


def _tokenize(example: Example, _: int | None) -> Trace:
    return embed(example.inputs)


def _simplified(example: Example, query: int | None) -> Trace:
    trace = attend(embed(example.inputs), SimplifiedOptions(divide=example.divide))
    return trace if query is None else expand_query(trace, query)


def _softmax_or_sum(example: Example, query: int | None) -> Trace:
    trace = embed(example.inputs)
    if query is None:
        return trace
    return normalise_row(compare_row(trace, query, SimplifiedOptions(divide=example.divide)))


BUILDERS: dict[str, Callable[[Example, int | None], Trace]] = {
    "tokenize": _tokenize,
    "simplified": _simplified,
    "softmax_or_sum": _softmax_or_sum,
}
"""By lesson: an example, and the row to expand or None, to the trace the lesson shows."""
