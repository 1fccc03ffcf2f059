"""A network trained on the tiny language, and its loss: the mean of −log of the chance it gave to
each word that came. None can be below the entropy, the grammar's own chances; a bigram model knows
only how often each word follows each other one.
"""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..operations import Sinusoid
from .grammar import LONGEST, WORDS, spoken
from .network import Network, Size

SIZE = Size(n_tokens=len(WORDS), n_positions=LONGEST)
HELD_OUT = 1_000_003
"""The seed of texts that no training sees."""
_ID = {word: place for place, word in enumerate(WORDS)}


@dataclass(frozen=True)
class Texts:
    """Texts of the grammar, one a row, each a word longer than a network reads."""

    ids: Tensor
    """(text, word)"""
    chances: Tensor
    """(text, word): what the grammar gave each word, given those before."""

    @property
    def entropy(self) -> float:
        """The mean of −log of the chance of each word but the first, which is always the same."""
        return -self.chances[:, 1:].log().mean().item()


def told(n_texts: int, seed: int) -> Texts:
    """So many texts: the same ones for a seed, anywhere."""
    source = random.Random(seed)
    texts = [spoken(source, SIZE.n_positions + 1) for _ in range(n_texts)]
    ids = [[_ID[word] for word in words] for words, _ in texts]
    return Texts(torch.tensor(ids), torch.tensor([chances for _, chances in texts]))


def as_ids(words: list[str]) -> Tensor:
    """The ids of words (token,)."""
    return torch.tensor([_ID[word] for word in words])


@torch.no_grad()
def loss(network: Network, texts: Texts) -> float:
    """The network's mean loss a word."""
    logits, _ = network(texts.ids[:, :-1])
    return cross_entropy(logits.flatten(0, 1), texts.ids[:, 1:].flatten()).item()


def bigram_loss(learned_from: Texts, texts: Texts) -> float:
    """The mean loss a word of pairs counted in other texts, one added to each count."""
    counts = torch.ones(SIZE.n_tokens, SIZE.n_tokens)
    pairs = learned_from.ids[:, :-1].flatten(), learned_from.ids[:, 1:].flatten()
    counts.index_put_(pairs, torch.tensor(1.0), accumulate=True)
    chances = counts / counts.sum(-1, keepdim=True)
    return -chances[texts.ids[:, :-1], texts.ids[:, 1:]].log().mean().item()


@dataclass(frozen=True)
class TrainingPlan:
    """How to train. Same plan, same network, as far as processors add in the same order."""

    seed: int = 0
    steps: int = 1_500
    n_texts: int = 24_000
    batch: int = 96
    learning_rate: float = 0.005
    sharpen: float = 0.03
    """What an undecided head costs: so many times the entropy of its weights, on average, is added
    to the loss, little at first and all of it from half of the steps on. It is for the reader:
    without it the loss is as low and heads get names as well, but they look less clearly where
    their names say."""


def untrained(seed: int) -> Network:
    """A network before training: drawn, but for positions, which begin as waves."""
    network = Network(SIZE, seed)
    with torch.no_grad():
        network.W_position.copy_(Sinusoid(SIZE.n_positions, SIZE.d_model).value())
    return network


def train(plan: TrainingPlan, texts: Texts) -> Iterator[tuple[int, float, Network]]:
    """Adam on batches of the texts, its rate rising for 50 steps and falling to 0 along a cosine.

    Yields how many steps are done, the loss of the last batch, and the network, which goes on
    being changed.
    """
    network = untrained(plan.seed)
    adam = torch.optim.Adam(network.parameters(), plan.learning_rate, betas=(0.9, 0.98))
    generator = torch.Generator().manual_seed(plan.seed)
    for step in range(plan.steps):
        rate = min(1, (step + 1) / 50) * (1 + math.cos(math.pi * step / plan.steps)) / 2
        adam.param_groups[0]["lr"] = plan.learning_rate * rate
        ids = texts.ids[torch.randint(len(texts.ids), (plan.batch,), generator=generator)]
        logits, weights = network(ids[:, :-1])
        wrong = cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        adam.zero_grad()
        undecided = -(weights * (weights + 1e-9).log()).sum(-1).mean()
        (wrong + plan.sharpen * min(1, 2 * step / plan.steps) * undecided).backward()
        adam.step()
        yield step + 1, wrong.item(), network


def shorten(network: Network, digits: int = 4) -> None:
    """End a training: round each parameter, so that a program that holds them stays short."""
    network.requires_grad_(False)
    for parameter in network.parameters():
        parameter.copy_((parameter.double() * 10**digits).round() / 10**digits)
