"""Entry-by-entry arithmetic, and sums along an axis."""

import math

import torch
from torch import Tensor

from ..expression import Difference, Expression, Number, Product, Quotient, Sum, constant
from .base import Backward, Operation, check_place, matched, row
from .given import written


class Add(Operation):
    """Two tensors, added; axes that one of them has not are repeated, such as a bias's rows."""

    takes = "(…) (…)"
    signs = ("", "+", "=")
    in_latex = "{0} + {1}"
    in_torch = "{0} + {1}"
    in_words = "Two entries at the same place, added."

    def value(self, left: Tensor, right: Tensor) -> Tensor:
        return left + right

    def arithmetic(self, index: tuple[int, ...], left, right) -> Expression:
        return Sum((matched(left, index), matched(right, index)))

    def backward(self, back: Backward) -> None:
        back.into(0)
        back.into(1)


class Subtract(Operation):
    """The second tensor taken away from the first; an axis of 1 is repeated, such as a row's
    one number.
    """

    takes = "(…) (…)"
    signs = ("", "−", "=")
    in_latex = "{0} - {1}"
    in_torch = "{0} - {1}"
    in_words = "An entry minus the one at the same place, or minus the one of its row."

    def value(self, left: Tensor, right: Tensor) -> Tensor:
        return left - right

    def arithmetic(self, index: tuple[int, ...], left, right) -> Expression:
        return Difference(matched(left, index), matched(right, index))

    def backward(self, back: Backward) -> None:
        back.into(0)
        back.into(1, back.ops.ScaleBy(-1.0), back.gradient)


class Multiply(Operation):
    """Entry by entry: two tensors of one shape, a vector (d,) with every row (key, d), or one
    number a row (key,) with that row, if `by_row`.
    """

    signs = ("", "⊙", "=")
    in_latex = r"{0} \odot {1}"
    in_words = "Two entries, multiplied."

    by_row: bool = False

    @property
    def takes(self) -> str:
        return "(key) (key, d)" if self.by_row else "(…) (…)"

    def value(self, left: Tensor, right: Tensor) -> Tensor:
        return (left[:, None] if self.by_row else left) * right

    def code(self, left: str, right: str) -> str:
        return f"{left}[:, None] * {right}" if self.by_row else f"{left} * {right}"

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
    in_latex = r"\frac{{{0}}}{{{self._divisor}}}"

    width: int
    root: bool = True

    def value(self, scores: Tensor) -> Tensor:
        return scores / (math.sqrt(self.width) if self.root else self.width)

    @property
    def _divisor(self) -> str:
        return rf"\sqrt{{{self.width}}}" if self.root else str(self.width)

    def code(self, scores: str) -> str:
        return f"{scores} / {self.width} ** 0.5" if self.root else f"{scores} / {self.width}"

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        divisor = math.sqrt(self.width) if self.root else float(self.width)
        return Quotient(scores.cell(index), Number(divisor, self._divisor))

    def words(self) -> str:
        if self.root:
            return "A score divided by the square root of the width of the vectors."
        return "A score divided by the width of the vectors, not by its root."

    def backward(self, back: Backward) -> None:
        back.into(0, self, back.gradient)


class ShiftRow(Operation):
    """A number added to every entry of one row; the others are copied. (token, d) → (token, d)

    Raises ValueError where there is no such row.
    """

    takes = "(token, d)"
    in_words = "Your number is added to the vector you changed; the others stay."

    row: int
    amount: float

    def value(self, vectors: Tensor) -> Tensor:
        check_place("row", self.row, len(vectors))
        is_row = torch.arange(len(vectors))[:, None] == self.row
        return torch.where(is_row, vectors + self.amount, vectors)

    def formula(self, vectors: str) -> str:
        shifted = f"{vectors}_{{{self.row}}} + {constant(self.amount)}".replace("+ -", "- ")
        return rf"{shifted},\ \text{{the other rows as they are}}"

    def code(self, vectors: str) -> str:
        is_row = f"torch.arange(len({vectors}))[:, None] == {self.row}"
        return f"torch.where({is_row}, {vectors} + {written(self.amount)}, {vectors})"

    def arithmetic(self, index: tuple[int, ...], vectors) -> Expression:
        cell = vectors.cell(index)
        return Sum((cell, Number(self.amount))) if index[0] == self.row else cell

    def backward(self, back: Backward) -> None:
        back.into(0)


