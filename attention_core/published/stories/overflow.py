"""The story of e to a large score: where float32 ends, in two notebooks."""

import math
from collections.abc import Callable

import torch

from .story import Figures, Story
from .tracing import LIFE, WILD_CAT, naive_softmax, traced

HALVINGS = 40


def _first(is_lost: Callable[[float], bool], low: float, high: float) -> float:
    """The least number from which on something is lost, by halving."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_lost(middle) else (middle, high)
    return high


def _overflow() -> Figures:
    row = traced(WILD_CAT, "simplified")["scores"].value[0]
    n_keys = len(row)
    life, heads = traced(LIFE, "qkv"), traced(LIFE, "multi_head")
    scaled = life["scaled_scores"].value
    lost = naive_softmax(scaled).isnan()

    def equal(score: float) -> torch.Tensor:
        return naive_softmax(torch.full((n_keys,), score))

    times = _first(lambda factor: bool(naive_softmax(row * factor).isnan().any()), 1, 100)
    return {
        "limit": math.log(torch.finfo(torch.float32).max),
        "n_keys": n_keys,
        "all_zero": _first(lambda score: bool((equal(score) == 0).all()), 80, 88),
        "all_nan": _first(lambda score: bool(equal(score).isnan().all()), 80, 100),
        "too_small": -_first(lambda score: bool(equal(-score).isnan().all()), 90, 120),
        "factor": math.ceil(1e4 * times) / 1e4,
        "life_score": scaled.max().item(),
        "life_row": int(lost.any(dim=-1).nonzero()[0]),
        "life_lost": int(lost.sum()),
        "life_unscaled": int(naive_softmax(life["scores"].value).isnan().sum()),
        "life_heads": int(naive_softmax(heads["head_scaled_scores"].value).isnan().sum()),
        "right_lost": int(scaled.softmax(dim=-1).isnan().sum()),
        "others": [
            math.log(torch.finfo(each).max)
            for each in (torch.float16, torch.bfloat16, torch.float64)
        ],
    }


STORIES = (
    Story(
        "naive_softmax_overflow",
        "Softmax just as its formula says",
        WILD_CAT,
        "e to {limit:.4f} is the most that float32 holds. The notebook's own scores are small "
        "enough; times {factor:.4f}, row 0 has nan in it (not a number). {n_keys} equal scores "
        "give weights of 0 from {all_zero:.4f} on, and nan from {all_nan:.4f} on or from "
        "{too_small:.3f} down. In “Life is short” a score of {life_score:.2f} would be enough for "
        "{life_lost} nan in row {life_row}, {life_unscaled} without the division, and "
        "{life_heads} in its heads.",
        "With the largest score of the row subtracted first there are {right_lost}. Other "
        "precisions end at {others:.2f} (float16, bfloat16, float64).",
        _overflow,
        "softmax_overflow",
    ),
)
