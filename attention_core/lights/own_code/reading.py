"""What can be read off weights: what they add up to, and which scores they were made from."""

import torch
from torch import Tensor

NEAR = 1e-4
"""How far two ways to the same weights may be apart in float32."""
FITS = 1e-3
"""How much of a pattern may be left over where it fits."""
SMALLEST = 1e-30


def may_look(n_tokens: int, causal: bool) -> Tensor:
    """(query, key): True where a query may look."""
    seen = torch.ones(n_tokens, n_tokens, dtype=torch.bool)
    return seen.tril() if causal else seen


def is_near(one: Tensor, other: Tensor | float) -> bool:
    """Whether all numbers are the same but for rounding."""
    return largest_gap(one, other) <= NEAR


def largest_gap(one: Tensor, other: Tensor | float) -> float:
    """The largest difference, as a share of the largest number where that is above 1.

    nan where there is any, which is not near anything.
    """
    other = torch.as_tensor(other, dtype=one.dtype)
    if not one.numel():
        return 0.0
    size = max(1.0, float(one.abs().max()), float(other.abs().max()))
    return float((one - other).abs().max()) / size


def has_few_digits(numbers: Tensor) -> bool:
    """Whether they are rounded as bfloat16 or float16 rounds them."""
    kinds = (torch.bfloat16, torch.float16)
    return any(torch.equal(numbers.to(kind).double(), numbers) for kind in kinds)


def logs(weights: Tensor) -> Tensor:
    """Their logarithms; that of what is not above 0 is very low."""
    return weights.clamp(min=SMALLEST).log()


def centred(numbers: Tensor, seen: Tensor) -> Tensor:
    """Each row less its mean over the keys that are seen; 0 at the others."""
    kept = torch.where(seen, numbers, 0.0)
    mean = kept.sum(-1, keepdim=True) / seen.sum(-1, keepdim=True).clamp(min=1)
    return torch.where(seen, numbers - mean, 0.0)


def factor_of_scores(weights: Tensor, scores: Tensor, seen: Tensor) -> float | None:
    """b where the weights of each row are in the ratios of e^(b · score); None where they are in
    no such ratios. Attention with √d has 1/√d.
    """
    made, expected = centred(logs(weights), seen), centred(scores, seen)
    factor = float((made * expected).sum() / expected.square().sum())
    left = (made - factor * expected).abs().max() / made.abs().max().clamp(min=SMALLEST)
    return factor if left < FITS and factor else None


def slopes_of(weights: Tensor, scores: Tensor, seen: Tensor) -> Tensor | None:
    """How much less, for each token of distance, e's exponent is in each head, (head,), where the
    weights of each row are in the ratios of e^(b · score − slope · distance), as with ALiBi; None
    where they are in no such ratios.
    """
    far = distances(len(seen)).abs().expand_as(scores)
    made, expected, far = (centred(each, seen) for each in (logs(weights), scores, far))
    # The two slopes of the best plane through each head's logs.
    sides = torch.stack([expected.flatten(1), -far.flatten(1)], dim=-1)
    found = torch.linalg.lstsq(sides, made.flatten(1)[..., None]).solution
    left = (made.flatten(1) - (sides @ found)[..., 0]).abs().max()
    slopes = found[:, 1, 0]
    fits = left / made.abs().max().clamp(min=SMALLEST) < FITS
    return slopes if fits and (slopes > -FITS).all() and (slopes > FITS).any() else None


def distances(n_tokens: int) -> Tensor:
    """(query, key): how many tokens the key stands before the query."""
    at = torch.arange(n_tokens, dtype=torch.float64)
    return at[:, None] - at


def is_proportional(weights: Tensor, scores: Tensor, seen: Tensor) -> bool:
    """Whether each row of weights is a number times its row of scores."""
    made, expected = torch.where(seen, weights, 0.0), torch.where(seen, scores, 0.0)
    factor = (made * expected).sum(-1, keepdim=True) / expected.square().sum(-1, keepdim=True)
    return largest_gap(made, factor * expected) < FITS


def hidden_scores(weights: Tensor, scores: Tensor, seen: Tensor, factor: float) -> Tensor:
    """Which scores, already divided, the hidden keys were given, by the weights that they got."""
    offset = torch.where(seen, logs(weights) - factor * scores, 0.0).sum(-1, keepdim=True)
    offset = offset / seen.sum(-1, keepdim=True)
    return (logs(weights) - offset)[(~seen).expand_as(weights)]


def rows_not_finite(output: Tensor) -> list[int]:
    """The rows that hold nan or infinity."""
    return [row for row, numbers in enumerate(output) if not numbers.isfinite().all()]


def range_of(sums: Tensor) -> str:
    """What rows sum to, in words."""
    low, high = float(sums.min()), float(sums.max())
    return f"rows sum to {low:.3g}" + (f" … {high:.3g}" if high - low > NEAR else "")
