"""The picture on the home page: a sentence, its embeddings, one context vector, in real numbers."""

from attention_core.mechanism.simplified import SimplifiedOptions, attend, expand_query
from attention_core.text.embedding import embed

from ...page.equation import equation
from ...page.show import cell_notice
from ...page.view import View
from ...picture.matrix import Matrix
from ...settings.control import control
from ...settings.settings import Settings


def journey(settings: Settings) -> None:
    """Tokens with their vectors, one row of weights, and the context vector it makes."""
    control("query", width=240)
    trace = attend(embed(settings.inputs), SimplifiedOptions(divide=settings.divide))
    expand_query(trace, settings.query)
    view = View("home", settings, trace)
    cell_notice(view)
    equation(
        view,
        "journey",
        Matrix(trace["embeddings"]),
        "⊙",
        Matrix(trace["query_weights"], row_labels=False),
        "=",
        Matrix(trace["weighted_embeddings"]),
        "Σ",
        Matrix(trace["running_context"]),
    )
