"""What a head looks at, from 0 to 1, for each head of each layer: means over the queries that can
be asked, NaN for none. What a head does on one sentence need not be what it does on others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

NEAR = 4
"""How many places away a key may be to count as near."""


@dataclass(frozen=True)
class Measure:
    """One measure: its name, what it says in a sentence, and how it is taken."""

    name: str
    words: str
    picks: Callable[[Tensor], tuple[Tensor, Tensor]]
    """Of ids (token,): the keys that count (query, key), and the queries asked (query,)."""

    def of(self, weights: Tensor, ids: Sequence[int]) -> Tensor:
        """Its mean over the queries asked: weights (…, query, key) to (…), NaN for none."""
        return self.by_query(weights, ids).mean(-1).to(weights.dtype)

    def by_query(self, weights: Tensor, ids: Sequence[int]) -> Tensor:
        """What the measure is a mean of: a number for each query that is asked, (…, asked)."""
        counts, asked = self.picks(torch.as_tensor(list(ids)))
        return (weights * counts).sum(-1)[..., asked]


def _places(ids: Tensor) -> tuple[Tensor, Tensor]:
    """The places of queries (query, 1) and of keys (1, key)."""
    places = torch.arange(len(ids))
    return places[:, None], places[None]


def _previous(ids: Tensor) -> tuple[Tensor, Tensor]:
    query, key = _places(ids)
    return key == query - 1, torch.arange(len(ids)) >= 1


def _same(ids: Tensor) -> tuple[Tensor, Tensor]:
    query, key = _places(ids)
    same = (ids[:, None] == ids[None]) & (key < query)
    return same, same.any(-1)


def _after_same(ids: Tensor) -> tuple[Tensor, Tensor]:
    query, key = _places(ids)
    same, _ = _same(ids)
    after = torch.zeros_like(same)
    after[:, 1:] = same[:, :-1]
    after &= key < query  # a token said twice in a row is followed by itself: that is no copying
    return after, after.any(-1)


def _first(ids: Tensor) -> tuple[Tensor, Tensor]:
    _, key = _places(ids)
    return (key == 0).expand(len(ids), -1), torch.arange(len(ids)) >= 1


def _near(ids: Tensor) -> tuple[Tensor, Tensor]:
    query, key = _places(ids)
    # Of a query that sees no key further away, nothing else could come out.
    return (query - key).abs() <= NEAR, torch.arange(len(ids)) > NEAR


class Spread(Measure):
    """How evenly a head looks: the entropy of its weights, as a share of the most it can be."""

    def by_query(self, weights: Tensor, ids: Sequence[int]) -> Tensor:
        """As `Measure.by_query`. Keys of no weight in any head count as hidden."""
        del ids
        entropy = torch.special.entr(weights.double()).sum(-1)
        causal = not weights.triu(1).any()
        n = weights.shape[-1]
        visible = torch.arange(1, n + 1) if causal else torch.full((n,), n)
        asked = visible > 1
        return entropy[..., asked] / visible[asked].double().log()


MEASURES = {
    "previous": Measure(
        "previous token",
        "How much of its weight a token gives to the one just before it.",
        _previous,
    ),
    "same": Measure(
        "same token before",
        "How much of its weight a token gives to earlier places where the same token stands.",
        _same,
    ),
    "induction": Measure(
        "induction (what came next)",
        "How much of its weight a token gives to what came next when it was there before: an "
        "induction head, which can copy what follows.",
        _after_same,
    ),
    "first": Measure(
        "first token (sink)",
        "How much of its weight a token gives to the first one, the attention sink: a place to "
        "rest for a head that looks for something which is not there.",
        _first,
    ),
    "near": Measure(
        f"within {NEAR} places",
        f"How much of its weight a token gives to itself and to tokens at most {NEAR} places away.",
        _near,
    ),
    "spread": Spread(
        "spread",
        "How evenly a token looks at all that it sees: 0 at a single token, 1 at all alike.",
        _first,
    ),
}
"""By the name that an address has for them."""
