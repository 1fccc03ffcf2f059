"""What heads do over many sentences (Transformer Circuits 2026, HeadVis)."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from ..small_models.grammar import LONGEST, spoken
from .measures import MEASURES
from .model import Model
from .run import run

ENGLISH = Path(__file__).with_name("sentences.txt")
"""200 sentences of our own, a line each: ten kinds, from lists to code, 20 of each."""
N_OF_EACH = 20
N_TINY, SHORTEST, SEED = 60, 8, 31
"""So many sentences of the tiny language, of how many words at least, and drawn how."""
MOST_PAIRS = 10
MOST_TOKENS = 64
"""A sentence of more tokens is left out: in a model that cuts words into bytes, say."""


@dataclass(frozen=True)
class Pair:
    """A token that looks at another one: in which sentence, from where to where, how hard."""

    weight: float
    sentence: int
    query: int
    key: int


@dataclass(frozen=True)
class Survey:
    """What the heads of a model did over the sentences that have been read."""

    n_read: int
    """Sentences that were read: those that the model has no words for are left out."""
    means: Tensor
    """For each of MEASURES the mean over all queries of all sentences that it could be asked of,
    float64 (measure, layer, head): a long sentence counts for more than a short one. NaN where
    there was no such query.
    """
    n_queries: tuple[int, ...]
    """How many queries these are a mean of, for each measure."""
    n_sentences: tuple[int, ...]
    """In how many sentences they stand, for each measure."""
    pair_weights: Tensor
    """The strongest pairs of tokens of each head, float32 (layer, head, rank); 0 for none. The
    first token is left out as a key, since heads that look for something which is not there rest on
    it and would have no other pair; so is a token that looks at itself.
    """
    pair_places: Tensor
    """Where they stand, int64 (layer, head, rank, 3): the number of the sentence, query, key."""

    def mean(self, measure: str, layer: int, head: int) -> float:
        """One head's mean, by the measure's name in MEASURES."""
        return float(self.means[_NAMES.index(measure), layer, head])

    def asked(self, measure: str) -> tuple[int, int]:
        """How many queries a measure was asked of, and in how many sentences."""
        at = _NAMES.index(measure)
        return self.n_queries[at], self.n_sentences[at]

    def pairs(self, layer: int, head: int) -> list[Pair]:
        """The strongest pairs of one head, the strongest first."""
        weights, places = self.pair_weights[layer, head], self.pair_places[layer, head]
        return [
            Pair(weight, *place)
            for weight, place in zip(weights.tolist(), places.tolist(), strict=True)
            if weight > 0
        ]


_NAMES = tuple(MEASURES)


@lru_cache(maxsize=1)
def english() -> tuple[str, ...]:
    """Our own sentences, each kind in turn, so that a survey that is stopped has seen all."""
    lines = ENGLISH.read_text(encoding="utf-8").splitlines()
    return tuple(line for first in range(N_OF_EACH) for line in lines[first::N_OF_EACH])


@lru_cache(maxsize=1)
def of_tiny_language() -> tuple[str, ...]:
    """Sentences of the tiny language, by its own grammar: the same ones anywhere."""
    source = random.Random(SEED)
    lengths = [source.randint(SHORTEST, LONGEST - 1) for _ in range(N_TINY)]
    # The first word that is told is the mark before every text, which the tokenizer adds itself.
    return tuple(" ".join(spoken(source, length + 1)[0][1:]) for length in lengths)


def survey(model: Model, sentences: Sequence[str]) -> Iterator[tuple[float, Survey]]:
    """What each head does over these sentences: after each, how much is done, from 0 to 1, and the
    survey of those so far. No run is kept. A sentence that the model cannot read in full, or whose
    weights come to nan, is left out; its number stays its own.
    """
    added = _Sums(model)
    for number, sentence in enumerate(sentences):
        ids = token_ids(model, sentence)
        if ids and (weights := run(model, ids).weights).isfinite().all():
            added.add(number, ids, weights)
        yield (number + 1) / len(sentences), added.survey()


def token_ids(model: Model, sentence: str) -> tuple[int, ...]:
    """The tokens of a sentence as a survey reads it; none where the model cannot read it."""
    try:
        found = model.tokenizer.encode(sentence)
    except ValueError:
        return ()
    most = min(MOST_TOKENS, model.settings.longest or MOST_TOKENS)
    return () if found.unknown or found.left_out or len(found.ids) > most else found.ids


class _Sums:
    """What is added up on the way: as large for a thousand sentences as for one."""

    def __init__(self, model: Model) -> None:
        heads = model.settings.n_layers, model.settings.n_heads
        self.n_read = 0
        self.totals = torch.zeros(len(MEASURES), *heads, dtype=torch.float64)
        self.n_queries, self.n_sentences = [0] * len(MEASURES), [0] * len(MEASURES)
        self.weights = torch.zeros(*heads, MOST_PAIRS)
        self.places = torch.zeros(*heads, MOST_PAIRS, 3, dtype=torch.int64)

    def add(self, number: int, ids: Sequence[int], weights: Tensor) -> None:
        """Add a sentence, by the weights (layer, head, query, key) on its tokens."""
        self.n_read += 1
        exact = weights.double()
        for at, measure in enumerate(MEASURES.values()):
            by_query = measure.by_query(exact, ids)
            self.totals[at] += by_query.sum(-1)
            self.n_queries[at] += by_query.shape[-1]
            self.n_sentences[at] += by_query.shape[-1] > 0
        self._keep_strongest(number, weights)

    def _keep_strongest(self, number: int, weights: Tensor) -> None:
        n = weights.shape[-1]
        counts = ~torch.eye(n, dtype=torch.bool)
        counts[:, 0] = False
        # stable: of pairs that are equally strong, those that come first stay
        found, at = _sorted((weights * counts).flatten(-2))
        found, at = found[..., :MOST_PAIRS], at[..., :MOST_PAIRS]
        places = torch.stack([torch.full_like(at, number), at // n, at % n], dim=-1)
        both, order = _sorted(torch.cat([self.weights, found], dim=-1))
        all_places = torch.cat([self.places, places], dim=-2)
        by_rank = order[..., None].expand(*order.shape, 3)
        self.weights = both[..., :MOST_PAIRS]
        self.places = all_places.gather(-2, by_rank)[..., :MOST_PAIRS, :]

    def survey(self) -> Survey:
        """The sums so far as means. 0 of 0 queries is NaN."""
        means = self.totals / torch.tensor(self.n_queries)[:, None, None]
        return Survey(
            self.n_read, means, tuple(self.n_queries), tuple(self.n_sentences),
            self.weights, self.places,
        )  # fmt: skip


def _sorted(weights: Tensor) -> tuple[Tensor, Tensor]:
    """Weights with the largest first, and where each stood; equal ones in their order."""
    return weights.sort(dim=-1, descending=True, stable=True)
