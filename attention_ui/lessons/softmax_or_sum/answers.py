"""What the lesson on softmax leaves its reader able to answer."""

import math

from torch import Tensor

from attention_core.trace import Trace

from ...page.closing import Answer, named
from ...page.view import View
from ...words import number
from .score_row import is_hidden

MILLION = 1_000_000


def answers(view: View) -> list[Answer]:
    """On the exponential, on adding a constant, and on what a difference of 1 does."""
    trace = view.trace
    hopeless = is_hidden(trace["score_row"].value)
    return [
        Answer(
            "Why e to the power of a score, and not the score itself or its size?",
            "e to any power is above 0, and a larger score always gets a larger weight. "
            + why_not_the_sum(trace)
            + why_not_the_size(trace["score_row"].value),
            "divide",
            ("sum_weights",),
        ),
        Answer(
            "What would change if you added 1,000 to every score?",
            on_adding(trace),
            "softmax" if hopeless else "constant",
            ("softmax_weights",),
        ),
        Answer(
            "How much more weight does a score get that is larger by 1?",
            on_a_lead(trace),
            "softmax",
            ("softmax_weights",),
        ),
    ]


def why_not_the_sum(trace: Trace) -> str:
    """What dividing this row by its plain sum comes to."""
    scores, weights = trace["score_row"].value, trace["sum_weights"].value
    total = scores.sum().item()
    if not scores.isfinite().all():
        return "The plain sum is −∞ here, since a hidden score is in it, and cannot be divided by."
    if not weights.isfinite().all():
        return f"The plain sum is {number(total)} here, and nothing can be divided by it."
    least = int(weights.argmin())
    if weights[least] < 0:
        return (
            f"Divided by the plain sum, {_key(trace, least)} would get "
            f"{number(weights[least].item())}, which no share can be."
        )
    if total < 0:
        return (
            "Divided by the plain sum, which is below 0 here, the smallest score would get the "
            "most."
        )
    return "Dividing by the plain sum works only while no score is negative, as here."


def why_not_the_size(scores: Tensor) -> str:
    """What would come of leaving out the minus signs."""
    finite = scores[scores.isfinite()]
    if not len(finite) or finite.min() >= 0:
        return " Without its minus sign, a score would count as if it were a good match."
    worst = finite.min().item()
    return (
        f" Without its minus sign, {number(worst, 2)}, the worst match here, would count as "
        f"{number(-worst, 2)}."
    )


def on_adding(trace: Trace) -> str:
    """That the weights stay, with the largest of them."""
    weights = trace["softmax_weights"].value
    if is_hidden(trace["score_row"].value):
        return (
            "Nothing: every score here is −∞, and −∞ plus 1,000 is −∞ again. There is nothing to "
            "share, and no weight is a number. As soon as one score is finite, its key gets all."
        )
    best = int(weights.argmax())
    return (
        "Nothing. Every exponential would be e to the 1,000 times as large, and so would their "
        f"sum, so each share stays: {_key(trace, best)} keeps {number(weights[best].item())}. "
        "That is why the largest score may be subtracted first, before e to its power overflows."
    )


def on_a_lead(trace: Trace) -> str:
    """With the two largest scores of the row."""
    scores = trace["score_row"].value
    words = f"e times as much, that is {math.e:.2f} times, however large the two scores are."
    if int(scores.isfinite().sum()) < 2:
        return f"{words} Here a single score is finite, if any, so there are no two to compare."
    top = scores.topk(2)
    (first, second), (best, next_best) = top.indices.tolist(), top.values.tolist()
    lead = best - next_best
    if lead == 0:
        return (
            f"{words} Here the two largest scores, of {_key(trace, first)} and "
            f"{_key(trace, second)}, are equal, and so are their weights."
        )
    times = math.exp(min(lead, 700))
    ratio = "over a million" if times > MILLION else number(times, 2)
    return (
        f"{words} Here {_key(trace, first)} leads {_key(trace, second)} by {number(lead, 2)}, so "
        f"it gets e to the power of {number(lead, 2)} as much: {ratio} times."
    )


def _key(trace: Trace, key: int) -> str:
    return named(trace, "key", key)
