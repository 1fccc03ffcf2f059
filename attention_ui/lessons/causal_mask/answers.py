"""What the lesson on the causal mask leaves its reader able to answer."""

from torch import Tensor

from attention_core.trace import Trace

from ...page.closing import Answer, named
from ...page.view import View
from ...words import number

SEEN = 1e-4
"""A row that falls short of 1 by less than this looks like 1."""


def answers(view: View) -> list[Answer]:
    """On hiding before and after softmax, on looking at oneself, and on a single visible key."""
    trace = view.trace
    return [
        Answer(
            "Why −∞ before the softmax, and not 0 after it?",
            why_before(trace),
            "ways",
            ("zeroed_weights",),
        ),
        Answer("May a token look at itself?", at_itself(trace["mask"].value), "mask"),
        Answer(
            "What does a query give when it sees only one key?",
            at_one_key(trace),
            "weights",
        ),
    ]


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
