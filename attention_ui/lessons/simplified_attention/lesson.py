"""Simplified attention: its controls, and its trace as a function of their values."""

from functools import lru_cache

from attention_core.largest_effect import moving_vector
from attention_core.mechanism.simplified import SimplifiedOptions, attend, expand_query
from attention_core.text.embedding import embed
from attention_core.text.inputs import Inputs
from attention_core.trace import Trace

from ...controls import shared
from ...reactive.control import Values


@lru_cache(maxsize=64)
def _moves_most(inputs: Inputs) -> int:
    """The vector that moves most when it is stretched."""
    return moving_vector(attend(embed(inputs))["scores"].value) if inputs.tokens else 0


STRETCH = shared.place_of_token(
    "stretch",
    "Stretch the vector of",
    lambda values: _moves_most(shared.inputs_of(shared.as_drawn(values))),
)
MAKES_SCORES = (*shared.MAKES_VECTORS, shared.SIMILARITY, shared.DIVIDE, STRETCH)
CONTROLS = (*MAKES_SCORES, shared.FACTOR, shared.QUERY, shared.SHOWN_TERMS)
CONTROLS += (shared.ACROSS, shared.UP)


def trace_of(values: Values) -> Trace:
    """The lesson's trace: all scores and weights, and one query term by term."""
    return expand_query(attend(embed(shared.inputs_of(values)), _options(values)), values.query)


def _options(values: Values) -> SimplifiedOptions:
    return SimplifiedOptions(
        similarity=values.similarity,
        divide=values.divide,
        stretched=values.stretch,
        factor=values.factor,
    )


def with_factor(embedded: Trace, values: Values, factor: float) -> Trace:
    """The scores and weights for another stretch of the same embeddings."""
    return attend(embedded.branch(), _options(values.but(factor=factor)))
