"""Gradient descent, really done, on one attention layer and one sentence: embeddings → queries,
keys, values → causal attention → context vectors → a linear layer → a logit for each distinct
token.

Each position is to predict the token after it, by mean cross-entropy. Four matrices learn; the
embeddings stay, and there is no bias, residual or position vector, so that all comes through the
attention. A `width` of about ten times what seems to be needed keeps it from getting stuck: two
queries that look wholly at one key have equal context vectors (a loss of ln 2 each), and a softmax
of 0 or 1 has no gradient left to part them.

Source: Vaswani et al. 2017, Attention Is All You Need, sections 3.2.1 and 3.2.3.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..operations.base import kind_of
from ..utils.validation import validated

MAX_TOKENS = 64
MAX_WIDTH = 64
"""Largest width, of the embeddings as of queries, keys and values."""
MAX_STEPS = 5_000
MAX_RECORDS = 100
MAX_RECORDED = 500_000
"""At most so many numbers are kept in the records of one run: 2 MB."""


@validated
@dataclass(frozen=True)
class TrainingSettings:
    """How to train; the same settings and data, the same curve. Raises ValueError out of range."""

    steps: int = 2_000
    learning_rate: float = 0.2
    seed: int = 28
    """A start from which every example goes down smoothly, so that it ends alike everywhere."""
    width: int = 32
    """Width of queries, keys and values."""
    scaled: bool = True
    """Whether scores are divided by √width."""

    def __post_init__(self) -> None:
        if not 1 <= self.steps <= MAX_STEPS:
            raise ValueError(f"{self.steps} steps: choose 1 to {MAX_STEPS:,}")
        if not 1 <= self.width <= MAX_WIDTH:
            raise ValueError(f"a width of {self.width}: choose 1 to {MAX_WIDTH}")
        if not 0 <= self.learning_rate < math.inf:
            raise ValueError(f"a learning rate of {self.learning_rate}: choose 0 or more")


class Matrices(NamedTuple):
    """All that is learned."""

    W_query: Tensor
    """(d_in, width), as W_key and W_value."""
    W_key: Tensor
    W_value: Tensor
    W_output: Tensor
    """(width, vocabulary): a column for each distinct token of the sentence."""


@dataclass(frozen=True, eq=False)
class TrainingRecord:
    """The layer after `step` updates. Loss, gradient and weights are those of these matrices."""

    step: int
    loss: float
    gradient_norm: float
    """Of all four gradients together: √ of the sum of the squares of their entries."""
    matrices: Matrices
    weights: Tensor
    """(query, key)"""
    diverged: bool
    """Whether loss or gradient is not finite; this is then the last record, and may hold nan."""


@validated
def next_tokens(tokens: Sequence[str]) -> Tensor:
    """What each position but the last predicts (query,): tokens numbered as they first appear."""
    numbers = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    return torch.tensor([numbers[token] for token in tokens[1:]], dtype=torch.long)


def predict(embeddings: Tensor, matrices: Matrices, scaled: bool = True) -> tuple[Tensor, Tensor]:
    """One pass through the layer, from embeddings (token, d_in): its weights (query, key), and its
    logits (query, vocabulary).

    Operation by operation what a trace of the same steps computes, to the last bit. The last
    position predicts too, a token that the sentence does not have.
    """
    queries, keys, values = (embeddings @ matrix for matrix in matrices[:3])
    scores = queries @ keys.mT
    scaled_scores = scores / math.sqrt(queries.shape[-1]) if scaled else scores
    may_look = torch.ones(scores.shape, dtype=torch.bool).tril()
    weights = scaled_scores.masked_fill(~may_look, -math.inf).softmax(dim=-1)
    return weights, weights @ values @ matrices.W_output


@validated
def train(
    embeddings: Tensor, targets: Tensor, settings: TrainingSettings = TrainingSettings()
) -> Iterator[TrainingRecord]:
    """Train on one sentence: embeddings (token, d_in), targets as `next_tokens` gives them.

    Yields a record at step 0, at the last step, and at up to 98 steps between, fewer of large
    layers: each of the first ones, then ever fewer, since most happens early. Stop by taking no
    more of them. A learning rate that is too large ends in a record that says `diverged`, with no
    exception. Where each prefix of the sentence repeats a single token ("no no no yes"), its
    positions have equal context vectors and the loss cannot reach 0.

    The cost is bounded: at most 64 tokens, widths of 64, 5,000 steps. Raises ValueError, before
    the first record, for more than that, or where there is nothing to predict.
    """
    if embeddings.ndim != 2 or targets.dtype != torch.long:
        raise ValueError(
            f"embeddings have {embeddings.ndim} axes and targets numbers of {kind_of(targets)}, "
            "but must have two, (token, d_in), and whole numbers, as next_tokens gives them"
        )
    n_tokens, d_in = embeddings.shape
    if n_tokens < 2:
        raise ValueError("a sentence of one token has no next token to predict: add a word")
    if n_tokens > MAX_TOKENS:
        raise ValueError(f"{n_tokens} tokens are too many to train on: at most {MAX_TOKENS}")
    if d_in > MAX_WIDTH:
        raise ValueError(f"embeddings of width {d_in} are too wide to train on: {MAX_WIDTH} fit")
    if targets.shape != (n_tokens - 1,):
        raise ValueError(
            f"{n_tokens} tokens have {n_tokens - 1} next ones, but there are targets of shape "
            f"{tuple(targets.shape)}"
        )
    return _records(embeddings.detach().clone(), targets.clone(), settings)


def _records(
    embeddings: Tensor, targets: Tensor, settings: TrainingSettings
) -> Iterator[TrainingRecord]:
    n_distinct = int(targets.max()) + 1
    matrices = start(embeddings.shape[1], n_distinct, settings, embeddings.dtype)
    n_tokens, d_in = embeddings.shape
    recorded = {*recorded_steps(settings, n_tokens, d_in, n_distinct)}
    for step in range(settings.steps + 1):
        loss, weights, gradients = _descent(embeddings, targets, matrices, settings.scaled)
        norm = math.sqrt(sum(g.double().square().sum().item() for g in gradients))
        diverged = not (math.isfinite(loss) and math.isfinite(norm))
        if step in recorded or diverged:
            kept = Matrices(*(matrix.clone() for matrix in matrices))
            yield TrainingRecord(step, loss, norm, kept, weights.clone(), diverged)
        if diverged:
            return
        pairs = zip(matrices, gradients, strict=True)
        matrices = Matrices(*(matrix - settings.learning_rate * g for matrix, g in pairs))


def start(d_in: int, n_distinct: int, settings: TrainingSettings, dtype: torch.dtype) -> Matrices:
    """The matrices a training begins with, as `torch.nn.Linear` starts, transposed."""
    generator = torch.Generator().manual_seed(settings.seed)

    def draw(n_rows: int, n_columns: int) -> Tensor:
        bound = n_rows**-0.5
        drawn = torch.empty(n_columns, n_rows).uniform_(-bound, bound, generator=generator)
        return drawn.T.contiguous().to(dtype)

    width = settings.width
    return Matrices(
        draw(d_in, width), draw(d_in, width), draw(d_in, width), draw(width, n_distinct)
    )


def recorded_steps(
    settings: TrainingSettings, n_tokens: int, d_in: int, n_distinct: int
) -> tuple[int, ...]:
    """The steps that `train` records, closer together at first; one that diverges ends earlier."""
    kept_a_step = (3 * d_in + n_distinct) * settings.width + n_tokens**2
    last = min(MAX_RECORDS, MAX_RECORDED // kept_a_step) - 1
    if settings.steps <= last:
        return tuple(range(settings.steps + 1))
    # The i-th lies at i, plus a square's share of what is left.
    rest = settings.steps - last
    return tuple(i + rest * i * i // (last * last) for i in range(last + 1))


@torch.enable_grad()
def _descent(
    embeddings: Tensor, targets: Tensor, matrices: Matrices, scaled: bool
) -> tuple[float, Tensor, tuple[Tensor, ...]]:
    """The loss, the weights, and the gradient of the loss for each matrix, all detached."""
    learned = Matrices(*(matrix.detach().requires_grad_() for matrix in matrices))
    weights, logits = predict(embeddings, learned, scaled)
    loss = cross_entropy(logits[:-1], targets)
    return loss.item(), weights.detach(), torch.autograd.grad(loss, learned)
