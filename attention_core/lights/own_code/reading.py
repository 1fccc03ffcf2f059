"""What can be read off weights: what they add up to, and which scores they were made from."""

from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

NEAR = 1e-4
"""How far two ways to the same weights may be apart in float32."""
FITS = 1e-3
"""How much of a pattern may be left over where it fits."""
SMALLEST = 1e-30
NORMS = ("layer, whole", "size, whole", "layer", "size")
"""Norms of queries and keys: by mean and spread, or by size; of the whole width, or a head."""


class Ways(NamedTuple):
    """Ways of today in which attention may look, and need not."""

    window: int | None = None
    """How many tokens a query sees on one side, itself among them; None for all."""
    ahead: int | None = None
    """How many tokens a query sees after itself, where the two sides differ."""
    n_first: int = 0
    """How many tokens at the beginning are seen from everywhere."""
    first_look_everywhere: bool = False
    """Whether these look at all tokens, too."""
    slopes: tuple[float, ...] | None = None
    """By how much each head's scores fall for each token of distance; None for not at all."""
    turns: bool = False
    """Whether the distance counts in another way, as with rotary positions."""
    norm: str = ""
    """How queries and keys are normalised before they meet, a key of `NORMS`; "" for not."""
    factors: tuple[float, ...] | None = None
    """What the cosine of a query and a key is multiplied by in each head."""
    cap: float | None = None
    """What tanh keeps scores below."""
    sinks: tuple[float, ...] | None = None
    """The score, in each head, of what no key stands for and takes weight from every row."""

    @property
    def is_plain(self) -> bool:
        """Whether it goes by no distance."""
        return not (self.window or self.slopes or self.turns)

    def sees(self, n_tokens: int) -> Tensor:
        """(query, key): True where the window lets a query look."""
        far = distances(n_tokens)
        ahead = self.ahead if self.ahead is not None else (self.window or n_tokens) - 1
        is_near_enough = (far < (self.window or n_tokens)) & (far >= -ahead)
        first = torch.arange(n_tokens) < self.n_first
        return is_near_enough | first | (first[:, None] & self.first_look_everywhere)

    def capped(self, scores: Tensor) -> Tensor:
        """Scores below the cap, if there is one."""
        return scores if self.cap is None else self.cap * (scores / self.cap).tanh()

    def without_sink(self, weights: Tensor, scores: Tensor) -> Tensor:
        """What is left of weights (head, query, key) where a sink takes its share."""
        if self.sinks is None:
            return weights
        sinks = torch.tensor(self.sinks, dtype=torch.float64)[:, None, None]
        return weights * (scores.logsumexp(-1, keepdim=True) - sinks).sigmoid()

    def bias(self, n_tokens: int) -> Tensor:
        """What is added to the scores, (head, query, key)."""
        if self.slopes is None:
            return torch.zeros(1, 1, 1, dtype=torch.float64)
        slopes = torch.tensor(self.slopes, dtype=torch.float64)
        return -slopes[:, None, None] * distances(n_tokens).abs()

    def said(self) -> tuple[str, ...]:
        """Each in a sentence."""
        told = []
        if self.window:
            n_others = self.window - 1
            near = f"those up to {n_others} away"
            if self.ahead is not None:
                near = f"{n_others} back and {self.ahead} ahead"
            first = ""
            if self.n_first:
                tokens = "token" if self.n_first == 1 else f"{self.n_first} tokens"
                first = f"; the first {tokens} can always be seen"
                first += ", and see all" if self.first_look_everywhere else ""
            told.append(f"a window: beside itself, a token sees {near}{first}")
        if self.slopes is not None:
            falls = ", ".join(f"{slope:.3g}" for slope in self.slopes)
            told.append(f"a bias by distance, as in ALiBi: for each token, scores fall by {falls}")
        if self.norm:
            is_whole = ", over their whole width, before heads are split"
            end = is_whole if "whole" in self.norm else ""
            told.append(f"queries and keys that are normalised before they meet{end}")
        if self.factors:
            told[-1] = f"scores that are cosines, times {_listed(self.factors)}"
        if self.cap is not None:
            told.append(f"capped scores, tanh keeps them below {self.cap:.3g}")
        if self.sinks is not None:
            zero = all(abs(each) < FITS for each in self.sinks)
            kind = f"a learned sink with a score of {_listed(self.sinks)}"
            kind = "softmax off by one, as with a sink whose score is 0" if zero else kind
            told.append(f"{kind}: rows sum to less than 1")
        if self.turns:
            told.append("scores that depend on the distance, as with rotary positions")
        return tuple(told)


