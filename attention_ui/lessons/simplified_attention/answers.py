"""What the lesson on simplified attention leaves its reader able to answer."""

from attention_core.trace import Trace

from ...page.closing import Answer, named
from ...page.view import View
from ...words import number, percent

NEAR = 1e-6


def answers(view: View) -> list[Answer]:
    """On the axes, on what a context vector is made of, and on the order of words."""
    trace, query = view.trace, view.settings.query
    return [
        Answer(
            "Which axis is the query, and which one sums to 1?",
            which_axis(trace, query),
            "weights",
            ("weights",),
        ),
        Answer(
            "What is a context vector made of?",
            made_of(view),
            "one_query",
            ("query_weights",),
        ),
        Answer(
            "Would another order of words change a context vector?",
            on_order(view),
            "context",
        ),
    ]


def which_axis(trace: Trace, query: int) -> str:
    """With the sum of one row, and the largest of a column where columns do not sum to 1."""
    weights = trace["weights"].value
    columns = weights.sum(dim=0)
    words = (
        "Each row is a query, each column a key. Rows sum to 1, since a query shares out one "
        f"whole: the row of {named(trace, 'query', query)} sums to "
        f"{number(weights[query].sum().item())}."
    )
    key = int(columns.argmax())
    if columns[key] > 1 + NEAR:
        words += (
            f" Columns need not: that of {named(trace, 'key', key)} sums to "
            f"{number(columns[key].item())}."
        )
    return words


def made_of(view: View) -> str:
    """With the two largest shares of the page's query."""
    trace, query = view.trace, view.settings.query
    shares = trace["query_weights"].value
    if len(shares) == 1:
        return (
            "Of all vectors, in the shares that one row of weights gives them. Here there is only "
            "one token, so its context vector is its own vector."
        )
    top = shares.topk(2)
    (first, second), (best, next_best) = top.indices.tolist(), top.values.tolist()
    words = (
        "Of all vectors, in the shares that one row of weights gives them. That of "
        f"{named(trace, 'query', query)} is {percent(best)} {named(trace, 'key', first)} and "
        f"{percent(next_best)} {named(trace, 'key', second)}."
    )
    if view.settings.similarity == "dot" and best > shares[query] + NEAR:
        words += (
            f" It gives itself less, {percent(shares[query].item())}: the other vector is longer "
            "and points in a similar direction, so their dot product is larger."
        )
    return words


def on_order(view: View) -> str:
    """By what makes a vector: a word alone, its place too, or chance."""
    if view.settings.positions:
        return (
            "Yes, because Positions is on: each place adds a vector of its own, so a word that "
            "moves is compared anew. Turn it off in the lesson “Tokenize and embed”, and order "
            "plays no part."
        )
    if view.settings.vocabulary == "random":
        return (
            "Attention would not notice: move the vectors, and each context vector moves along, "
            "unchanged. But here ids are drawn at random for each place, so a word that moves gets "
            "another vector."
        )
    words = "No. Attention is given vectors, and nothing in them says where a word stands: "
    words += "each context vector moves along with its word. "
    if pair := equal_vectors(view.trace):
        first, second = pair
        words += (
            f"So {named(view.trace, 'token', first)} and token {second}, whose vectors are equal, "
            "have equal contexts. "
        )
    return words + "The switch Positions, in “Tokenize and embed”, changes that."


def equal_vectors(trace: Trace) -> tuple[int, int] | None:
    """The first two tokens with one and the same vector, if there are two."""
    seen: dict[tuple[float, ...], int] = {}
    for place, vector in enumerate(trace["embeddings"].value.tolist()):
        first = seen.setdefault(tuple(vector), place)
        if first != place:
            return first, place
    return None
