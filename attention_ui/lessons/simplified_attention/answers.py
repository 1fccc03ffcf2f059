"""What the lesson on simplified attention leaves its reader able to answer."""

from attention_core.trace import Trace

from ...page.closing import Answer, named
from ...page.view import View
from ...words import number, percent

NEAR = 1e-6


def answers(view: View) -> list[Answer]:
    """On the axes, on what a context vector is made of, and on the order of words."""
    return [
        Answer(
            "Which axis is the query, and which one sums to 1?",
            which_axis(view),
            "weights",
            ("query_weights",),
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


def which_axis(view: View) -> str:
    """With the sum of the query's row, and of its column unless a question covers other rows."""
    trace, query = view.trace, view.settings.query
    row = number(trace["query_weights"].value.sum().item(), 2)
    words = (
        "Each row is a query, each column a key, and a row sums to 1: a query shares out one whole "
        f"among the keys. The row of {named(trace, 'query', query)} sums to {row}; "
    )
    column = number(trace["weights"].value[:, query].sum().item(), 2)
    if view.covers_of(["weights"]) or column == row:
        return f"{words}columns need not."
    return f"{words}its column, what it gets from all queries together, to {column}."


def made_of(view: View) -> str:
    """With the two largest shares of the page's query."""
    trace, query = view.trace, view.settings.query
    shares = trace["query_weights"].value
    words = "All vectors, blended by one row of weights."
    if len(shares) == 1:
        return f"{words} With a single token there is nothing to blend: it is that token's vector."
    top = shares.topk(2)
    (first, second), (best, next_best) = top.indices.tolist(), top.values.tolist()
    of_first = f"{percent(best)} {named(trace, 'key', first)}"
    of_second = f"{percent(next_best)} {named(trace, 'key', second)}"
    words += f" The context vector of {named(trace, 'query', query)} is {of_first}"
    if len(shares) == 2:
        words += f" and {of_second}."
    else:
        rest = percent(max(0.0, 1 - best - next_best))
        words += f", {of_second}, and {rest} all others together."
    if view.settings.similarity == "dot" and best > shares[query] + NEAR:
        words += (
            f" It gives itself only {percent(shares[query].item())}: key {first} has a longer "
            "vector that points a similar way, so their dot product is larger."
        )
    return words


def on_order(view: View) -> str:
    """By what makes a vector: a word alone, its place too, or chance."""
    if view.settings.positions:
        return (
            "Yes, because Positions is on: each place adds a vector of its own, so a word that "
            "moves has another vector. Turn it off below “Context vectors”, and order plays no "
            "part."
        )
    if view.settings.vocabulary == "random":
        return (
            "Attention would not notice: move the vectors, and each context vector moves along, "
            "unchanged. But here ids are drawn at random for each place, so a word that moves gets "
            "another vector."
        )
    words = (
        "No. Attention is given vectors, and nothing in them says where a word stands: each "
        "context vector moves along with its word, unchanged. "
    )
    if pair := equal_vectors(view.trace):
        first, second = pair
        words += (
            f"{named(view.trace, 'token', first)} and token {second} have equal vectors, and so "
            "equal context vectors. "
        )
    return words + "The switch Positions, below “Context vectors”, changes that."


def equal_vectors(trace: Trace) -> tuple[int, int] | None:
    """The first two tokens with one and the same vector, if there are two."""
    seen: dict[tuple[float, ...], int] = {}
    for place, vector in enumerate(trace["embeddings"].value.tolist()):
        first = seen.setdefault(tuple(vector), place)
        if first != place:
            return first, place
    return None
