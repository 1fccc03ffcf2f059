"""Entry-by-entry arithmetic, of one tensor or of two, and sums along an axis."""

import math
from functools import partial

import torch
from torch import Tensor

from ..expression import Called, Difference, Expression, Number, Product, Quotient, Sum, constant
from .base import Backward, Operation, check_place, kind_of, matched
from .declared import (
    added,
    as_it_is,
    computed,
    entrywise,
    gradients,
    likewise,
    negated,
    repeated,
    squared,
    summed,
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
    makes = None
    backward = gradients(through(lambda _, back: Cast(kind_of(back.inputs[0].value))))

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


_WHERE = "torch.where(torch.arange(len({{0}}))[:, None] == {{self.row}}, {}, {{0}})"
"""The line of what happens to one row."""


class Add(Operation):
    """Two tensors, added; axes that one of them has not are repeated, such as a bias's rows."""

    takes = "(…) (…)"
    signs = ("", "+", "=")
    in_latex = in_torch = "{0} + {1}"
    in_words = "Two entries at the same place, added."
    value = computed(torch.add)
    arithmetic = entrywise(added)
    backward = gradients(as_it_is, as_it_is)


class Subtract(Operation):
    """The second tensor taken from the first; an axis of 1 is repeated, such as a row's number."""

    takes = "(…) (…)"
    signs = ("", "−", "=")
    in_latex = in_torch = "{0} - {1}"
    in_words = "An entry minus the one at the same place, or minus the one of its row."
    value = computed(torch.sub)
    arithmetic = entrywise(Difference)
    backward = gradients(as_it_is, negated)


class Multiply(Operation):
    """Entry by entry: of one shape, (d,) with every row, or (key,) with its row, if `by_row`."""

    signs = ("", "⊙", "=")
    in_latex = r"{0} \odot {1}"
    in_words = "Two entries, multiplied."

    by_row: bool = False

    @property
    def takes(self) -> str:
        return "(key) (key, d)" if self.by_row else "(…) (…)"

    def value(self, left: Tensor, right: Tensor) -> Tensor:
        return (left[:, None] if self.by_row else left) * right

    @property
    def in_torch(self) -> str:
        return "{0}[:, None] * {1}" if self.by_row else "{0} * {1}"

    def arithmetic(self, index: tuple[int, ...], left, right) -> Expression:
        factor = left.cell(index[:1]) if self.by_row else matched(left, index)
        return Product((factor, matched(right, index)))

    def backward(self, back: Backward) -> None:
        left, right = back.inputs
        if not self.by_row:
            back.into(0, back.ops.Multiply(), back.gradient, right)
            back.into(1, back.ops.Multiply(), back.gradient, left)
            return
        if back.wants(0):
            products = back.step("products", back.ops.Multiply(), back.gradient, right)
            back.into(0, back.ops.SumLast(), products)
        back.into(1, self, left, back.gradient)


class Scale(Operation):
    """Every score divided by the square root of the width d, or by d itself if not `root`.

    Source: Vaswani et al. 2017, Attention Is All You Need, section 3.2.1.
    """

    takes = "(…)"
    in_latex = r"\frac{{{0}}}{{{self._latex}}}"
    backward = gradients(likewise)

    width: int
    root: bool = True

    @property
    def _divisor(self) -> float:
        return math.sqrt(self.width) if self.root else float(self.width)

    @property
    def _latex(self) -> str:
        return rf"\sqrt{{{self.width}}}" if self.root else str(self.width)

    def value(self, scores: Tensor) -> Tensor:
        return scores / self._divisor

    def code(self, scores: str) -> str:
        return f"{scores} / {self.width}{' ** 0.5' if self.root else ''}"

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        return Quotient(scores.cell(index), Number(self._divisor, self._latex))

    def words(self) -> str:
        if self.root:
            return "A score divided by the square root of the width of the vectors."
        return "A score divided by the width of the vectors, not by its root."


class ShiftRow(Operation):
    """A number added to every entry of one row; the others are copied. (token, d) → (token, d)

    Raises ValueError where there is no such row.
    """

    takes = "(token, d)"
    in_latex = r"{0}_{{{self.row}}} {self._signed},\ \text{{the other rows as they are}}"
    in_torch = _WHERE.format("{0} + {self.amount}")
    in_words = "Your number is added to the vector you changed; the others stay."
    backward = gradients(as_it_is)

    row: int
    amount: float

    @property
    def _signed(self) -> str:
        return f"+ {constant(self.amount)}".replace("+ -", "- ")

    def value(self, vectors: Tensor) -> Tensor:
        return torch.where(_is_row(self.row, vectors), vectors + self.amount, vectors)

    def arithmetic(self, index: tuple[int, ...], vectors) -> Expression:
        cell = vectors.cell(index)
        return Sum((cell, Number(self.amount))) if index[0] == self.row else cell


class ScaleRow(Operation):
    """One row made longer or shorter by a factor; the others are copied. (token, d) → (token, d)

    Raises ValueError where there is no such row.
    """

    takes = "(token, d)"
    in_latex = r"{self.factor}\,{0}_{{{self.row}}},\ \text{{the other rows as they are}}"
    in_torch = _WHERE.format("{self.factor} * {0}")
    in_words = "The vector you stretched is multiplied by your factor; the others stay."
    backward = gradients(likewise)

    row: int
    factor: float

    def value(self, vectors: Tensor) -> Tensor:
        return torch.where(_is_row(self.row, vectors), self.factor * vectors, vectors)

    def arithmetic(self, index: tuple[int, ...], vectors) -> Expression:
        cell = vectors.cell(index)
        return Product((Number(self.factor), cell)) if index[0] == self.row else cell


def _is_row(row: int, vectors: Tensor) -> Tensor:
    """True for the row (token, 1). Raises ValueError, in plain words, where there is none."""
    check_place("row", row, len(vectors))
    return torch.arange(len(vectors))[:, None] == row


class SumLast(Operation):
    """The sum over the last axis. (…, d) → (…)"""

    takes = "(…, d)"
    signs = ("", "Σ")
    in_latex = r"\textstyle\sum_k ({0})_{{j,k}}"
    in_torch = "{0}.sum(dim=-1)"
    in_words = "The entries of a row, added."
    value = computed(torch.sum, dim=-1)
    arithmetic = summed(-1)
    backward = gradients(repeated(-1))


class RunningSum(Operation):
    """Row j is the sum of rows 0 to j. (key, …) → (key, …)"""

    takes = "(key, …)"
    signs = ("", "Σ")
    in_latex = r"\textstyle\sum_{{i \le j}} ({0})_i"
    in_torch = "{0}.cumsum(dim=0)"
    in_words = "The terms so far, added."
    value = computed(torch.cumsum, dim=0)
    backward = gradients(through(lambda *_: SumFromHere()))

    def arithmetic(self, index: tuple[int, ...], terms) -> Expression:
        last, *rest = index
        return Sum(tuple(terms.cell((place, *rest)) for place in range(last + 1)))


class SumFromHere(Operation):
    """Row j is the sum of rows j to the last: the way back of `RunningSum`. (key, …) → (key, …)"""

    takes = "(key, …)"
    signs = ("", "Σ")
    in_latex = r"\textstyle\sum_{{i \ge j}} ({0})_i"
    in_torch = "{0}.flip(0).cumsum(dim=0).flip(0)"
    in_words = "This term and all that follow, added."
    backward = gradients(through(lambda *_: RunningSum()))

    def value(self, terms: Tensor) -> Tensor:
        return terms.flip(0).cumsum(dim=0).flip(0)

    def arithmetic(self, index: tuple[int, ...], terms) -> Expression:
        first, *rest = index
        places = range(first, terms.value.shape[0])
        return Sum(tuple(terms.cell((place, *rest)) for place in places))
