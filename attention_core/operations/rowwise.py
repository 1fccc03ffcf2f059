"""The steps of which a softmax and a division by the sum are made, along the last axis."""

import math
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from ..expression import Called, Difference, Expression, Largest, Number, Product, Quotient, Sum
from .base import Operation, row
from .given import written

PRECISIONS = ("float32", "float16", "bfloat16")


@dataclass(frozen=True)
class Shift(Operation):
    """One number added to every entry. (…) → (…)"""

    constant: float

    def value(self, scores: Tensor) -> Tensor:
        return scores + self.constant

    def formula(self, scores: str) -> str:
        return f"{scores} + {self.constant:g}".replace("+ -", "- ")

    def code(self, scores: str) -> str:
        return f"{scores} + {written(self.constant)}"

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        return Sum((scores.cell(index), Number(self.constant)))

    def words(self) -> str:
        return "A score, plus your constant."


@dataclass(frozen=True)
class Magnify(Operation):
    """Every entry multiplied by one factor: one over the temperature. (…) → (…)

    Source: Hinton et al. 2015, Distilling the Knowledge in a Neural Network, section 2.
    """

    factor: float

    def value(self, scores: Tensor) -> Tensor:
        return self.factor * scores

    def formula(self, scores: str) -> str:
        return rf"{self.factor:g}\,{scores}"

    def code(self, scores: str) -> str:
        return f"{written(self.factor)} * {scores}"

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        return Product((Number(self.factor), scores.cell(index)))

    def words(self) -> str:
        return "A score, times your factor."


@dataclass(frozen=True)
class Cast(Operation):
    """Every entry rounded to what a precision can hold, one of `PRECISIONS`. (…) → (…)"""

    precision: str

    def __post_init__(self) -> None:
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision is {self.precision!r}, but must be in {PRECISIONS}")

    @property
    def dtype(self) -> torch.dtype:
        return getattr(torch, self.precision)

    def value(self, scores: Tensor) -> Tensor:
        return scores.to(self.dtype, copy=True)

    def formula(self, scores: str) -> str:
        return rf"\mathrm{{{self.precision}}}({scores})"

    def code(self, scores: str) -> str:
        return f"{scores}.to(torch.{self.precision}, copy=True)"

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        pattern = rf"\mathrm{{{{{self.precision}}}}}({{}})"
        return Called(partial(_rounded, self.dtype), pattern, scores.cell(index))

    def words(self) -> str:
        return f"The nearest number that {self.precision} can hold."


@dataclass(frozen=True)
class RowLargest(Operation):
    """The largest entry of each row. (…, key) → (…, 1)"""

    def value(self, scores: Tensor) -> Tensor:
        return scores.amax(dim=-1, keepdim=True)

    def formula(self, scores: str) -> str:
        return rf"\max_j {_entry(scores)}"

    def code(self, scores: str) -> str:
        return f"{scores}.amax(dim=-1, keepdim=True)"

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        return Largest(row(scores, index))

    def words(self) -> str:
        return "The largest score of the row."


@dataclass(frozen=True)
class Subtract(Operation):
    """Every entry less its row's one number. (…, key), (…, 1) → (…, key)"""

    def value(self, scores: Tensor, number: Tensor) -> Tensor:
        return scores - number

    def formula(self, scores: str, number: str) -> str:
        return f"{scores} - {number}"

    def code(self, scores: str, number: str) -> str:
        return f"{scores} - {number}"

    def arithmetic(self, index: tuple[int, ...], scores, number) -> Expression:
        return Difference(scores.cell(index), number.cell((*index[:-1], 0)))

    def words(self) -> str:
        return "A score, less the number of its row."


@dataclass(frozen=True)
class Exp(Operation):
    """e to the power of every entry. (…) → (…)"""

    def value(self, scores: Tensor) -> Tensor:
        return scores.exp()

    def formula(self, scores: str) -> str:
        return rf"e^{{{scores}}}"

    def code(self, scores: str) -> str:
        return f"{scores}.exp()"

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        return Called(partial(_power, scores.value.dtype), "e^{{{}}}", scores.cell(index))

    def words(self) -> str:
        return "e to the power of the number: never negative, and 1 where the number is 0."


@dataclass(frozen=True)
class RowSum(Operation):
    """The sum of each row. (…, key) → (…, 1)"""

    def value(self, scores: Tensor) -> Tensor:
        return scores.sum(dim=-1, keepdim=True)

    def formula(self, scores: str) -> str:
        return rf"\textstyle\sum_j {_entry(scores)}"

    def code(self, scores: str) -> str:
        return f"{scores}.sum(dim=-1, keepdim=True)"

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        return Sum(row(scores, index))

    def words(self) -> str:
        return "The numbers of the row, added."


@dataclass(frozen=True)
class Divide(Operation):
    """Every entry divided by its row's one number. (…, key), (…, 1) → (…, key)"""

    def value(self, scores: Tensor, number: Tensor) -> Tensor:
        return scores / number

    def formula(self, scores: str, number: str) -> str:
        return rf"\frac{{{scores}}}{{{number}}}"

    def code(self, scores: str, number: str) -> str:
        return f"{scores} / {number}"

    def arithmetic(self, index: tuple[int, ...], scores, number) -> Expression:
        return Quotient(scores.cell(index), number.cell((*index[:-1], 0)))

    def words(self) -> str:
        return "A number divided by the sum of its row."


@dataclass(frozen=True)
class SoftmaxJacobian(Operation):
    """How each weight of a softmax moves with each score, from the weights. (key,) → (key, score)

    Entry j, k is the derivative of weight j by score k: diag(w) - w wᵀ.
    Source: Goodfellow et al. 2016, Deep Learning, section 6.2.2.3.
    """

    def value(self, weights: Tensor) -> Tensor:
        return weights.diag() - weights[:, None] * weights

    def formula(self, weights: str) -> str:
        return rf"\operatorname{{diag}}({weights}) - {weights}\,{weights}^\top"

    def code(self, weights: str) -> str:
        return f"{weights}.diag() - {weights}[:, None] * {weights}"

    def arithmetic(self, index: tuple[int, ...], weights) -> Expression:
        left, right = (weights.cell((place,)) for place in index)
        on_diagonal = left if left.index == right.index else Number(0.0)
        return Difference(on_diagonal, Product((left, right)))

    def words(self) -> str:
        return (
            "How much the weight of the row moves when the score of the column does: "
            "the weight itself on the diagonal, less the product of the two weights."
        )


def _entry(symbol: str) -> str:
    return f"{symbol}_j" if len(symbol) == 1 else f"({symbol})_j"


def _rounded(dtype: torch.dtype, value: float) -> float:
    return float(torch.tensor(value, dtype=torch.float64).to(dtype))


def _power(dtype: torch.dtype, value: float) -> float:
    """e to a power in float64, but infinite where the precision can hold no such number."""
    try:
        power = math.exp(value)
    except OverflowError:
        return math.inf
    return math.inf if power > torch.finfo(dtype).max else power
