"""What the lesson says of its numbers, and what its questions ask."""

import math
from collections.abc import Sequence

from torch import Tensor

from attention_core.mechanism.softmax import Spread
from attention_core.rounding import agree, difference, to_within
from attention_core.trace import Trace

from ...cards.common_questions import judge_key, largest_keys, one_of
from ...cards.questions import Pick
from ...frame.ends import closes, named
from ...reactive.control import Values
from ...words import capital, number, percent, word_at
from .lesson import numbered_keys

EQUAL = 1e-6
"""Scores that are no farther apart count as equal."""


SHARES = ((0.25, "Less than a quarter"), (0.5, "A quarter to a half"),
          (0.9, "A half to nine tenths"), (math.inf, "More than nine tenths"))  # fmt: skip
"""What the largest score may get: up to this share, and how that is called."""


def sum_best(trace: Trace, values: Values) -> Pick | None:
    """Which of two keys gets more where the scores are divided by their sum, the one with the
    largest score or with the smallest; None where neither does.
    """
    scores, weights = trace["score_row"].value, trace["sum_weights"].value
    ends = sorted({int(scores.argmax()), int(scores.argmin())})
    if not weights.isfinite().all() or len(ends) < 2:
        return None
    names, called = trace.labels("key"), numbered_keys(values)
    return Pick(
        words="Divide each score by the sum of the row. Which gets the larger weight, the key with "
        "the largest score or the one with the smallest?",
        choices=[called[key] for key in ends],
        judge=lambda guess: judge_key(ends[guess[0]], weights, names),
        truth=lambda: f"It is {largest_keys(weights, names)}.",
        teaches="A sum can be negative: then the smallest score gets the largest weight. Or it "
        "can be nearly 0: then all weights explode.",
        at={"key": ends},
    )


def softmax_most(trace: Trace) -> Pick | None:
    """How much softmax gives the largest score; None where there are no two to compare."""
    weights = trace["softmax_weights"].value
    if len(weights) < 2 or not weights.isfinite().all():
        return None
    most = weights.max().item()
    right = next(at for at, (end, _) in enumerate(SHARES) if most < end)
    found = f"the largest weight goes to {largest_keys(weights, trace.labels('key'))}."
    return one_of(
        "Softmax takes e to the power of each score, and divides by the sum of all these. How much "
        "goes to the largest score?",
        [called for _, called in SHARES],
        right,
        capital(found),
        teaches="Only the differences between scores count, and a score larger by 1 gets "
        f"e = {math.e:.2f} times the weight. So the largest soon takes most of the row, and no "
        "weight is ever negative.",
        at={"key": (int(weights.argmax()),)},
    )


def matches_words(trace: Trace, poor: float) -> str:
    """What each way does to the good match and to the poor one."""
    total = trace["score_sum"].value.item()
    good, _, bad = trace["sum_weights"].value.tolist()
    if math.isclose(total, 0, abs_tol=1e-9):
        divided = "The sum is 0, and nothing can be divided by 0."
    elif total < 0:
        divided = (
            f"The sum is {number(total, 1)}. Dividing by it reverses the order: the poor match "
            f"gets {number(bad, 2)}, the good one {number(good, 2)}."
        )
    elif poor < 0:
        too_much = ", more than there is to share," if good > 1 else ""
        divided = (
            f"The sum is {number(total, 1)}. Divided by it, the good match gets {number(good, 2)}"
            f"{too_much} and the poor one {number(bad, 2)}: no share can be below 0."
        )
    else:
        divided = "No score is negative now, so both ways give proper shares."
    shares = trace["softmax_weights"].value.tolist()
    return (
        f"{divided} Softmax gives {percent(shares[0])}, {percent(shares[1])} and "
        f"{percent(shares[2])}: never below 0, and never less to the better match. Dropping the "
        "signs is no way out: a score of −4 would then count as much as one of 4."
    )


