"""What stands around attention in a layer: normalisation and the rectifier."""

import math
from dataclasses import dataclass
from itertools import product

import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from ..expression import Called, Cell, Expression, Standardised
from .base import Operation, row

EPSILON = 1e-5
"""Added to the variance by torch's `layer_norm`, so that equal entries do not divide by zero."""


@dataclass(frozen=True)
class LayerNorm(Operation):
    """Entries less their mean, divided by their standard deviation: of each row, or of the `whole`
    matrix, which is a mistake: rows then depend on one another. (token, d) → (token, d)

    Source: Ba et al. 2016, Layer Normalization.
    """

    takes = "(…, d)"

    whole: bool = False

    def value(self, vectors: Tensor) -> Tensor:
        return layer_norm(vectors, vectors.shape if self.whole else vectors.shape[-1:])

    def formula(self, vectors: str) -> str:
        return rf"\operatorname{{norm}}({vectors})"

    def code(self, vectors: str) -> str:
        axes = f"{vectors}.shape" if self.whole else f"{vectors}.shape[-1:]"
        return f"torch.nn.functional.layer_norm({vectors}, {axes})"

    def arithmetic(self, index: tuple[int, ...], vectors) -> Expression:
        if self.whole:
            places = list(product(*map(range, vectors.value.shape)))
            return Standardised(tuple(map(vectors.cell, places)), places.index(index), EPSILON)
        return Standardised(row(vectors, index), index[-1], EPSILON)

    def words(self) -> str:
        of = "the whole matrix" if self.whole else "its row"
        return f"The entry minus the mean of {of}, divided by the standard deviation of {of}."


@dataclass(frozen=True)
class ReLU(Operation):
    """Negative numbers become 0. (…) → (…)"""

    takes = "(…)"

    def value(self, vectors: Tensor) -> Tensor:
        return torch.relu(vectors)

    def formula(self, vectors: str) -> str:
        return rf"\max(0, {vectors})"

    def code(self, vectors: str) -> str:
        return f"torch.relu({vectors})"

    def arithmetic(self, index: tuple[int, ...], vectors) -> Expression:
        cell: Cell = vectors.cell(index)
        return Called(_positive_part, r"\max(0, {})", cell)

    def words(self) -> str:
        return "The number itself, or 0 if it is negative."


def _positive_part(value: float) -> float:
    return value if math.isnan(value) else max(0.0, value)
