"""What the lesson says of its numbers, and what its questions ask."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import torch

from attention_core.experiments.saturation import (
    SATURATED,
    Effect,
    divisors_of,
    softmax_effect,
    trials_at,
)
from attention_core.experiments.variance import Measured, Trials, measure_variance, variance_theory
from attention_core.trace import Trace

from ...cards.common_questions import one_of
from ...cards.questions import Pick
from ...frame.ends import closes
from ...reactive.control import Values
from ...words import number, percent, true_minus

WIDE = 128
"""The width that closing answers speak of: undivided scores are all or nothing there."""


@lru_cache(maxsize=128)
def effects_at(d: int, seed: int) -> Mapping[str, Effect]:
    """What softmax makes of scores of this width, by divisor; kept, for all widths are asked."""
    return softmax_effect(Trials(d, trials_at(d), seed=seed))


def told_at(d: int, effects: Mapping[str, Effect]) -> str:
    """What divides best at this width, from what was measured."""
    if d == 1:
        return "At d = 1 all three divide by 1. Make the vectors wider and watch them differ."
    plain, by_root, by_d = (effects[name] for name in divisors_of(d))
    top, even = plain.largest_weight, 1 / len(plain.sorted_weights)
    root = f"√{d:,} = {said(math.sqrt(d), 3)}"
    words = (
        f"At d = {d:,} the top key takes {percent(top)} of the weight divided by nothing, "
        f"{percent(by_root.largest_weight)} by {root}, {percent(by_d.largest_weight)} by {d:,} "
        f"(an even share is {even:.1%}). By {d:,}, the gradient is "
        f"{said(by_root.gradient_norm / by_d.gradient_norm, 2)} times smaller than by √{d:,}. "
    )
    if plain.saturated < 0.05:
        return f"{words}Vectors this narrow need no divisor. Widen them."
    saturated = (
        f"Undivided, {percent(plain.saturated)} of the draws give one key over {SATURATED:.0%}: "
        "next to no gradient there"
    )
    if plain.gradient_norm <= by_root.gradient_norm:
        return f"{words}{saturated}."
    return (
        f"{words}{saturated}. In the middle draw it is still larger than divided, since dividing "
        "makes gradients smaller too: from which draw a layer learns is left to chance."
    )


def growth(seed: int) -> Pick:
    """How the standard deviation of q·k grows."""
    return one_of(
        "The entries keep mean 0 and variance 1, but the vectors get wider, from d = 4 to d = 64. "
        "What happens to the standard deviation of q·k?",
        ("It stays as it is", "4 times as large", "16 times as large", "64 times as large"),
        1,
        growth_words(seed),
        teaches="The variance grows like d: 16 times. The standard deviation is its root, and "
        "grows like √d: 4 times.",
    )


@lru_cache(maxsize=32)
def growth_words(seed: int) -> str:
    """How much the standard deviation grows from d = 4 to d = 64, and what was measured."""
    narrow, wide = (last(Trials(d=d, seed=seed)).variance ** 0.5 for d in (4, 64))
    return (
        f"It is 4 times as large. In 1,000 trials it goes from {narrow:.2f} to {wide:.2f}, "
        f"{wide / narrow:.2f} times as large."
    )


def last(settings: Trials) -> Measured:
    """The end of a run."""
    *_, end = measure_variance(settings)
    return end


def theory_words(wanted: Trials, found: Measured, divisor: float) -> str:
    """The variance of q·k, divided by a number, as it was measured and by theory."""
    theory = variance_theory(wanted)
    measured, expected = found.variance / divisor**2, theory.variance / divisor**2
    error = 2 * theory.standard_error(found.trials) / divisor**2
    return (
        f"Variance in {found.trials:,} trials: **{said(measured)}**. Theory says "
        f"{said(expected)}, give or take {said(error, 2)} by chance."
    )


def entries_words(wanted: Trials) -> str:
    """What these entries make of the rule; "" where they are as it assumes."""
    one = variance_theory(replace(wanted, d=1)).variance
    if wanted.distribution == "uniform_0_1":
        mean = variance_theory(wanted).mean
        return (
            f"Entries between 0 and 1 have mean 0.5, so q·k has mean d/4 = {said(mean)}, and after "
            f"dividing {said(mean / wanted.d**0.5)}. Dividing by √d takes the width out of the "
            "spread, not out of the mean. Softmax does not mind a mean that all keys share."
        )
    elif wanted.spread != 1:
        return (
            f"Entries with standard deviation {wanted.spread:g} have variance "
            f"{said(wanted.spread**2)}, and a product of two has variance {said(one)}. Dividing "
            f"by √d brings q·k to that variance at any d, not to 1."
        )
    return ""


def said(value: float, digits: int = 4) -> str:
    """A number in a sentence: a few digits, thousands with commas."""
    is_long = abs(value) >= min(1_000, 10**digits)
    return true_minus(f"{value:,.0f}" if is_long else f"{value:.{digits}g}")


@closes("Why √d, and not d?", "many_trials", "variances")
def why_the_root() -> str:
    """By how far a sum of d products spreads."""
    words = (
        "A dot product adds d products, some above 0 and some below, which partly cancel: its "
        "standard deviation grows like √d, not like d."
    )
    root = math.sqrt(WIDE)
    return (
        f"{words} At d = {WIDE:,} it is √{WIDE:,} = {said(root)}, and dividing by that makes it 1 "
        f"again. Dividing by {WIDE:,} would leave {said(1 / root, 2)}, and the wider the vectors, "
        "the more alike all keys would look."
    )


@closes("What does dividing by √d assume?", "many_trials")
def assumes(trace: Trace) -> str:
    """With what the entries drawn on this page come to."""
    drawn = torch.cat([trace[name].value.flatten() for name in ("queries", "keys")]).double()
    return (
        "That the entries of queries and keys are independent, with mean 0 and standard deviation "
        f"1. The {len(drawn)} under “Products” have a mean of {number(drawn.mean().item(), 2)} and "
        f"a standard deviation of {number(drawn.std().item(), 2)}. Entries twice as large would "
        "make every score 4 times as large, at any width, and √d would not undo that."
    )


@closes("What happens without dividing?", "three_divisors")
def without(values: Values) -> str:
    """By what softmax makes of scores that are divided by nothing, and by √d."""
    measured = effects_at(WIDE, values.draw_seed)
    plain, by_root = measured["nothing"], measured["sqrt_d"]
    return (
        f"At d = {WIDE:,}, the best of {len(plain.sorted_weights)} keys takes "
        f"{percent(plain.largest_weight)} of the weight on average; divided by √d, "
        f"{percent(by_root.largest_weight)}. Undivided, one key takes over {SATURATED:.0%} in "
        f"{percent(plain.saturated)} of the draws: next to no gradient there, a steep one in "
        "others, where two keys nearly tie. From which draw a layer learns is left to chance; "
        "divided by √d, all count about alike."
    )
