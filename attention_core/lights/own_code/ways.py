"""Ways of today in which attention may look: a window, and a bias by distance. Both are right."""

from typing import NamedTuple

import torch
from torch import Tensor

from .reading import distances, factor_of_scores, slopes_of

NO_WEIGHT = 1e-12


class Ways(NamedTuple):
    """What was recognised."""

    window: int | None = None
    """How many tokens a query sees on one side, itself among them; None for all."""
    slopes: tuple[float, ...] | None = None
    """By how much each head's scores fall for each token of distance; None for not at all."""

    def sees(self, n_tokens: int) -> Tensor:
        """(query, key): True where the window lets a query look."""
        return distances(n_tokens).abs() < (self.window or n_tokens)

    def bias(self, n_tokens: int) -> Tensor | float:
        """What is added to the scores, (head, query, key)."""
        if self.slopes is None:
            return 0.0
        return -torch.tensor(self.slopes, dtype=torch.float64)[:, None, None] * (
            distances(n_tokens).abs()
        )

    def said(self) -> tuple[str, ...]:
        """Each in a sentence."""
        told = []
        if self.window:
            n_others = self.window - 1
            told.append(f"a window: beside itself, a token sees those up to {n_others} away")
        if self.slopes is not None:
            falls = ", ".join(f"{slope:.3g}" for slope in self.slopes)
            told.append(f"a bias by distance, as in ALiBi: for each token, scores fall by {falls}")
        return tuple(told)


def ways_in(weights: Tensor, scores: Tensor, seen: Tensor) -> Ways:
    """The ways in which weights (head, query, key) were made where `seen` may be looked at."""
    if not weights.isfinite().all():
        return Ways()
    ways = Ways(_window(weights, seen))
    visible = seen & ways.sees(len(seen))
    if factor_of_scores(weights, scores, visible) is None:
        slopes = slopes_of(weights, scores, visible)
        if slopes is not None:
            ways = ways._replace(slopes=tuple(slopes.tolist()))
    return ways


def _window(weights: Tensor, seen: Tensor) -> int | None:
    has_weight = weights > NO_WEIGHT
    for window in range(2, len(seen)):
        if (has_weight == (seen & Ways(window).sees(len(seen)))).all():
            return window
    return None
