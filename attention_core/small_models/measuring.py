"""How a network is measured on texts that it was not trained on."""

from collections.abc import Sequence
from copy import deepcopy

import torch
from torch import Tensor

from .figures import TEXTS, Figures
from .grammar import ANIMALS, WORDS
from .heads import KINDS, Kind, noun_of
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
        after_it=verbs_after_it(network, ids),
        after_it_without=verbs_without_each(network, ids),
    )


@torch.no_grad()
def verbs_after_it(network: Network, ids: Tensor) -> dict[str, float]:
    """The mean chance of the verbs of the animal that "it" stands for, by the word before "it"."""
    chances = network(ids)[0].softmax(-1)
    found: dict[str, list[Tensor]] = {"because": [], "but": []}
    for text, places in enumerate(ids.tolist()):
        words = [WORDS[place] for place in places]
        for query, word in enumerate(words):
            if word == "it":
                verbs = [WORDS.index(verb) for verb in ANIMALS[words[noun_of(words, query)]]]
                found[words[query - 1]].append(chances[text, query, verbs].sum())
    return {joint: round(torch.stack(each).mean().item(), 4) for joint, each in found.items()}


def verbs_without_each(network: Network, ids: Tensor) -> dict[str, list[list[float]]]:
    """The same with one head switched off: (layer, head), by the word before "it"."""
    n_layers, n_heads = network.W_output.shape[:2]
    found: dict[str, list[list[float]]] = {}
    for layer in range(n_layers):
        for head in range(n_heads):
            less = deepcopy(network).requires_grad_(False)
            less.W_output[layer, head] = 0
            for joint, chance in verbs_after_it(less, ids).items():
                table = found.setdefault(joint, [[] for _ in range(n_layers)])
                table[layer].append(chance)
    return found


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
