"""What the lesson on softmax leaves its reader able to answer."""

import math

from torch import Tensor

from attention_core.trace import Trace

from ...page.closing import Answer, named
from ...page.view import View
from ...words import number, true_minus
from .score_row import is_hidden

MILLION = 1_000_000
EQUAL = 1e-6
"""Scores that are no farther apart count as equal."""


def answers(view: View) -> list[Answer]:
    """On the exponential, on adding a constant, and on what a difference of 1 does."""
    trace = view.trace
    hopeless = is_hidden(trace["score_row"].value)
    return [
        Answer(
            "Why e to the power of a score, and not the plain sum, or absolute values?",
            "It is never below 0, and a larger score always gets a larger weight. "
            f"{why_not_the_sum(trace)} {why_not_the_size(trace['score_row'].value)}",
            "divide",
            ("sum_weights",),
        ),
        Answer(
            "What would change if you added 1,000 to every score?",
            on_adding(trace),
            "softmax" if hopeless else "constant",
        ),
        Answer(
            "How much more weight does a score get that is larger by 1?",
            on_a_lead(trace),
            "softmax",
            ("exponentials", "softmax_weights"),
        ),
    ]


def why_not_the_sum(trace: Trace) -> str:
    """What dividing this row by its plain sum comes to."""
    scores, weights = trace["score_row"].value, trace["sum_weights"].value
    total = scores.sum().item()
    if not scores.isfinite().all():
        return "A hidden score makes the plain sum −∞, and dividing by that gives no weights."
    if not weights.isfinite().all():
        return f"The plain sum is {true_minus(f'{total:.2g}')} here, and cannot be divided by."
    least = int(weights.argmin())
    if weights[least] < 0:
        return (
            f"Divided by the plain sum, {named(trace, 'key', least)} would get "
            f"{number(weights[least].item(), 2)}, which no share can be."
        )
    if total < 0:
        return (
            f"The plain sum is {number(total, 2)} here: divided by it, the smallest score would "
            "get the largest weight."
        )
    return "Dividing by the plain sum works only while no score is below 0, as here."


def why_not_the_size(scores: Tensor) -> str:
    """What would come of leaving out the minus signs."""
    finite = scores[scores.isfinite()]
    if not len(finite) or finite.min() >= 0:
        return "And an absolute value would let a bad match, below 0, count as a good one."
    worst = finite.min().item()
    return (
        f"And by its absolute value, {number(worst, 2)}, the worst match here, would count as much "
        f"as {number(-worst, 2)}."
    )


def on_adding(trace: Trace) -> str:
    """With the lead of the largest score, which stays as it is, and so do the weights."""
    if is_hidden(trace["score_row"].value):
        return (
            "Nothing: every score here is −∞, and −∞ plus 1,000 is −∞ again. There is nothing to "
            "share, so no weight is a number."
        )
    words = (
        "Nothing. Each exponential would grow by one and the same factor, e to the power of 1,000, "
        "and so would their sum"
    )
    found = lower_scores(trace)
    if found is None:
        return f"{words}."
    best, (*_, worst), (*_, lead) = found
    return f"{words}. Only leads count, and that of {best} over {worst} stays {number(lead, 2)}."


def on_a_lead(trace: Trace) -> str:
    """With the largest score of the row and the next lower one."""
    words = f"e times as much, and e is {math.e:.2f}, whatever the two scores are."
    found = lower_scores(trace)
    if found is None:
        return f"{words} Here no score is lower than the largest, so there are none to compare."
    best, (following, *_), (lead, *_) = found
    ratio = "over a million" if lead > math.log(MILLION) else number(math.exp(lead), 2)
    return (
        f"{words} Here {best} leads {following} by {number(lead)}, so it gets e to that power, "
        f"{ratio} times the weight."
    )


def lower_scores(trace: Trace) -> tuple[str, list[str], list[float]] | None:
    """The key with the largest score, and those with lower ones, the best first, each with how far
    it is behind; None where there are none.
    """
    scores = trace["score_row"].value
    best = int(scores.argmax())
    behind = (scores[best] - scores).tolist()
    lower = sorted((lead, key) for key, lead in enumerate(behind) if EQUAL < lead < math.inf)
    if not lower:
        return None
    names = [named(trace, "key", key) for _, key in lower]
    return named(trace, "key", best), names, [lead for lead, _ in lower]
