"""Operations that treat every entry alike: add a number, multiply, round, exponentiate."""

import math
from functools import partial

import torch
from torch import Tensor

from ..expression import Called, Expression, Number, Product, Quotient, Sum, constant
from .base import Backward, Operation, precision_of
from .declared import (
    as_it_is,
    computed,
    entrywise,
    gradients,
    likewise,
    squared,
    through,
    times_result,
    times_slope,
)

PRECISIONS = ("float32", "float16", "bfloat16")


class Shift(Operation):
    """One number added to every entry. (…) → (…)"""

    takes = "(…)"
    in_torch = "{0} + {self.constant}"
    in_words = "A score, plus your constant."
    backward = gradients(as_it_is)

    constant: float

    def value(self, scores: Tensor) -> Tensor:
        return scores + self.constant

    def formula(self, scores: str) -> str:
        return f"{scores} + {constant(self.constant)}".replace("+ -", "- ")

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        return Sum((scores.cell(index), Number(self.constant)))


class ScaleBy(Operation):
    """Every entry multiplied by one factor, such as one over the temperature. (…) → (…)

    Source: Hinton et al. 2015, Distilling the Knowledge in a Neural Network, section 2.
    """

    takes = "(…)"
    in_latex = r"{self.factor}\,{0}"
    in_torch = "{self.factor} * {0}"
    in_words = "A score, times your factor."
    backward = gradients(likewise)

    factor: float

    def value(self, scores: Tensor) -> Tensor:
        return self.factor * scores

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        return Product((Number(self.factor), scores.cell(index)))


class SoftCap(Operation):
    """Every entry kept within ±cap: cap · tanh(entry / cap). (…) → (…)

    Small entries stay nearly as they are. Raises ValueError for a cap that is not above 0.

    Source: Gemma Team 2024, Gemma 2, section 2.
    """

    takes = "(…)"
    in_latex = r"{self.cap} \tanh\!\left({0} / {self.cap}\right)"
    in_torch = "{self.cap} * ({0} / {self.cap}).tanh()"
    in_words = "A score, bent so that it never leaves the range from minus the cap to the cap."
    backward = gradients(times_slope)

    cap: float

    def __post_init__(self) -> None:
        if not 0 < self.cap < math.inf:
            raise ValueError(f"a cap of {self.cap:g} on the scores: choose a number above 0")

    def value(self, scores: Tensor) -> Tensor:
        return self.cap * (scores / self.cap).tanh()

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        share = Quotient(scores.cell(index), Number(self.cap))
        return Product((Number(self.cap), Called(math.tanh, r"\tanh\!\left({}\right)", share)))


class Cast(Operation):
    """Every entry rounded to what a precision can hold, one of `PRECISIONS`. (…) → (…)"""

    takes = "(…)"
    in_latex = r"\mathrm{{{self.precision}}}({0})"
    in_torch = "{0}.to(torch.{self.precision}, copy=True)"
    in_words = "The nearest number that {self.precision} can hold."
    backward = gradients(through(lambda _, back: Cast(precision_of(back.inputs[0].value))))

    precision: str

    def __post_init__(self) -> None:
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision is {self.precision!r}, but must be in {PRECISIONS}")

    @property
    def dtype(self) -> torch.dtype:
        return getattr(torch, self.precision)

    def value(self, scores: Tensor) -> Tensor:
        return scores.to(self.dtype, copy=True)

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        pattern = rf"\mathrm{{{{{self.precision}}}}}({{}})"
        return Called(partial(_rounded, self.dtype), pattern, scores.cell(index))


class Square(Operation):
    """Every entry times itself. (…) → (…)"""

    takes = "(…)"
    in_latex = "({0})^{{\\odot 2}}"
    in_torch = "{0}.square()"
    in_words = "The number times itself: never negative, and the larger the farther it is from 0."
    value = computed(torch.square)
    arithmetic = entrywise(squared)

    def backward(self, back: Backward) -> None:
        double = back.step("double", back.ops.ScaleBy(2.0), *back.inputs)
        back.into(0, back.ops.Multiply(), back.gradient, double)


class Exp(Operation):
    """e to the power of every entry. (…) → (…)"""

    takes = "(…)"
    in_latex = "e^{{{0}}}"
    in_torch = "{0}.exp()"
    in_words = "e to the power of the number: never negative, and 1 where the number is 0."
    value = computed(torch.exp)
    backward = gradients(times_result)

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        return Called(partial(_power, scores.value.dtype), "e^{{{}}}", scores.cell(index))


def _rounded(dtype: torch.dtype, value: float) -> float:
    return float(torch.tensor(value, dtype=torch.float64).to(dtype))


def _power(dtype: torch.dtype, value: float) -> float:
    """e to a power in float64, but infinite where the precision can hold no such number."""
    try:
        power = math.exp(value)
    except OverflowError:
        return math.inf
    return math.inf if power > torch.finfo(dtype).max else power
