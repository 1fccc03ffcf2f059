"""Layer norm in its parts: mean, variance, standardising, and a gain and a bias for each column.
And the norm of today's models, which takes no mean away: mean square, and dividing by its root.

Sources: Ba et al. 2016, Layer Normalization; Zhang and Sennrich 2019, Root Mean Square Layer
Normalization.
"""

import math

import torch
from torch import Tensor

from ..expression import (
    Called,
    Cell,
    Difference,
    Expression,
    Number,
    Product,
    Quotient,
    Sum,
    constant,
)
from .base import Backward, Operation, matched
from .declared import as_it_is, computed, gradients, mean_of, squared, times
from .layers import EPSILON


class RowMean(Operation):
    """The mean of each row. (…, d) → (…, 1)"""

    takes = "(…, d)"
    signs = ("", "mean")
    in_latex = r"\tfrac{{1}}{{d}} \textstyle\sum_j {{{0}}}_{{\cdot,j}}"
    in_torch = "{0}.mean(dim=-1, keepdim=True)"
    in_words = "The numbers of the row, added, divided by how many there are."
    value = computed(torch.mean, dim=-1, keepdim=True)

    def arithmetic(self, index: tuple[int, ...], vectors) -> Expression:
        return mean_of(_row(vectors, index))

    def backward(self, back: Backward) -> None:
        (vectors,) = back.inputs
        width = vectors.value.shape[-1]
        share = back.step("share", back.ops.ScaleBy(1 / width), back.gradient)
        back.into(0, back.ops.Repeat(width), share)


class RowVariance(Operation):
    """The mean squared distance of each row from its mean, the second. (…, d), (…, 1) → (…, 1)"""

    takes = "(…, d) (…, 1)"
    signs = ("", None, "→")
    in_latex = r"\tfrac{{1}}{{d}} \textstyle\sum_j \left({{{0}}}_{{\cdot,j}} - {1}\right)^2"
    in_torch = "({0} - {1}).square().mean(dim=-1, keepdim=True)"
    in_words = (
        "How far the numbers of the row lie from their mean: the distances squared, averaged."
    )

    def value(self, vectors: Tensor, mean: Tensor) -> Tensor:
        return (vectors - mean).square().mean(dim=-1, keepdim=True)

    def arithmetic(self, index: tuple[int, ...], vectors, mean) -> Expression:
        middle = matched(mean, index)
        distances = [Difference(cell, middle) for cell in _row(vectors, index)]
        return mean_of(Called(_squared, r"\left({}\right)^2", each) for each in distances)

    def backward(self, back: Backward) -> None:
        vectors, mean = back.inputs
        distance = back.step("distance", back.ops.Subtract(), vectors, mean, axes=vectors.axes)
        share = back.step("share", back.ops.ScaleBy(2 / vectors.value.shape[-1]), back.gradient)
        back.into(0, back.ops.Multiply(), distance, share)
        if back.wants(1):
            moved = back.step("moved", back.ops.Multiply(), distance, share, axes=vectors.axes)
            back.into(1, back.ops.ScaleBy(-1.0), back.step("total", back.ops.RowSum(), moved))