def is_hopeless(trace: Trace) -> bool:
    """Whether no score of the row is a finite number: then there is nothing to share."""
    return not trace["score_row"].value.isfinite().any()


def of_dividing(weights: Tensor) -> str:
    """What to look at where a row is divided by its sum; it answers nothing that is asked there."""
    if not weights.isfinite().all():
        return "Look at the sum: dividing by it gives no weights."
    return (
        "The weights sum to 1, as shares should. Whether they are shares is another matter: look "
        "at the sum you divide by, and at the signs."
    )


def sum_verdict(scores: Tensor, weights: Tensor, names: Sequence[str]) -> tuple[bool, str]:
    """What dividing a row (key,) by its sum has done: whether the weights are shares, in words."""
    total = scores.sum().item()
    if not scores.isfinite().all():
        return False, (
            "A hidden score of −∞ makes the sum −∞ too. Then −∞ / −∞ is `nan` (not a number), and "
            "the others get 0. Dividing by the sum cannot hide a key."
        )
    if total == 0:
        return False, (
            "The scores sum to exactly 0, and dividing by 0 gives no weights: 0 / 0 is `nan` (not "
            "a number), and any other score divided by 0 is `inf` (infinite)."
        )
    best, worst = int(scores.argmax()), int(scores.argmin())
    largest, smallest = (word_at(names, at, "key") for at in (best, worst))
    ends = (
        f"{capital(largest)} has the largest score, {number(scores[best].item(), 2)}, and gets "
        f"{number(weights[best].item(), 2)}; {smallest} has the smallest, "
        f"{number(scores[worst].item(), 2)}, and gets {number(weights[worst].item(), 2)}."
    )
    if total < 0 and best != worst:
        return False, f"The sum is {number(total, 2)}, below 0, so the order is reversed. {ends}"
    below = int((weights < 0).sum())
    if below:
        more = " The largest is above 1: more than there is to share." if weights.max() > 1 else ""
        some = "1 weight is" if below == 1 else f"{below} weights are"
        told = f"The sum is {number(total, 2)}. {some} below 0, and no share can be.{more} {ends}"
        return False, told
    return True, (
        f"This row has no score {'below' if total > 0 else 'above'} 0, so dividing by the sum, "
        f"{number(total, 2)}, gives proper shares."
    )


def stays(name: str, before: Trace, after: Trace) -> tuple[bool, str]:
    """Whether weights are the same in two traces, and how closely, in words."""
    pairs = [(after[name].value, before[name].value)]
    return agree(pairs, (after, name), (before, name)), to_within(difference(pairs))


def softmax_stays(before: Trace, after: Trace) -> tuple[bool, str]:
    """Whether softmax is the same with a constant added, in words."""
    good, closely = stays("softmax_weights", before, after)
    return good, f"Softmax has not moved: the weights are those above, {closely}."


def sum_stays(before: Trace, after: Trace) -> tuple[bool, str]:
    """Whether the shares by the sum are the same with the scores multiplied, in words."""
    if not before["sum_weights"].value.isfinite().all():
        return False, "The sum gives no shares here, multiplied or not."
    good, closely = stays("sum_weights", before, after)
    return good, (
        f"The shares by the sum have not moved, since the factor cancels: they are the same, "
        f"{closely}. A constant moves them and leaves softmax alone; a factor does the opposite."
    )


def winners(scores: Tensor) -> str:
    """Who has all the weight in the end, where scores (key,) are multiplied by more and more."""
    equal = int((scores == scores.max()).sum())
    if equal == 1:
        return "the largest score takes all"
    if equal == len(scores):
        return "they still are, since all scores are equal"
    return f"the largest score takes all; here {equal} are equal, and get 1/{equal} each"


def spread_words(weights: Tensor) -> str:
    """Three numbers for how a row of softmax weights (key,) is spread."""
    spread = Spread.of(weights)
    alike = len(weights)
    return (
        f"Largest weight **{spread.largest:.2f}** (at least {1 / alike:.2f}); **entropy**, how "
        f"even they are, **{spread.entropy:.2f}** bits (at most {math.log2(alike):.2f}); "
        f"length of the gradient **{spread.gradient:.2g}**."
    )


