"""What the lesson says of its mask and its numbers, and what its questions ask."""

from torch import Tensor

from attention_core.trace import Trace

from ...cards.common_questions import row_to_share, rows_like, whole_row
from ...cards.row_question import Row
from ...controls.shared import inputs_of, numbered_tokens
from ...frame.ends import closes, named
from ...reactive.control import Values
from ...words import number, word_at

SEEN = 1e-4
"""A row that falls short of 1 by less than this looks like 1."""


def asked_query(trace: Trace) -> int:
    """The query whose row is asked for."""
    return row_to_share(trace["mask"].value, trace.labels("query"))


def shared_row(trace: Trace, values: Values) -> Row | None:
    """The weights of one query, to be shared out among the keys that it may look at."""
    mask, weights = trace["mask"].value, trace["weights"].value
    asked = asked_query(trace)
    return whole_row(
        "Share out the weights of this query among the keys that it may look at. Their masked "
        "scores are in its row of *masked_scores*.",
        trace.labels("key"),
        weights[asked],
        mask[asked],
        asked=f"Query {numbered_tokens(values)[asked]}",
        teaches="A hidden key gets nothing, so the visible keys share the whole 1.",
        at={"query": rows_like(weights, asked)},
    )


def mask_words(values: Values, mask: Tensor) -> str:
    """Which rules make this mask (query, key), and how it is drawn."""
    n_tokens = len(mask)
    back = values.window - 1 if 0 < values.window < n_tokens else None
    near = "token" if back == 1 else f"{back} tokens"
    tokens = inputs_of(values).tokens
    if back == 0:
        words = "The window is one key wide: a query may look at itself alone"
    elif values.causal:
        before = "what came before" if back is None else f"the {near} before it"
        words = f"A text is read from left to right, so a query may look at itself and at {before}"
    elif back is None:
        words = "Without the causal rule a query may look at every key, even those after it"
    else:
        words = (
            "Without the causal rule a query may look both ways: at itself, at the "
            f"{near} before it and the {near} after it"
        )
    if mask.equal(mask.new_ones(mask.shape).tril()):
        words += ": the lower triangle"
    if values.hidden is not None and values.hidden < n_tokens:
        words += f"; but {word_at(tokens, values.hidden, 'key')} is hidden from every query"
    turned = sum(max(cell) < n_tokens for cell in values.turned)
    if turned:
        words += ". 1 cell is" if turned == 1 else f". {turned} cells are"
        words += " flipped by hand"
    faint = "no cell is hidden" if mask.all() else "the purple line goes round what is hidden"
    return f"{words}. ✓ is True, *may look*; {faint}."


def weights_words(mask: Tensor) -> str:
    """What is shared out, and the first query of a mask (query, key) as its simplest case."""
    words = "Each query shares out its weight among the keys it may see. The first query sees "
    keys = mask[0].nonzero().flatten().tolist()
    if not keys:
        return f"{words}no key, so it has nothing to share: its weights are 0."
    if len(keys) > 1:
        return f"{words}{len(keys)} of the {len(mask)} keys."
    return f"{words}one key, {f'key {keys[0]}' if keys[0] else 'itself'}, and gives it everything."


def context_words(mask: Tensor) -> str:
    """What the context vectors under a mask (query, key) can be used for."""
    n_rows, ahead = len(mask), int(mask.triu(1).any(dim=-1).sum())
    if not ahead:
        return (
            "A context vector is now a mean of what came before, its own token included. That is "
            "why one text can train the prediction of every next token at once: no row has seen "
            "its answer."
        )
    see = "sees" if ahead == 1 else "see"
    return (
        f"A context vector is a mean of what its query may see. Here {ahead} of {n_rows} rows "
        f"{see} a later token. Such a mask is of no use for predicting the next token: a row that "
        "looks ahead may have seen its answer."
    )


@closes("Why −∞ before the softmax, and not 0 after it?", "ways", "zeroed_weights")
def why_before(trace: Trace) -> str:
    """With the row that loses most where 0 stands in the place of hidden weights."""
    words = (
        "e to the power of −∞ is exactly 0, so a hidden key has no part in the sum, and the "
        "visible ones share the whole 1. A 0 put in after the softmax comes too late: the hidden "
        "scores are in the sum already"
    )
    sums = trace["zeroed_weights"].value.sum(dim=-1)
    sums = sums.masked_fill(~trace["mask"].value.any(dim=-1), 1.0)
    query = int(sums.argmin())
    if sums[query] > 1 - SEEN:
        return f"{words}."
    left = number(sums[query].item(), 2)
    return f"{words}, and the row of {named(trace, 'query', query)} would sum to {left}."


@closes("May a token look at itself?", "mask")
def at_itself(mask: Tensor) -> str:
    """By the diagonal of a mask (query, key)."""
    n_tokens, n_seen = len(mask), int(mask.diagonal().sum())
    words = "Yes: the causal rule hides only what comes later, and no token is later than itself."
    if n_seen == n_tokens:
        return (
            f"{words} The whole diagonal is True here, {n_seen} of {n_tokens}, so every query has "
            "a key to look at."
        )
    return (
        f"{words} But here {n_seen} of {n_tokens} may: the rest is hidden from every query, or was "
        "flipped by hand. A query left without any key has weights of 0."
    )


@closes("What does a query give when it sees only one key?", "weights")
def at_one_key(trace: Trace) -> str:
    """With the first query that sees one key alone."""
    mask = trace["mask"].value
    words = (
        "Everything: softmax divides e to the power of that one score by itself, which gives 1 "
        "whatever the score is."
    )
    alone = (mask.sum(dim=-1) == 1).nonzero().flatten().tolist()
    if not alone:
        return f"{words} Under this mask, no query sees just one key."
    query = alone[0]
    key = int(mask[query].nonzero())
    found, it = ("itself", "itself") if key == query else (named(trace, "key", key), "it")
    score = number(trace["masked_scores"].value[query, key].item(), 2)
    return (
        f"{words} Here {named(trace, 'query', query)} sees only {found}, with a score of {score}, "
        f"and gives {it} the whole 1."
    )
