"""The steps of which a softmax and a division by the sum are made, along the last axis."""

from dataclasses import dataclass

from torch import Tensor

from ..expression import Difference, Expression, Largest, Number, Product, Quotient, Sum
from .base import Operation, matched, row


@dataclass(frozen=True)
class RowLargest(Operation):
    """The largest entry of each row. (…, key) → (…, 1)"""

    takes = "(…, key)"
    chooses = True

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
class RowSum(Operation):
    """The sum of each row. (…, key) → (…, 1)"""

    takes = "(…, key)"
    signs = ("", "Σ")

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

    takes = "(…, key) (…, 1)"
    signs = ("", "÷", "=")

    def value(self, scores: Tensor, number: Tensor) -> Tensor:
        return scores / number

    def formula(self, scores: str, number: str) -> str:
        return rf"\frac{{{scores}}}{{{number}}}"

    def code(self, scores: str, number: str) -> str:
        return f"{scores} / {number}"

    def arithmetic(self, index: tuple[int, ...], scores, number) -> Expression:
        return Quotient(matched(scores, index), matched(number, index))

    def words(self) -> str:
        return "A number divided by the sum of its row."


@dataclass(frozen=True)
class SoftmaxJacobian(Operation):
    """How each weight of a softmax moves with each score, from the weights. (key,) → (key, score)

    Entry j, k is the derivative of weight j by score k: diag(w) - w wᵀ.
    Source: Goodfellow et al. 2016, Deep Learning, section 6.2.2.3.
    """

    takes = "(key)"

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
            "the weight itself on the diagonal, minus the product of the two weights."
        )


def _entry(symbol: str) -> str:
    return f"{symbol}_j" if len(symbol) == 1 else f"({symbol})_j"