class Standardise(Operation):
    """Every entry less its row's mean, divided by the root of the row's variance. (…, d), (…, 1),
    (…, 1) → (…, d)

    `epsilon` is added to the variance, so that equal entries do not divide by zero. Raises
    ValueError for one that is negative or not finite.
    """

    takes = "(…, d) (…, 1) (…, 1)"
    signs = ("", "−", "÷√", "=")
    in_latex = r"\frac{{{0} - {1}}}{{\sqrt{{{2} + {self.epsilon}}}}}"
    in_torch = "({0} - {1}) / ({2} + {self.epsilon}).sqrt()"
    in_words = (
        "The entry minus the mean of its row, divided by the root of the row's variance: its "
        "standard deviation."
    )

    epsilon: float = EPSILON

    def __post_init__(self) -> None:
        _check_epsilon(self.epsilon)

    def value(self, vectors: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
        return (vectors - mean) / (variance + self.epsilon).sqrt()

    def arithmetic(self, index: tuple[int, ...], vectors, mean, variance) -> Expression:
        distance = Difference(matched(vectors, index), matched(mean, index))
        return Quotient(distance, _deviation(matched(variance, index), self.epsilon))

    def backward(self, back: Backward) -> None:
        _, _, variance = back.inputs
        by_root = back.ops.DivideByRoot(self.epsilon)
        back.into(0, by_root, back.gradient, variance)
        if back.wants(1):
            divided = back.step("divided", by_root, back.gradient, variance)
            back.into(1, back.ops.ScaleBy(-1.0), back.row("total", back.ops.RowSum(), divided))
        _into_square(back, self.epsilon, 2, variance)


class RowMeanSquare(Operation):
    """The mean of the squares of each row. (…, d) → (…, 1)"""

    takes = "(…, d)"
    signs = ("", "mean²")
    in_latex = r"\tfrac{{1}}{{d}} \textstyle\sum_j {{{0}}}_{{\cdot,j}}^2"
    in_torch = "{0}.square().mean(dim=-1, keepdim=True)"
    in_words = "The numbers of the row, squared and added, divided by how many there are."

    def value(self, vectors: Tensor) -> Tensor:
        return vectors.square().mean(dim=-1, keepdim=True)

    def arithmetic(self, index: tuple[int, ...], vectors) -> Expression:
        return mean_of(map(squared, _row(vectors, index)))

    def backward(self, back: Backward) -> None:
        (vectors,) = back.inputs
        share = back.step("share", back.ops.ScaleBy(2 / vectors.value.shape[-1]), back.gradient)
        back.into(0, back.ops.Multiply(), vectors, share)


class DivideByRoot(Operation):
    """Every entry divided by the root of a number of its row, the mean of its squares.
    (…, d), (…, 1) → (…, d)

    `epsilon` is added before, so that a row of zeros does not divide by zero. Raises ValueError for
    one that is negative or not finite.
    """

    takes = "(…, d) (…, 1)"
    signs = ("", "÷√", "=")
    in_latex = r"\frac{{{0}}}{{\sqrt{{{1} + {self.epsilon}}}}}"
    in_torch = "{0} / ({1} + {self.epsilon}).sqrt()"
    in_words = "The entry divided by the root of the mean square of its row."

    epsilon: float = EPSILON

    def __post_init__(self) -> None:
        _check_epsilon(self.epsilon)

    def value(self, vectors: Tensor, mean_square: Tensor) -> Tensor:
        return vectors / (mean_square + self.epsilon).sqrt()

    def arithmetic(self, index: tuple[int, ...], vectors, mean_square) -> Expression:
        root = _deviation(matched(mean_square, index), self.epsilon)
        return Quotient(matched(vectors, index), root)

    def backward(self, back: Backward) -> None:
        _, mean_square = back.inputs
        back.into(0, self, back.gradient, mean_square)
        _into_square(back, self.epsilon, 1, mean_square)


class ScaleShift(Operation):
    """Each column times a learned gain, plus a bias if there is one. (…, d), (d,), (d,) → (…, d)"""

    takes = "(…, d) (d) (d)"
    signs = ("", "⊙", "+", "=")
    in_latex = r"{1} \odot {0}"
    in_torch = "{0} * {1}"
    adds_third = True
    in_words = (
        "The entry times the gain of its column, plus the bias of its column if there is one."
    )
    backward = gradients(times(1), times(0), as_it_is)

    def value(self, vectors: Tensor, gain: Tensor, bias: Tensor | None = None) -> Tensor:
        scaled = vectors * gain
        return scaled if bias is None else scaled + bias

    def arithmetic(self, index: tuple[int, ...], vectors, gain, bias=None) -> Expression:
        scaled = Product((vectors.cell(index), gain.cell(index[-1:])))
        return scaled if bias is None else Sum((scaled, bias.cell(index[-1:])))


def _row(vectors, index: tuple[int, ...]) -> tuple[Cell, ...]:
    """The cells of a row whose one number stands at `index`."""
    places = range(vectors.value.shape[-1])
    return tuple(matched(vectors, (*index[:-1], place)) for place in places)


def _check_epsilon(epsilon: float) -> None:
    if not 0 <= epsilon < math.inf:
        raise ValueError(f"epsilon is {epsilon:g}: choose 0, or a small number above it")


def _deviation(variance: Cell, epsilon: float) -> Called:
    """The root of a variance, or of a mean square, with epsilon added."""
    inside = Sum((variance, Number(epsilon, constant(epsilon))))
    return Called(_root, r"\sqrt{{{}}}", inside)


def _squared(value: float) -> float:
    return value * value


def _root(value: float) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def _into_square(back: Backward, epsilon: float, at: int, square) -> None:
    """What comes back to the number under a root that a row was divided by."""
    if back.wants(at):
        weighed = back.step("weighed", back.ops.Multiply(), back.gradient, back.result)
        along = back.row("along", back.ops.RowSum(), weighed)
        inside = back.row("inside", back.ops.Shift(epsilon), square)
        part = back.row("part", back.ops.Divide(), along, inside)
        back.into(at, back.ops.ScaleBy(-0.5), part)