def lost_words(powers: Tensor, total: Tensor, weights: Tensor) -> tuple[bool, str]:
    """How many numbers of a softmax as its formula is written are lost, and why."""
    infinite, lost = int(powers.isinf().sum()), int(weights.isnan().sum())
    counted = (
        f"As written, {infinite} of {len(powers)} exponentials {'is' if infinite == 1 else 'are'} "
        f"`inf`, {lost} of {len(weights)} weights `nan`."
    )
    if (powers == 0).all():
        counted += " All exponentials are 0, so each weight is 0 / 0."
    elif lost:
        counted += " An infinite exponential divided by an infinite sum is not a number."
    elif total.isinf().any():
        counted += " Still, their sum is `inf`, so every weight is 0."
    return not lost and not total.isinf().any(), counted


def stable_words(weights: Tensor, exact: Tensor, precision: str) -> tuple[bool, str]:
    """Whether a softmax that subtracts the largest score loses nothing, in words."""
    gap = (weights.float() - exact).abs().max().item()
    return bool(weights.isfinite().all()), (
        "With the largest subtracted, no number is `inf` or `nan`: the largest exponential is 1, "
        f"whatever the scores. The weights are those above, but for differences of up to "
        f"{number(gap)}: numbers are rounded to {precision}."
    )


@closes(
    "Why e to the power of a score, and not the plain sum, or absolute values?",
    *("divide", "sum_weights"),
)
def why_e() -> str:
    """What neither keeps: the card has what the plain sum does with this row."""
    return (
        "It is never below 0, and a larger score always gets a larger weight. Where a score is "
        "below 0, the plain sum can break both promises: a share may be below 0, and the smallest "
        "score may get the largest share. And absolute values would let a bad match, below 0, "
        "count as a good one."
    )


@closes("What would change if you added 1,000 to every score?", "constant")
def on_adding(trace: Trace) -> str:
    """With the lead of the largest score, which stays as it is, and so do the weights."""
    if is_hopeless(trace):
        return (
            "Nothing: every score here is −∞, and −∞ plus 1,000 is −∞ again. There is nothing to "
            "share, so no weight is a number."
        )
    words = (
        "Nothing. Each exponential would grow by the same factor, e to the power of 1,000, and so "
        "would their sum"
    )
    lower = lower_scores(trace)
    if lower is None:
        return f"{words}."
    best, (*_, worst), (*_, lead) = lower
    return f"{words}. Only differences count, and {best} still leads {worst} by {number(lead, 2)}."


@closes(
    "How much more weight does a score get that is larger by 1?",
    *("softmax", "exponentials", "softmax_weights"),
)
def on_a_lead(trace: Trace) -> str:
    """With the largest score of the row and the next lower one."""
    words = f"e times as much, and e is {math.e:.2f}, whatever the two scores are."
    lower = lower_scores(trace)
    if lower is None:
        return f"{words} Here no score is lower than the largest, so there are none to compare."
    best, (following, *_), (lead, *_) = lower
    ratio = "over a million" if lead > math.log(1_000_000) else number(math.exp(lead), 2)
    return (
        f"{words} Here {best} leads {following} by {number(lead, 2)}, so it gets e to that power, "
        f"{ratio} times the weight."
    )


def lower_scores(trace: Trace) -> tuple[str, list[str], list[float]] | None:
    """The key with the largest score, and lower ones, each with how far it is behind; None."""
    scores = trace["score_row"].value
    best = int(scores.argmax())
    behind = (scores[best] - scores).tolist()
    lower = sorted((lead, key) for key, lead in enumerate(behind) if EQUAL < lead < math.inf)
    if not lower:
        return None
    names = [named(trace, "key", key) for _, key in lower]
    return named(trace, "key", best), names, [lead for lead, _ in lower]
