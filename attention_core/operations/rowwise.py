"""The steps of which a softmax and a division by the sum are made, along the last axis; and what is
kept of them while a softmax goes through its keys tile by tile: a maximum, a sum, an output.

Source of these: Milakov & Gimelshein 2018, Online normalizer calculation for softmax, section 3.
"""

import math
from functools import partial

import torch
from torch import Tensor

from ..expression import (
    Called,
    Difference,
    Expression,
    Hidden,
    Largest,
    Number,
    Product,
    Quotient,
    Sum,
)
from .base import Backward, Meaning, Operation, line, matched
from .declared import as_it_is, computed, entrywise, gradients, through, times
from .entrywise import _power


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
        return Largest(line(scores, index))

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

    def meaning(self, row, number) -> Meaning:
        is_sum_of_row = isinstance(number.operation, RowSum) and number.inputs[0] is row
        return Meaning.SHARES if is_sum_of_row else Meaning.NUMBERS

    def backward(self, back: Backward) -> None:
        _, number = back.inputs
        back.into(0, self, back.gradient, number)
        if back.wants(1):
            weighed = back.step("weighed", back.ops.Multiply(), back.gradient, back.result)
            total = back.row("total", back.ops.RowSum(), weighed)
            back.into(1, self, back.row("less", back.ops.ScaleBy(-1.0), total), number)


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
    makes = Meaning.SLOPES

    def value(self, weights: Tensor) -> Tensor:
        return weights.diag() - weights[:, None] * weights

    def arithmetic(self, index: tuple[int, ...], weights) -> Expression:
        left, right = (weights.cell((place,)) for place in index)
        on_diagonal = left if left.index == right.index else Number(0.0)
        return Difference(on_diagonal, Product((left, right)))


def _entry(symbol: str) -> str:
    return f"{symbol}_j" if len(symbol) == 1 else f"({symbol})_j"


NOTHING_SEEN = r"\text{nothing seen so far}"


class RunningMaximum(Operation):
    """The larger of two entries at the same place: a maximum that goes on. (…), (…) → (…)"""

    takes = "(…) (…)"
    signs = ("", "max", "=")
    in_latex = r"\max\!\left({0},\ {1}\right)"
    in_torch = "torch.maximum({0}, {1})"
    in_words = "The larger of two: the maximum so far, and that of the new numbers."
    value = computed(torch.maximum)
    arithmetic = entrywise(lambda *both: Largest(both, compared=True))

    def backward(self, back: Backward) -> None:
        before, new = back.inputs
        for at, both in enumerate(((before, new), (new, before))):
            if back.wants(at):
                kind = ("first", "second")[at]
                larger = back.step(f"{kind}_larger", back.ops.ShareOfLarger(), *both)
                back.into(at, back.ops.Multiply(), larger, back.gradient)


class ExpDifference(Operation):
    """e to the power of each entry less its row's one number. (…, key), (…, 1) → (…, key)

    Less the largest number so far, none is above 1. With `may_see_nothing`, a row whose number is
    −∞, since all is hidden from it so far, becomes 0 and not ∞ − ∞.
    """

    takes = "(…, key) (…, 1)"
    signs = ("", "−", "→")
    in_latex = "e^{{{0} - {1}}}"
    in_words = "e to the power of the score less the largest so far: at most 1."

    may_see_nothing: bool = False

    def value(self, scores: Tensor, largest: Tensor) -> Tensor:
        powers = (scores - largest).exp()
        return powers.masked_fill(largest.isneginf(), 0.0) if self.may_see_nothing else powers

    def code(self, scores: str, largest: str) -> str:
        seen = f".masked_fill({largest}.isneginf(), 0.0)" if self.may_see_nothing else ""
        return f"({scores} - {largest}).exp(){seen}"

    def arithmetic(self, index: tuple[int, ...], scores, largest) -> Expression:
        score, less = matched(scores, index), matched(largest, index)
        if self.may_see_nothing and less.value == -math.inf:
            return Hidden((score, less), NOTHING_SEEN)
        return Called(partial(_power, scores.value.dtype), "e^{{{}}}", Difference(score, less))

    def backward(self, back: Backward) -> None:
        back.into(0, back.ops.Multiply(), back.gradient, back.result)
        if back.wants(1):
            powers = back.step("powers", back.ops.Multiply(), back.gradient, back.result)
            back.into(1, back.ops.ScaleBy(-1.0), back.row("total", back.ops.RowSum(), powers))


class Rescale(ExpDifference):
    """e to the old maximum less the new: how far sums shrink, at most 1. (…, 1), (…, 1) → (…, 1)"""

    takes = "(…, 1) (…, 1)"
    in_words = "e to the old maximum less the new one: 1 where it has not risen."


class RescaleAndAdd(Operation):
    """What was there, shrunk by its row, plus what is new. (…, d), (…, 1), (…, d) → (…, d)"""

    takes = "(…, d) (…, 1) (…, d)"
    signs = ("", "⊙", "+", "=")
    in_latex = r"{1} \odot {0} + {2}"
    in_torch = "{0} * {1} + {2}"
    in_words = "What was there so far, shrunk, plus what is new."
    value = computed(lambda before, shrink, new: before * shrink + new)
    arithmetic = entrywise(lambda before, shrink, new: Sum((Product((before, shrink)), new)))
    backward = gradients(times(1), times(0), as_it_is)


class MaskedDivide(Divide):
    """A row divided by its number; 0 where it saw nothing. (…, key), (…, 1) → (…, key)"""

    in_torch = "({0} / {1}).masked_fill({1} == 0, 0.0)"
    value = computed(lambda scores, number: (scores / number).masked_fill(number == 0, 0.0))

    def arithmetic(self, index: tuple[int, ...], scores, number) -> Expression:
        if (less := matched(number, index)).value == 0:
            return Hidden((less,), NOTHING_SEEN)
        return super().arithmetic(index, scores, number)
