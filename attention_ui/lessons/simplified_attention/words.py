"""What the lesson says of its numbers, and what its questions ask."""

import math

from attention_core.largest_effect import other_telling_query
from attention_core.trace import Trace

from ...cards.common_questions import rows_like, which_key
from ...cards.questions import Pick
from ...controls.shared import inputs_of, numbered_tokens, telling_query
from ...frame.ends import closes, named
from ...reactive.control import Values
from ...words import number, percent, repeated

NEAR = 1e-6


def looks_at(trace: Trace, values: Values) -> Pick:
    """Which token a query looks at most: another one than the page shows key by key at first."""
    weights = trace["weights"].value
    asked = other_telling_query(weights, telling_query(values))
    return which_key(
        "Which token will this query look at most? Its scores are in its row of *scores*.",
        trace.labels("key"),
        weights[asked],
        asked=f"Query {numbered_tokens(values)[asked]}",
        teaches="The largest score gets the largest weight, and a score that is larger by 1 "
        f"gets e = {math.e:.2f} times the weight.",
        at={"query": rows_like(weights, asked)},
    )


def blanks_words(trace: Trace, values: Values) -> str:
    """How much weight goes to blank tokens; '' where there are none."""
    tokens = inputs_of(values).tokens
    blanks = [place for place, token in enumerate(tokens) if token.isspace()]
    if not blanks:
        return ""
    share = trace["weights"].value[values.query, blanks].sum().item()
    return (
        f"{len(blanks)} of {len(tokens)} tokens {'are' if blanks[1:] else 'is'} blank. Your query "
        f"spends {percent(share)} of its weight there. Drop blanks with the switch in the sidebar."
    )


@closes("Which axis is the query, and which one sums to 1?", "weights", "query_weights")
def which_axis(trace: Trace, values: Values, is_covered: bool) -> str:
    """With the sum of the query's row, and of its column unless a question covers other rows."""
    query = values.query
    row = number(trace["query_weights"].value.sum().item(), 2)
    words = (
        "Each row is a query, each column a key, and a row sums to 1: a query shares out all of "
        f"its attention among the keys. The row of {named(trace, 'query', query)} sums to {row}; "
    )
    column = number(trace["weights"].value[:, query].sum().item(), 2)
    if is_covered or column == row:
        return f"{words}columns need not."
    return f"{words}its column, what it gets from all queries together, to {column}."


@closes("What is a context vector made of?", "one_query", "query_weights")
def made_of(trace: Trace, values: Values) -> str:
    """With the two largest shares of the page's query."""
    query = values.query
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
    if values.similarity == "dot" and best > shares[query] + NEAR:
        words += (
            f" It gives itself only {percent(shares[query].item())}: key {first} has a longer "
            "vector that points a similar way, so their dot product is larger."
        )
    return words


@closes("Would another order of words change a context vector?", "context")
def on_order(trace: Trace, values: Values) -> str:
    """By what makes a vector: a word alone, the words before it, its place too, or chance."""
    if "layer_0_stream" in trace:
        return (
            "Yes, in this example: the network's first layer has already added to each vector what "
            "it found in the words before it, so a word that moves has another vector. Attention "
            "itself does not notice: move the vectors, and each context vector moves along."
        )
    if values.positions:
        return (
            "Yes, because Positions is on: each place adds a vector of its own, so a word that "
            "moves has another vector. Turn it off at “Context vectors”, and order plays no part."
        )
    if values.vocabulary == "random":
        return (
            "Attention would not notice: move the vectors, and each context vector moves along, "
            "unchanged. But here ids are drawn at random for each place, so a word that moves gets "
            "another vector."
        )
    words = (
        "No. Attention is given vectors, and nothing in them says where a word stands: each "
        "context vector moves along with its word, unchanged. "
    )
    if pair := repeated(inputs_of(values).tokens):
        words += (
            f"{named(trace, 'token', pair[0])} and token {pair[1]} have equal vectors, and so "
            "equal context vectors. "
        )
    return words + "The switch Positions, at “Context vectors”, changes that."
