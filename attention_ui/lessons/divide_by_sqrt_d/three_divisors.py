"""Nothing, √d and d side by side: the weights of the same scores, and what they pass back."""

import math
from collections.abc import Mapping
from functools import lru_cache

import streamlit as st

from attention_core.experiments.saturation import (
    EFFECT_TRIALS,
    N_KEYS,
    Effect,
    divisors_of,
    softmax_effect,
)
from attention_core.experiments.variance import Trials

from ...charts.by_divisor import gradients, sorted_weights
from ...page.page import narrow
from ...page.show import show_within
from ...settings import session
from ...settings.control import control
from .by_width import DIVIDED, said

WIDTH = 680


@lru_cache(maxsize=32)
def effects_at(d: int, seed: int) -> Mapping[str, Effect]:
    """What softmax makes of scores of this width, by what divides them. Kept: the picture and what
    is said of it ask for the same numbers.
    """
    return softmax_effect(Trials(d, EFFECT_TRIALS, seed=seed))


def three_divisors() -> None:
    """A width, and the weights and gradients of the three at that width."""
    control("vd", version="_of_three", elsewhere=True, width=230)
    settings = session.current()
    measured = effects_at(settings.vd, settings.draw_seed)
    best = DIVIDED["sqrt_d"]
    named = {DIVIDED[name]: effect for name, effect in measured.items()}
    weights = {name: effect.sorted_weights for name, effect in named.items()}
    show_within(sorted_weights(weights, best), WIDTH)
    sizes = {name: effect.gradient_norm for name, effect in named.items()}
    show_within(gradients(sizes, best), WIDTH)
    narrow(told_at(settings.vd, measured))
    st.caption(
        f"One random query and {N_KEYS} random keys, drawn {EFFECT_TRIALS} times. Weights are "
        "means. The gradient says how much the weights move when an undivided score q·k is nudged: "
        "shown is the median of the draws."
    )


def told_at(d: int, effects: Mapping[str, Effect]) -> str:
    """What divides best at this width, from what was measured."""
    if d == 1:
        return "At d = 1 all three divide by 1. Make the vectors wider and watch them part."
    plain, by_root, by_d = (effects[name] for name in divisors_of(d))
    top, even = plain.largest_weight, 1 / len(plain.sorted_weights)
    root = f"√{d:,} = {said(math.sqrt(d), 3)}"
    words = (
        f"At d = {d:,}, divided by nothing, the first key takes {top:.0%} of the weight; "
        f"by {root}, {by_root.largest_weight:.0%}; by {d:,}, {by_d.largest_weight:.0%}, where an "
        f"even share would be {even:.1%}. Whatever divides q·k divides its gradient too: divided "
        f"by {d:,}, it is {said(by_root.gradient_norm / by_d.gradient_norm, 3)} times smaller than "
        f"by √{d:,}. "
    )
    if plain.gradient_norm > by_root.gradient_norm:
        return words + (
            "Divided by nothing it is still the largest: vectors this narrow can do without. "
            "Widen them."
        )
    if 2 * plain.gradient_norm > by_root.gradient_norm:
        return words + (
            "Undivided, it still looks healthy at this width. Make the vectors wider and it "
            "shrinks, since one key takes everything."
        )
    return words + (
        f"Divided by nothing it is {times(by_root.gradient_norm, plain.gradient_norm)} than by √d: "
        "where softmax is all or nothing, there is hardly anything to learn from."
    )


def times(large: float, small: float) -> str:
    """How much smaller a number is than a larger one, in words."""
    if small * 1e6 < large:
        return "over a million times smaller"
    return f"{said(large / small, 2)} times smaller"
