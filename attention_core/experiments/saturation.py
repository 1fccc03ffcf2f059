"""What the size of the scores does to softmax: spread widely, nearly all weight is on one key, its
derivatives are nearly 0, and nothing is learned through it; hardly spread, it is a plain mean.
Source: Vaswani et al. 2017, Attention Is All You Need, section 3.2.1.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from ..utils.validation import validated
from .variance import LARGEST_CHUNK, Trials, draws

DIVISORS = ("nothing", "sqrt_d", "d")
N_KEYS = 8
SATURATED = 0.99
"""Where one key has more of the weight, the gradient is below 3 % of the largest there can be."""
MOST_TRIALS, QUICK = 4_000, 2**22
"""Of one width, where that takes no more than so many random numbers: 25 ms of work."""


@dataclass(frozen=True)
class Effect:
    """What softmax makes of the scores of one query and its keys, over some trials."""

    sorted_weights: tuple[float, ...]
    """The largest weight, the next, and so on: (key,)."""
    saturated: float
    """The share of trials in which one key has more than `SATURATED` of the weight."""
    gradient_norm: float
    """The median of √ of the derivatives' squared sum, since few trials make up a mean."""

    @property
    def largest_weight(self) -> float:
        """The mean of the largest weight."""
        return self.sorted_weights[0]


def trials_at(d: int, n_keys: int = N_KEYS) -> int:
    """How many trials of this width cost nothing that is seen."""
    return min(MOST_TRIALS, QUICK // (d * (1 + n_keys)))


@validated
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
    drawn = draws(settings, 1 + n_keys, chunk)
    products = [(each[:, :1] * each[:, 1:]).sum(dim=-1) for each in drawn]
    scores = torch.cat(products).double()  # (trial, key)
    return {name: _effect(scores, divisor) for name, divisor in divisors_of(settings.d).items()}


def divisors_of(d: int) -> dict[str, float]:
    """The number that each of `DIVISORS` stands for, at this width."""
    return dict(zip(DIVISORS, (1.0, math.sqrt(d), float(d)), strict=True))


def _effect(scores: Tensor, divisor: float) -> Effect:
    """Of scores (trial, key): diag(p) − p pᵀ, over what divides the scores, by the chain rule."""
    weights = (scores / divisor).softmax(dim=-1)
    # p (1 − p) with the other weights added up: near 1, the difference would round to 0.
    others = 1 - torch.eye(weights.shape[-1], dtype=weights.dtype)
    squares = weights.square()
    jacobian = (squares * ((weights @ others).square() + squares @ others)).sum(dim=-1).sqrt()
    highest = weights.max(dim=-1).values
    return Effect(
        sorted_weights=tuple(weights.sort(dim=-1, descending=True).values.mean(dim=0).tolist()),
        saturated=(highest > SATURATED).double().mean().item(),
        gradient_norm=(jacobian / divisor).quantile(0.5).item(),
    )
