"""The traces that the stories are told from, and what several of them measure."""

from functools import lru_cache

import torch
from torch import Tensor

from ...examples import EXAMPLES
from ...mechanism.masking import attend_masked
from ...text.embedding import embed
from ...trace import Trace
from ..building import BUILDERS

WILD_CAT, JOURNEY, DAVE = "wild_cat", "journey_123", "sorry_dave"
DAVE_FIRST, LIFE, JOURNEY_AGAIN = "sorry_dave_first_run", "life_is_short", "journey_789"


@lru_cache(maxsize=1)
def traced(example: str, lesson: str, query: int | None = None) -> Trace:
    """The trace of a lesson on an example: a key of `BUILDERS`."""
    return BUILDERS[lesson](EXAMPLES[example], query)


@lru_cache(maxsize=1)
def masked(example: str) -> Trace:
    """Causal attention on the embeddings, its scores divided by √d, hidden in every way."""
    return attend_masked(embed(EXAMPLES[example].inputs))


def vectors(example: str) -> Tensor:
    """The embeddings of an example (token, d_in)."""
    return embed(EXAMPLES[example].inputs)["embeddings"].value


def future(n_tokens: int) -> Tensor:
    """True where a key comes after the query (query, key)."""
    return torch.ones(n_tokens, n_tokens, dtype=torch.bool).triu(1)


def apart(left: Tensor, right: Tensor) -> float:
    """The largest difference between two tensors of one shape."""
    return (left - right).abs().max().item()


def own(weights: Tensor) -> Tensor:
    """What each query gives to itself."""
    return weights.diagonal(dim1=-2, dim2=-1)


def naive_softmax(scores: Tensor, dim: int = -1) -> Tensor:
    """Softmax as its formula is written: nothing keeps e to the scores within float32."""
    powers = scores.exp()
    return powers / powers.sum(dim, keepdim=True)


def random_sentences() -> Tensor:
    """2,000 sentences of eight words with standard normal vectors (sentence, token, 32)."""
    return torch.randn(2000, 8, 32, generator=torch.Generator().manual_seed(0))
