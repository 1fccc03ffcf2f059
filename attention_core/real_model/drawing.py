"""Which token comes next: logits become chances, some tokens are cut off, and one is drawn.

Cuts apply in the order of `transformers`: temperature, top-k, top-p, min-p. Each leaves the
likeliest, so what is kept is the beginning of the vocabulary in the order of its logits.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from random import Random

import torch
from torch import Tensor


@dataclass(frozen=True)
class Cuts:
    """How next tokens are chosen among. Raises ValueError, in words, for what cannot be."""

    temperature: float = 1.0
    """What logits are divided by."""
    top_k: int = 0
    """So many of the likeliest are kept, and all that are as likely as the last of them; 0: all."""
    top_p: float = 1.0
    """Of those, the fewest that have so much of the chance together."""
    min_p: float = 0.0
    """Of those, all that have this share of what the likeliest has."""

    def __post_init__(self) -> None:
        if not 0 < self.temperature < float("inf"):
            raise ValueError(f"the temperature is {self.temperature}, but must be above 0")
        if self.top_k < 0:
            raise ValueError(f"top_k is {self.top_k}, but must be 1 or more, or 0 for all")
        for name in ("top_p", "min_p"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}, but must be from 0 to 1")


@dataclass(frozen=True)
class Ranked:
    """A vocabulary in the order of its logits, the likeliest first; of equal ones the lower id."""

    ids: Tensor
    """(rank,)"""
    logits: Tensor
    """(rank,), in float64."""

    @cached_property
    def above(self) -> Tensor:
        """How many tokens have a larger logit than each (rank,)."""
        return torch.searchsorted(-self.logits, -self.logits)

    def sizes(self, temperature: float) -> Tensor:
        """e^(logit / temperature) of each (rank,), beside that of the likeliest, which is 1."""
        return ((self.logits - self.logits[0]) / temperature).exp()


def check_finite(logits: Tensor) -> None:
    """Raises ValueError, in words, where a logit is no finite number, or there is none."""
    if not len(logits) or not bool(logits.isfinite().all()):
        raise ValueError("a next token is chosen by finite logits, and these are not")


def ranked(logits: Tensor) -> Ranked:
    """Logits (vocabulary,) in their order. Raises ValueError where one is no finite number."""
    check_finite(logits)
    found, ids = logits.double().sort(descending=True, stable=True)
    return Ranked(ids, found)


def n_by_top_p(sizes: Tensor, tops: Sequence[float]) -> list[int]:
    """How many likeliest tokens each top-p keeps: one goes if all from it on have ≤ 1 − top_p."""
    behind = (sizes / sizes.sum()).flip(0).cumsum(0)
    removed = torch.searchsorted(behind, torch.tensor([1 - p for p in tops]).double(), right=True)
    return (len(sizes) - removed).clamp(min=1).tolist()


def n_by_min_p(sizes: Tensor, leasts: Sequence[float]) -> list[int]:
    """How many of some tokens, the likeliest first, each min-p keeps."""
    wanted = torch.tensor(leasts).double() * sizes[0]
    return (len(sizes) - torch.searchsorted(sizes.flip(0), wanted)).clamp(min=1).tolist()


@dataclass(frozen=True)
class Offered:
    """What may come next: the kept tokens, the likeliest first, each with its chance."""

    ids: Tensor
    """(rank,)"""
    chances: Tensor
    """(rank,), in float64: they sum to 1."""

    def drawn(self, number: float) -> int:
        """The rank of the token in whose interval a number lies, the chances put behind each other
        from 0 to 1: in float64, so the same on every processor. Raises ValueError outside [0, 1).
        """
        if not 0 <= number < 1:
            raise ValueError(f"the number drawn is {number}, but must be at least 0 and below 1")
        ends = [*accumulate(self.chances.tolist())]
        return min(bisect_right(ends, number * ends[-1]), len(ends) - 1)


def offered(logits: Tensor | Ranked, cuts: Cuts) -> Offered:
    """The tokens of logits (vocabulary,) that are kept, and their chances. Raises ValueError where
    a logit is no finite number. Sources: Fan et al. 2018 (top-k), Holtzman et al. 2020 (top-p),
    Nguyen et al. 2024 (min-p).
    """
    order = logits if isinstance(logits, Ranked) else ranked(logits)
    sizes = order.sizes(cuts.temperature)
    if cuts.top_k:
        sizes = sizes[: int((order.above < cuts.top_k).sum())]
    if cuts.top_p < 1:
        sizes = sizes[: n_by_top_p(sizes, [cuts.top_p])[0]]
    sizes = sizes[: n_by_min_p(sizes, [cuts.min_p])[0]]
    return Offered(order.ids[: len(sizes)], sizes / sizes.sum())


def number_drawn(seed: int, place: int = 0) -> float:
    """A seed's number for a place, in [0, 1): Python's own are the same everywhere."""
    numbers = Random(seed)
    return [numbers.random() for _ in range(place + 1)][-1]