def _listed(numbers: tuple[float, ...]) -> str:
    """Numbers of heads in words, one for all where they are alike."""
    shown = list(dict.fromkeys(f"{0.0 if abs(each) < FITS else each:.3g}" for each in numbers))
    return ", ".join(shown if len(shown) == 1 else [f"{n:.3g}" for n in numbers]).replace("-", "−")


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


def factors_of(weights: Tensor, scores: Tensor, seen: Tensor) -> list[float] | None:
    """As `factor_of_scores`, one for each head of its own."""
    heads = zip(weights[:, None], scores[:, None], strict=True)
    found = [factor_of_scores(weight, score, seen) for weight, score in heads]
    return [each for each in found if each] if all(found) else None


def cap_of(pairs: list[tuple[Tensor, Tensor]], seen: Tensor, start: float) -> tuple | None:
    """b and c where weights are in the ratios of e^(c · tanh(b · score / c)), or None.

    `pairs` are weights and scores. b and c are found by steps of least squares from `start` for b.
    """
    made = torch.cat([centred(logs(weights), seen).flatten() for weights, _ in pairs])

    def rest(found: Tensor) -> Tensor:
        factor, cap = found.exp()
        tried = [centred(cap * (factor * scores / cap).tanh(), seen) for _, scores in pairs]
        return torch.cat([each.flatten() for each in tried]) - made

    for cap in (2.0, 5.0, 20.0, 50.0, 150.0):
        found = torch.tensor([start, cap], dtype=torch.float64).log()
        for _ in range(30):
            left = rest(found)
            steps = 1e-6 * torch.eye(2, dtype=torch.float64)
            slopes = torch.stack([(rest(found + step) - left) / 1e-6 for step in steps], -1)
            step = torch.linalg.lstsq(slopes, -left[:, None]).solution[:, 0]
            if not step.isfinite().all():
                break
            found = found + step.clamp(-0.5, 0.5)
        if float(rest(found).abs().max() / made.abs().max()) < FITS:
            factor, found_cap = found.exp().tolist()
            return factor, found_cap
    return None


def normed_by(vectors: Tensor, norm: str) -> Tensor:
    """Vectors as a norm of queries and keys makes them: by their mean and spread, or their size."""
    if norm.startswith("layer"):
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


def look_of(weights: Tensor, seen: Tensor) -> Ways | None:
    """The window that lets queries see what has weight, and no more; None for none."""
    has_weight, n_tokens = weights > 1e-12, len(seen)
    if (has_weight == seen).all():
        return None
    is_causal = not bool(seen.triu(1).any())
    even = [Ways(back) for back in range(2, n_tokens)]
    sides = product(range(2, n_tokens), range(1, n_tokens - 1))
    uneven = [Ways(back, ahead) for back, ahead in sides if ahead != back - 1]
    tried = even if is_causal else [*even, *uneven]
    for n_first, everywhere in ((0, False), *product(range(1, 5), (False, True))):
        for each in tried:
            if (each.window or 0) + n_first >= n_tokens:
                continue  # it sees all that is before it: a causal mask that ends late, no window
            look = each._replace(n_first=n_first, first_look_everywhere=everywhere)
            if (has_weight == (seen & look.sees(n_tokens))).all():
                return look
    return None
