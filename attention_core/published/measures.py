"""What only the stories of the notebooks measure: their recipes may call each function here."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from ..experiments.variance import Trials, variance_theory
from ..text.inputs import RANDOM_ID_ROWS

TRIALS = 1_000
"""Of each printed variance."""


def naive_softmax(scores: Tensor, dim: int = -1) -> Tensor:
    """Softmax as its formula is written: nothing keeps e to the scores within float32."""
    powers = scores.exp()
    return powers / powers.sum(dim, keepdim=True)


def randn(*shape_and_seed: int) -> Tensor:
    """Standard normal numbers of a shape, from a seed, which comes last."""
    *shape, seed = shape_and_seed
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def beside_diagonal(scores: Tensor) -> Tensor:
    """What stands beside the diagonal of (…, token, token), in one row: (…, pair)."""
    return scores[..., ~torch.eye(scores.shape[-1], dtype=torch.bool)]


def cosines(vectors: Tensor) -> Tensor:
    """Of each two of the vectors (token, d)."""
    units = F.normalize(vectors, dim=-1)
    return beside_diagonal(units @ units.mT)


def with_last(vectors: Tensor, factor: float, added: float) -> Tensor:
    """The vectors (token, d) with another last one."""
    return torch.cat([vectors[:-1], vectors[-1:] * factor + added])


def refusal(matrix: Tensor, vectors: Tensor) -> str:
    """What torch says of a product that does not fit; "" where it does."""
    try:
        matrix @ vectors
    except RuntimeError as error:
        return str(error).split("(")[-1].rstrip(")")
    return ""


def missing(ids: Tensor, table: Tensor) -> list[int]:
    """The rows of a table that are nobody's."""
    return sorted({*range(len(table))} - {*ids.tolist()})


def collision(n_ids: int) -> float:
    """The chance that two of so many random ids are the same."""
    return 1 - math.prod(1 - place / RANDOM_ID_ROWS for place in range(n_ids))


def product_variance(d: int, distribution: str = "normal", spread: float = 1.0) -> float:
    """The variance of the dot product of two random vectors so wide."""
    return variance_theory(Trials(d, distribution=distribution, spread=spread)).variance


def standard_error(d: int) -> float:
    """How far a printed variance is off, typically."""
    return variance_theory(Trials(d)).standard_error(TRIALS)


def box_muller(uniforms: Tensor) -> Tensor:
    """The 16 normal numbers that torch makes of pairs of uniform ones (Box and Muller 1958)."""
    lengths = (-2 * (1 - uniforms[:8].double()).log()).sqrt()
    angles = 2 * math.pi * uniforms[8:16].double()
    return torch.cat([lengths * angles.cos(), lengths * angles.sin()])
