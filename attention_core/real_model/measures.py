"""What a head does in a sentence: the share of its weight that goes where a measure looks, on
average over all tokens that have such a place.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

NEAR = 3
"""How many tokens count as near, the token itself among them."""


@dataclass(frozen=True)
class Measure:
    """A measure of heads: its name, what it says in one sentence, and where it looks."""

    name: str
    words: str
    looks: Callable[[Tensor], Tensor] | None
    """From the ids of the tokens (token,), which keys each query is expected to look at (query,
    key); None for what no place says.
    """

    def scores(self, weights: Tensor, ids: Sequence[int]) -> Tensor:
        """For weights (…, query, key), a number from 0 to 1 for each head (…); 0 where no token of
        the sentence has a place that counts.
        """
        if self.looks is None:
            return _spread(weights)
        there = self.looks(torch.tensor(list(ids)))
        asks = there.any(dim=-1)
        if not asks.any():
            return torch.zeros(weights.shape[:-2])
        return (weights * there).sum(dim=-1)[..., asks].mean(dim=-1)

    def pairs(self, ids: Sequence[int]) -> Tensor:
        """Which keys each query is expected to look at (query, key); none where no place says."""
        if self.looks is None:
            return torch.zeros(len(ids), len(ids), dtype=torch.bool)
        return self.looks(torch.tensor(list(ids)))


def _below(ids: Tensor, diagonal: int) -> Tensor:
    """All keys that are so much earlier than the query, or more."""
    return torch.ones(len(ids), len(ids), dtype=torch.bool).tril(diagonal)


def _previous(ids: Tensor) -> Tensor:
    return _below(ids, -1) & ~_below(ids, -2)


def _first(ids: Tensor) -> Tensor:
    there = torch.zeros(len(ids), len(ids), dtype=torch.bool)
    there[1:, 0] = True
    return there


def _same(ids: Tensor) -> Tensor:
    return (ids[:, None] == ids) & _below(ids, -1)


def _induction(ids: Tensor) -> Tensor:
    there = torch.zeros(len(ids), len(ids), dtype=torch.bool)
    there[:, 1:] = _same(ids)[:, :-1]
    return there & _below(ids, 0)


def _near(ids: Tensor) -> Tensor:
    there = _below(ids, 0) & ~_below(ids, -NEAR)
    there[:NEAR] = False  # they see no more than that
    return there


def _spread(weights: Tensor) -> Tensor:
    """To how many tokens a query gives its weight, e to the entropy, as a share of those to which
    it gives any: 1 where all have the same.
    """
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    seen = (weights > 0).sum(dim=-1)
    share = entropy.exp() / seen
    more = seen > 1
    return (share * more).sum(dim=-1) / more.sum(dim=-1).clamp(min=1)


MEASURES = {
    each.name: each
    for each in (
        Measure(
            "previous token",
            "Looks at the token just before: the share of weight that goes there.",
            _previous,
        ),
        Measure(
            "first token",
            "Looks at the first token: a sink, where weight goes that has nowhere better to go.",
            _first,
        ),
        Measure(
            "same token",
            "Looks from a token that has come before at where it stood.",
            _same,
        ),
        Measure(
            "induction",
            "Looks from a token that has come before at what followed it then: so it can say "
            "what will follow now.",
            _induction,
        ),
        Measure(
            "near tokens",
            f"Looks at the {NEAR} nearest tokens, the token itself among them.",
            _near,
        ),
        Measure(
            "spread",
            "Looks at many tokens alike: to how many of them a token gives its weight, as a share "
            "of all that it sees.",
            None,
        ),
    )
}
"""The measures by name."""
