"""The steps of which a softmax and a division by the sum are made, along the last axis."""

import torch
from torch import Tensor

from ..expression import Difference, Expression, Largest, Number, Product, Quotient, Sum
from .base import Backward, Operation, line, row
from .declared import computed, entrywise, gradients, through


class RowLargest(Operation):
    """The largest entry of each row. (…, key) → (…, 1)"""

    takes = "(…, key)"
    chooses = True
    in_torch = "{0}.amax(dim=-1, keepdim=True)"
    in_words = "The largest score of the row."
    value = computed(torch.amax, dim=-1, keepdim=True)

    def formula(self, scores: str) -> str:
        return rf"\max_j {_entry(scores)}"

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        return Largest(row(scores, index))

    def backward(self, back: Backward) -> None:
        (scores,) = back.inputs
        picked = back.step("picked", back.ops.ShareOfLargest(), scores, axes=scores.axes)
        back.into(0, back.ops.Multiply(), picked, back.gradient)


class RowSum(Operation):
    """The sum of each row: (…, key) → (…, 1); or along another axis `dim`, counted from the end."""

    takes = "(…, key)"
    signs = ("", "Σ")
    in_torch = "{0}.sum(dim={self.dim}, keepdim=True)"
    in_words = "The numbers of the row, added."
    backward = gradients(
        through(lambda own, back: back.ops.Repeat(back.inputs[0].value.shape[own.dim], own.dim))
    )

    dim: int = -1

    def value(self, scores: Tensor) -> Tensor:
        return scores.sum(dim=self.dim, keepdim=True)

    def formula(self, scores: str) -> str:
        return rf"\textstyle\sum_j {_entry(scores)}"

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        return Sum(line(scores, index, self.dim))


class Divide(Operation):
    """Every entry divided by its row's one number. (…, key), (…, 1) → (…, key)"""

    takes = "(…, key) (…, 1)"
    signs = ("", "÷", "=")
    in_latex = r"\frac{{{0}}}{{{1}}}"
    in_torch = "{0} / {1}"
    in_words = "A number divided by the sum of its row."
    value = computed(torch.div)
    arithmetic = entrywise(Quotient)

    def backward(self, back: Backward) -> None:
        _, number = back.inputs
        back.into(0, self, back.gradient, number)
        if back.wants(1):
            weighed = back.step("weighed", back.ops.Multiply(), back.gradient, back.result)
            total = back.row("total", back.ops.RowSum(), weighed)
            less = back.row("less", back.ops.ScaleBy(-1.0), total)
            back.into(1, self, less, number)


class SoftmaxJacobian(Operation):
    """How each weight of a softmax moves with each score, from the weights. (key,) → (key, score)

    Entry j, k is the derivative of weight j by score k: diag(w) - w wᵀ.
    Source: Goodfellow et al. 2016, Deep Learning, section 6.2.2.3.
    """

    no_gradient = "it is made of slopes already, and nothing is learned through it"
    takes = "(key)"
    in_latex = r"\operatorname{{diag}}({0}) - {0}\,{0}^\top"
    in_torch = "{0}.diag() - {0}[:, None] * {0}"
    in_words = (
        "How much the weight of the row moves when the score of the column does: the weight itself "
        "on the diagonal, minus the product of the two weights."
    )

    def value(self, weights: Tensor) -> Tensor:
        return weights.diag() - weights[:, None] * weights

    def arithmetic(self, index: tuple[int, ...], weights) -> Expression:
        left, right = (weights.cell((place,)) for place in index)
        on_diagonal = left if left.index == right.index else Number(0.0)
        return Difference(on_diagonal, Product((left, right)))


def _entry(symbol: str) -> str:
    return f"{symbol}_j" if len(symbol) == 1 else f"({symbol})_j"
