"""How a network is measured on texts that it was not trained on."""

from collections.abc import Sequence

import torch
from torch import Tensor

from .figures import TEXTS, Figures
from .grammar import WORDS
from .heads import KINDS, Kind
from .network import Network
from .tiny_language import Texts, bigram_loss, loss


def measure(network: Network, untrained: Network, texts: Texts, learned_from: Texts) -> Figures:
    """The figures of a network and its untrained start, and of pairs of words it learned from."""
    ids = texts.ids[:TEXTS, :-1]
    after, before = shares(network, ids), shares(untrained, ids)
    return Figures(
        loss=loss(network, texts),
        entropy=texts.entropy,
        bigram=bigram_loss(learned_from, texts),
        scores={name: _rounded(share.mean(-1)) for name, share in after.items()},
        untrained={name: _rounded(share.mean(-1)) for name, share in before.items()},
    )


@torch.no_grad()
def shares(network: Network, ids: Tensor, kinds: Sequence[Kind] = KINDS) -> dict[str, Tensor]:
    """By kind: the share of weight where it would look (layer, head, look), over all texts."""
    _, weights = network(ids)  # (layer, text, head, query, key)
    texts = [[WORDS[place] for place in text] for text in ids.tolist()]
    found = {}
    for kind in kinds:
        looked = [
            weights[:, text, :, query, list(keys)].sum(-1)
            for text, words in enumerate(texts)
            for query, keys in kind.looks(words)
        ]
        none = weights.new_zeros(len(weights), weights.shape[2], 0)
        found[kind.name] = torch.stack(looked, -1) if looked else none
    return found


def _rounded(numbers: Tensor) -> list:
    return (numbers.double() * 10_000).round().div(10_000).tolist()
