"""Where an example has most to show. What a lesson opens with is found here, not set by hand."""

import math

import torch
from torch import Tensor


def effect_of_rows(weights: Tensor) -> Tensor:
    """How much each row of weights (…, query, key) says of other tokens than its own: (…, query).

    For each other key the weight p is compared with an even share 1/n of the n keys that the row
    sees: the sum of p · log(p · n), as in the divergence of Kullback and Leibler. A row that is
    even, or that gives all to its own token, has 0.
    """
    shares = weights.double()
    n_seen = (shares > 0).sum(dim=-1, keepdim=True)
    told = torch.special.xlogy(shares, shares * n_seen)
    if told.shape[-1] == told.shape[-2]:
        told = told.masked_fill(torch.eye(told.shape[-1], dtype=torch.bool), 0.0)
    return told.nan_to_num().sum(dim=-1)


def telling_query(weights: Tensor) -> int:
    """The query whose row says most, of weights (query, key) or (head, query, key)."""
    effects = effect_of_rows(weights)
    return int(effects.reshape(-1, effects.shape[-1]).sum(dim=0).argmax())


def other_telling_query(weights: Tensor, first: int) -> int:
    """Of weights (query, key), the query whose row says most beside the `first` one's: neither a
    copy of that row, nor of any other where there are such rows. The first where it is alone.
    """
    rows = weights.double()
    alike = (rows[:, None] - rows).abs().amax(dim=-1) <= 1e-6  # (query, query)
    order = effect_of_rows(weights).argsort(descending=True, stable=True).tolist()
    others = [query for query in order if not alike[query, first]]
    alone = [query for query in others if alike[query].sum() == 1]
    return next(iter((*alone, *others)), first)


def telling_head(weights: Tensor) -> int:
    """The head of weights (head, query, key) that says most, all its rows together."""
    return int(effect_of_rows(weights).sum(dim=-1).argmax())


def parting_row(scores: Tensor) -> int:
    """The row whose softmax lifts most above its share by the sum; first, one without shares."""
    scores = scores.double()
    by_the_sum = scores / scores.sum(dim=-1, keepdim=True)
    most, at = scores.softmax(dim=-1).max(dim=-1)
    lifts = most - by_the_sum.gather(-1, at.unsqueeze(-1)).squeeze(-1)
    lifts[(by_the_sum < 0).any(dim=-1) & by_the_sum.isfinite().all(dim=-1)] = 1.0
    return int(lifts.nan_to_num(0.0, 0.0, 0.0).argmax())


def passes_zero(scores: Tensor, step: float, most: float) -> float:
    """The multiple of `step` that, added to all scores (key,), takes their sum just past 0, so that
    a share by the sum turns over: from above 0 to below, or from below to above. At most so large;
    0 where a score is hidden.
    """
    total, n = scores.double().sum().item(), len(scores)
    if not math.isfinite(total):
        return 0.0
    past = math.floor(-total / n / step) if total > 0 else math.ceil(-total / n / step)
    if abs(total + past * step * n) < 1e-6:  # just at 0 there are no shares
        past += -1 if total > 0 else 1
    return min(max(past * step, -most), most)


def spreads_most(scores: Tensor, step: float, most: float) -> float:
    """The multiple of `step`, up to so much, by which scores (key,) are multiplied to move most of
    their softmax: by the total variation. The smallest where none moves anything.
    """
    factors = torch.arange(1, round(most / step) + 1, dtype=torch.float64) * step
    weights = (factors.unsqueeze(-1) * scores.double()).softmax(dim=-1)
    moved = (weights - scores.double().softmax(dim=-1)).abs().sum(dim=-1).nan_to_num()
    return factors[int(moved.argmax())].item()


def moving_vector(scores: Tensor) -> int:
    """The token whose vector, twice as long, moves most weight of the others (query, key)."""
    scores = scores.double()
    n_tokens = len(scores)
    stretched = scores + torch.eye(n_tokens).unsqueeze(1) * scores  # (stretched, query, key)
    moved = (stretched.softmax(dim=-1) - scores.softmax(dim=-1)).abs().sum(dim=-1)
    return int(moved.masked_fill(torch.eye(n_tokens, dtype=torch.bool), 0.0).sum(dim=-1).argmax())


def spread_entries(vectors: Tensor, weights: Tensor) -> tuple[int, int]:
    """The two entries in which vectors (key, d_in) differ most by weights (key,), or (0, 0)."""
    vectors, weights = vectors.double(), weights.double()
    spread = (weights @ (vectors - weights @ vectors) ** 2).round(decimals=9).tolist()
    most = sorted(sorted(range(len(spread)), key=lambda at: -spread[at])[:2])
    return most[0], most[-1]


def largest_cell(table: Tensor) -> tuple[int, ...]:
    """The place of the finite number that is farthest from 0: what an update moves most."""
    sizes = table.float().abs().nan_to_num(0.0, 0.0)
    # Not by `torch.unravel_index`, which imports sympy first: a third of a second, and 40 MB.
    return tuple((sizes == sizes.max()).nonzero()[0].tolist())
