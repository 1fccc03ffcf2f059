"""What the lesson on cross-attention leaves its reader able to answer."""

from attention_core.trace import Trace

from ...page.closing import Answer, named
from ...page.view import View
from ...words import number, percent

ALIKE = 1e-6


def answers(view: View) -> list[Answer]:
    """On the roles of the two sentences, on shapes, and on where a context vector comes from."""
    trace = view.trace
    query = min(view.settings.first_query, trace.size("query") - 1)
    return [
        Answer("Which sentence asks, and which one answers?", who_asks(trace, query), "looking"),
        Answer(
            "Why may the two sentences differ in length?",
            why_any_length(trace),
            "changes",
            ("context_vectors",),
        ),
        Answer("What is in a context vector now?", what_is_mixed(trace, query), "context"),
    ]


def who_asks(trace: Trace, query: int) -> str:
    """With the key that gets most from one query."""
    weights = trace["weights"].value[query]
    words = (
        "Queries are made of the sentence that is being written, keys and values of the source, "
        f"which is looked at. {named(trace, 'query', query)}"
    )
    share = percent(weights.max().item())
    if len(weights) > 1 and weights.max() - weights.min() < ALIKE:
        return f"{words} looks at all {len(weights)} tokens of the source alike, {share} each."
    return f"{words} looks most at {named(trace, 'key', int(weights.argmax()))}: {share}."


def why_any_length(trace: Trace) -> str:
    """With the shapes of the weights and of what comes out."""
    n_queries, n_keys = trace["weights"].value.shape
    width = trace["context_vectors"].value.shape[-1]
    return (
        "There is a score for each pair of one token here and one there, however many there are. "
        f"{n_queries} queries and {n_keys} keys make weights of {n_queries} × {n_keys}; each row "
        f"mixes the {n_keys} values into one vector, so {n_queries} context vectors come out, "
        f"each {width} wide. Only a query and a key must be equally wide."
    )


def what_is_mixed(trace: Trace, query: int) -> str:
    """With the sum of one query's weights."""
    row = number(trace["weights"].value[query].sum().item(), 2)
    return (
        f"Values of the source alone. The weights of {named(trace, 'query', query)} sum to {row}, "
        "all of it on the source; its own vector decides only where it looks. A layer that is to "
        "keep what the word was adds it to the result (the residual connection)."
    )
