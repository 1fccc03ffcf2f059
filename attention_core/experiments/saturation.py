"""What the size of the scores does to softmax: how sharp its weights are, and what it passes back.

Scores that spread widely make softmax give nearly all weight to one key. There its derivatives
are nearly 0, and a layer that is trained learns nothing through it. Scores that hardly spread make
all weights alike, and attention becomes a plain mean.

Source: Vaswani et al. 2017, Attention Is All You Need, section 3.2.1.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from .variance import LARGEST_CHUNK, Trials, draws

DIVISORS = ("nothing", "sqrt_d", "d")
N_KEYS = 8
EFFECT_TRIALS = 96
"""Enough for curves that hardly tremble, few enough for a slider."""


@dataclass(frozen=True)
class Effect:
    """Softmax over the scores of one query and its keys, the mean over trials."""

    entropy: float
    """As a share of the largest possible, that of equal weights: 1 is even, 0 is one key alone."""
    largest_weight: float
    gradient_norm: float
    """√ of the sum of squares of the derivatives of all weights by all scores given to softmax."""


def softmax_effect(
    settings: Trials, n_keys: int = N_KEYS, chunk: int = LARGEST_CHUNK
) -> dict[str, Effect]:
    """One random query and its keys, `settings.trials` times: by what the scores are divided by
    (a name of `DIVISORS`), what softmax makes of them.

    At most `chunk` numbers are drawn at a time, or 16 trials. Raises ValueError for fewer than
    two keys: one key always has all the weight.
    """
    if n_keys < 2:
        raise ValueError(f"{n_keys} keys: choose at least 2")
    scores = torch.cat(
        [
            (vectors[:, :1] * vectors[:, 1:]).sum(dim=-1)
            for vectors in draws(settings, 1 + n_keys, chunk)
        ]
    ).double()  # (trial, key)
    divisors = zip(DIVISORS, (1.0, math.sqrt(settings.d), float(settings.d)), strict=True)
    return {name: _effect(scores / divisor) for name, divisor in divisors}


def _effect(scores: Tensor) -> Effect:
    """Of scores (trial, key). The Jacobian of softmax is diag(p) − p pᵀ."""
    weights = scores.softmax(dim=-1)
    entropy = torch.special.entr(weights).sum(dim=-1) / math.log(weights.shape[-1])
    squares = weights.square().sum(dim=-1)
    jacobian = squares - 2 * weights.pow(3).sum(dim=-1) + squares.square()
    return Effect(
        entropy=entropy.mean().item(),
        largest_weight=weights.max(dim=-1).values.mean().item(),
        gradient_norm=jacobian.clamp(min=0).sqrt().mean().item(),
    )
