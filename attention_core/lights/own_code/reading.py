"""What can be read off weights: what they add up to, and which scores they were made from."""

from typing import NamedTuple

import torch
from torch import Tensor

NEAR = 1e-4
"""How far two ways to the same weights may be apart in float32."""
FITS = 1e-3
"""How much of a pattern may be left over where it fits."""
SMALLEST = 1e-30


class Ways(NamedTuple):
    """Ways of today in which attention may look, and need not."""

    window: int | None = None
    """How many tokens a query sees on one side, itself among them; None for all."""
    slopes: tuple[float, ...] | None = None
    """By how much each head's scores fall for each token of distance; None for not at all."""
    turns: bool = False
    """Whether the distance counts in another way, as with rotary positions."""
    norm: str = ""
    """How queries and keys are normalised before they meet; "" for not."""

    def sees(self, n_tokens: int) -> Tensor:
        """(query, key): True where the window lets a query look."""
        return distances(n_tokens).abs() < (self.window or n_tokens)

    def bias(self, n_tokens: int) -> Tensor:
        """What is added to the scores, (head, query, key)."""
        slopes = torch.tensor(self.slopes or (0.0,), dtype=torch.float64)
        return -slopes[:, None, None] * distances(n_tokens).abs()

    def said(self) -> tuple[str, ...]:
        """Each in a sentence."""
        told = []
        if self.window:
            n_others = self.window - 1
            told.append(f"a window: beside itself, a token sees those up to {n_others} away")
        if self.slopes is not None:
            falls = ", ".join(f"{slope:.3g}" for slope in self.slopes)
            told.append(f"a bias by distance, as in ALiBi: for each token, scores fall by {falls}")
        if self.norm:
            told.append("queries and keys that are normalised before they meet")
        if self.turns:
            told.append("scores that depend on the distance, as with rotary positions")
        return tuple(told)


def may_look(n_tokens: int, causal: bool) -> Tensor:
    """(query, key): True where a query may look."""
    seen = torch.ones(n_tokens, n_tokens, dtype=torch.bool)
    return seen.tril() if causal else seen


def distances(n_tokens: int) -> Tensor:
    """(query, key): how many tokens the key stands before the query."""
    at = torch.arange(n_tokens, dtype=torch.float64)
    return at[:, None] - at


def is_near(one: Tensor, other: Tensor | float) -> bool:
    """Whether all numbers are the same but for rounding."""
    return largest_gap(one, other) <= NEAR


def largest_gap(one: Tensor, other: Tensor | float) -> float:
    """The largest difference, as a share of the largest number above 1; nan where there is any."""
    other = torch.as_tensor(other, dtype=one.dtype)
    if not one.numel():
        return 0.0
    size = max(1.0, float(one.abs().max()), float(other.abs().max()))
    return float((one - other).abs().max()) / size


def logs(weights: Tensor) -> Tensor:
    """Their logarithms; that of what is not above 0 is very low."""
    return weights.clamp(min=SMALLEST).log()


def centred(numbers: Tensor, seen: Tensor) -> Tensor:
    """Each row less its mean over the keys that are seen; 0 at the others."""
    kept = torch.where(seen, numbers, 0.0)
    mean = kept.sum(-1, keepdim=True) / seen.sum(-1, keepdim=True).clamp(min=1)
    return torch.where(seen, numbers - mean, 0.0)


def factor_of_scores(weights: Tensor, scores: Tensor, seen: Tensor) -> float | None:
    """b where each row's weights are in the ratios of e^(b · score), or None; √d gives 1/√d."""
    made, expected = centred(logs(weights), seen), centred(scores, seen)
    factor = float((made * expected).sum() / expected.square().sum())
    left = (made - factor * expected).abs().max() / made.abs().max().clamp(min=SMALLEST)
    return factor if left < FITS and factor else None


def slopes_of(weights: Tensor, scores: Tensor, seen: Tensor) -> Tensor | None:
    """The slope of distance in each head (head,), as with ALiBi; None where ratios have none."""
    far = distances(len(seen)).abs().expand_as(scores)
    made, expected, far = (centred(each, seen) for each in (logs(weights), scores, far))
    # The two slopes of the best plane through each head's logs.
    sides = torch.stack([expected.flatten(1), -far.flatten(1)], dim=-1)
    found = torch.linalg.lstsq(sides, made.flatten(1)[..., None]).solution
    left = (made.flatten(1) - (sides @ found)[..., 0]).abs().max()
    return found[:, 1, 0] if left / made.abs().max().clamp(min=SMALLEST) < FITS else None


def normed_by(vectors: Tensor, norm: str) -> Tensor:
    """Vectors as a norm of queries and keys makes them: by their mean and spread, or their size."""
    if norm == "layer":
        vectors = vectors - vectors.mean(-1, keepdim=True)
    size = (vectors.square().mean(-1, keepdim=True) + SMALLEST).sqrt() if norm else 1.0
    return vectors / size


def goes_by_distance(weights: Tensor, seen: Tensor) -> bool:
    """Whether equal tokens get weights whose ratios depend on the distance, and on nothing else."""
    own = logs(weights).diagonal(dim1=-2, dim2=-1)[..., None]
    made = torch.where(seen, logs(weights) - own, 0.0)
    size = float(made.abs().max())
    if not made.isfinite().all() or size < FITS:
        return False
    for distance in range(1 - len(seen), len(seen)):
        visible = made.diagonal(distance, -2, -1)[..., seen.diagonal(distance)]
        if visible.numel() and float((visible.amax(-1) - visible.amin(-1)).max()) > FITS * size:
            return False
    return True


def rotated(vectors: Tensor, base: float, in_pairs: bool, angles_in_pairs: bool) -> Tensor:
    """Vectors (…, token, width) turned by rotary positions from 0 on.

    What turns together are the numbers 0 and 1, 2 and 3 (`in_pairs`), or those of the first half
    with those of the second. The angles are laid out in one of these ways too: one that is not the
    same is a mistake.
    """
    n_tokens, width = vectors.shape[-2:]
    at = torch.arange(n_tokens, dtype=torch.float64)[:, None]
    angles = at / base ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = angles.repeat_interleave(2, -1) if angles_in_pairs else angles.repeat(1, 2)
    if in_pairs:
        quarter = torch.stack((-vectors[..., 1::2], vectors[..., ::2]), -1).flatten(-2)
    else:
        quarter = torch.cat((-vectors[..., width // 2 :], vectors[..., : width // 2]), -1)
    return vectors * angles.cos() + quarter * angles.sin()


def window_of(weights: Tensor, seen: Tensor) -> int | None:
    """How many tokens a window lets a query see on one side, itself among them; None for none."""
    has_weight = weights > 1e-12
    widths = range(2, len(seen))
    return next((n for n in widths if (has_weight == (seen & Ways(n).sees(len(seen)))).all()), None)
