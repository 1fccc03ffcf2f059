"""The picture on the home page: a sentence, its embeddings, one context vector, in real numbers."""

from attention_core.embedding import embed
from attention_core.simplified import SimplifiedOptions, attend, expand_query

from .beats import equation
from .charts.matrix import Matrix
from .look import choose_query
from .settings import Settings
from .show import cell_notice
from .view import View


def journey(settings: Settings) -> None:
    """Tokens with their vectors, one row of weights, and the context vector it makes."""
    choose_query(settings)
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
        Matrix(trace["weighted_embeddings"], row_labels=False),
        "Σ",
        Matrix(trace["running_context"], row_labels=False),
    )