class ScaleRow(Operation):
    """One row made longer or shorter by a factor; the others are copied. (token, d) → (token, d)

    Raises ValueError where there is no such row.
    """

    takes = "(token, d)"
    in_words = "The vector you stretched is multiplied by your factor; the others stay."

    row: int
    factor: float

    def value(self, vectors: Tensor) -> Tensor:
        check_place("row", self.row, len(vectors))
        return vectors * self._factors(len(vectors))

    def _factors(self, n_rows: int) -> Tensor:
        return torch.tensor([[self._factor(place)] for place in range(n_rows)])

    def _factor(self, place: int) -> float:
        return self.factor if place == self.row else 1.0

    def formula(self, vectors: str) -> str:
        stretched = rf"{constant(self.factor)}\,{vectors}_{{{self.row}}}"
        return rf"{stretched},\ \text{{the other rows as they are}}"

    def code(self, vectors: str) -> str:
        one_row = f"torch.arange(len({vectors}))[:, None] == {self.row}"
        return f"torch.where({one_row}, {written(self.factor)} * {vectors}, {vectors})"

    def arithmetic(self, index: tuple[int, ...], vectors) -> Expression:
        cell = vectors.cell(index)
        return Product((Number(self.factor), cell)) if index[0] == self.row else cell

    def backward(self, back: Backward) -> None:
        back.into(0, self, back.gradient)


class SumLast(Operation):
    """The sum over the last axis. (…, d) → (…)"""

    takes = "(…, d)"
    signs = ("", "Σ")
    in_latex = r"\textstyle\sum_k ({0})_{{j,k}}"
    in_torch = "{0}.sum(dim=-1)"
    in_words = "The entries of a row, added."

    def value(self, products: Tensor) -> Tensor:
        return products.sum(dim=-1)

    def arithmetic(self, index: tuple[int, ...], products) -> Expression:
        return Sum(row(products, (*index, 0)))

    def backward(self, back: Backward) -> None:
        (products,) = back.inputs
        back.into(0, back.ops.Repeat(products.value.shape[-1], -1, new=True), back.gradient)


class RunningSum(Operation):
    """Row j is the sum of rows 0 to j. (key, …) → (key, …)"""

    takes = "(key, …)"
    signs = ("", "Σ")
    in_latex = r"\textstyle\sum_{{i \le j}} ({0})_i"
    in_torch = "{0}.cumsum(dim=0)"
    in_words = "The terms so far, added."

    def value(self, terms: Tensor) -> Tensor:
        return terms.cumsum(dim=0)

    def arithmetic(self, index: tuple[int, ...], terms) -> Expression:
        last, *rest = index
        return Sum(tuple(terms.cell((place, *rest)) for place in range(last + 1)))

    def backward(self, back: Backward) -> None:
        back.into(0, back.ops.SumFromHere(), back.gradient)


class SumFromHere(Operation):
    """Row j is the sum of rows j to the last: what a term of a `RunningSum` gets back from all sums
    that it is part of. (key, …) → (key, …)
    """

    takes = "(key, …)"
    signs = ("", "Σ")
    in_latex = r"\textstyle\sum_{{i \ge j}} ({0})_i"
    in_torch = "{0}.flip(0).cumsum(dim=0).flip(0)"
    in_words = "This term and all that follow, added."

    def value(self, terms: Tensor) -> Tensor:
        return terms.flip(0).cumsum(dim=0).flip(0)

    def arithmetic(self, index: tuple[int, ...], terms) -> Expression:
        first, *rest = index
        places = range(first, terms.value.shape[0])
        return Sum(tuple(terms.cell((place, *rest)) for place in places))

    def backward(self, back: Backward) -> None:
        back.into(0, RunningSum(), back.gradient)
