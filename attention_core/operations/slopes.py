"""Slopes: by how much a function of one number rises where it stands, each as a step of its own."""

import math

import torch
from torch import Tensor

from ..expression import (
    Called,
    Difference,
    Expression,
    Hidden,
    Number,
    Product,
    Quotient,
    Sum,
)
from .base import Backward, Operation, matched, row
from .declared import entrywise, squared
from .layers import _CUBED, _HALF, _ROOT, _bent_by_erf, _bent_by_tanh, _share


class _Slope(Operation):
    """Has no backward pass of its own."""

    takes = "(…)"
    no_gradient = "it is a slope itself, and nothing is learned through one"


class ReLUSlope(_Slope):
    """1 where a number is above 0, else 0: the slope of `ReLU`. (…) → (…)"""

    in_latex = r"[\,{0} > 0\,]"
    in_torch = "({0} > 0).to({0}.dtype)"
    in_words = "1 where the number is above 0, which lets its gradient through; 0 where it is not."
    arithmetic = entrywise(lambda cell: Called(_is_positive, r"[\,{} > 0\,]", cell))

    def value(self, vectors: Tensor) -> Tensor:
        return (vectors > 0).to(vectors.dtype)


class GELUSlope(_Slope):
    """The slope of `GELU`, x Φ(x): Φ(x) + x φ(x), with the density φ of a standard normal draw; of
    its older approximation with `tanh`. (…) → (…)
    """

    in_words = "How steep the curve is at the number: near 0 far below 0, near 1 far above it."

    tanh: bool = False

    def value(self, vectors: Tensor) -> Tensor:
        if self.tanh:
            bent = (_ROOT.known * (vectors + _CUBED * vectors**3)).tanh()
            steep = _ROOT.known * (1 + 3 * _CUBED * vectors**2)
            return 0.5 * (1 + bent) + 0.5 * vectors * (1 - bent**2) * steep
        density = (-0.5 * vectors**2).exp() / (2 * math.pi) ** 0.5
        return 0.5 * (1 + (vectors / 2**0.5).erf()) + vectors * density

    def formula(self, vectors: str) -> str:
        if self.tanh:
            return rf"\tfrac{{d}}{{dx}} \operatorname{{GELU}}_{{\tanh}}({vectors})"
        return rf"\Phi({vectors}) + {vectors} \odot \varphi({vectors})"

    def code(self, vectors: str) -> str:
        if self.tanh:
            bent = f"((2 / torch.pi) ** 0.5 * ({vectors} + {_CUBED} * {vectors}**3)).tanh()"
            steep = f"((2 / torch.pi) ** 0.5 * (1 + 3 * {_CUBED} * {vectors}**2))"
            return f"0.5 * (1 + {bent}) + 0.5 * {vectors} * (1 - {bent}**2) * {steep}"
        density = f"((-0.5 * {vectors}**2).exp() / (2 * torch.pi) ** 0.5)"
        return f"0.5 * (1 + ({vectors} / 2**0.5).erf()) + {vectors} * {density}"

    def arithmetic(self, index: tuple[int, ...], vectors) -> Expression:
        cell = vectors.cell(index)
        if not self.tanh:
            bent = _bent_by_erf(cell)
            power = Called(math.exp, "e^{{{}}}", Product((Number(-0.5), cell, cell)))
            density = Quotient(power, Number(math.sqrt(2 * math.pi), r"\sqrt{2\pi}"))
            return Sum((_HALF, Product((_HALF, bent)), Product((cell, density))))
        bent = _bent_by_tanh(cell)
        left = Difference(Number(1.0), squared(bent))
        thrice = Product((Number(3 * _CUBED, rf"3 \cdot {_CUBED}"), cell, cell))
        steep = Product((_ROOT, Sum((Number(1.0), thrice))))
        return Sum((_HALF, Product((_HALF, bent)), Product((_HALF, cell, left, steep))))


class SiLUSlope(_Slope):
    """The slope of `SiLU`, x σ(x): σ(x) (1 + x (1 − σ(x))). (…) → (…)"""

    in_latex = r"\sigma({0}) \odot \left(1 + {0} \odot (1 - \sigma({0}))\right)"
    in_torch = "{0}.sigmoid() * (1 + {0} * (1 - {0}.sigmoid()))"
    in_words = "How steep the curve is at the number: near 0 far below 0, near 1 far above it."

    def value(self, vectors: Tensor) -> Tensor:
        share = vectors.sigmoid()
        return share * (1 + vectors * (1 - share))

    def arithmetic(self, index: tuple[int, ...], vectors) -> Expression:
        cell = vectors.cell(index)
        share = _share(cell)
        rest = Product((cell, Difference(Number(1.0), share)))
        return Product((share, Sum((Number(1.0), rest))))


class SoftCapSlope(_Slope):
    """The slope of `SoftCap`, 1 − tanh²(entry / cap), which is 1 / cosh²(entry / cap). (…) → (…)"""

    in_latex = r"1 / \cosh^2\!\left({0} / {self.cap}\right)"
    in_torch = "({0} / {self.cap}).cosh() ** -2"
    in_words = "How steep the bent curve is at the score: 1 in its middle, near 0 at the cap."

    cap: float

    def value(self, scores: Tensor) -> Tensor:
        return (scores / self.cap).cosh() ** -2

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        share = Quotient(scores.cell(index), Number(self.cap))
        return Called(_over_cosh_squared, r"1 / \cosh^2\!\left({}\right)", share)


class ShareOfLargest(_Slope):
    """1 where an entry is the largest of its row, shared evenly among equal ones; 0 elsewhere: the
    slope of a row's maximum. (…, key) → (…, key)
    """

    takes = "(…, key)"
    in_latex = r"[\,{0} = \max_j {0}\,]"
    in_torch = (
        "({0} == {0}.amax(dim=-1, keepdim=True)).float() / "
        "({0} == {0}.amax(dim=-1, keepdim=True)).sum(dim=-1, keepdim=True)"
    )
    in_words = "1 where the score is the largest of its row, 0 elsewhere."

    def value(self, scores: Tensor) -> Tensor:
        largest = scores == scores.amax(dim=-1, keepdim=True)
        return largest.to(scores.dtype) / largest.sum(dim=-1, keepdim=True)

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        cells = row(scores, index)
        largest = max(cell.value for cell in cells)
        if cells[index[-1]].value != largest:
            return Hidden(cells, r"\text{not the largest of its row}")
        n_equal = sum(cell.value == largest for cell in cells)
        return Hidden(cells, r"\text{the largest of its row}", 1 / n_equal)


class ShareOfLarger(_Slope):
    """1 where the first of two entries is the larger, 0 where the second is, ½ where they are
    equal: the slope of the larger of two. (…), (…) → (…)
    """

    takes = "(…) (…)"
    signs = ("", None, "→")
    in_latex = r"[\,{0} > {1}\,]"
    in_torch = "(({0} > {1}).float() + ({0} >= {1}).float()) / 2"
    in_words = "1 where the first of the two is the larger, 0 where it is not."

    def value(self, first: Tensor, second: Tensor) -> Tensor:
        return ((first > second).to(first.dtype) + (first >= second).to(first.dtype)) / 2

    def arithmetic(self, index: tuple[int, ...], first, second) -> Expression:
        both = matched(first, index), matched(second, index)
        mine, other = (cell.value for cell in both)
        if mine == other:
            return Hidden(both, r"\text{the two are equal}", 0.5)
        said = r"\text{the first is the larger}" if mine > other else r"\text{the second is}"
        return Hidden(both, said, float(mine > other))


class RowLength(Operation):
    """The length of each row: the root of the sum of its squares. (…, d) → (…, 1)

    Worked out in float64, as in `L2Normalize`.
    """

    takes = "(…, d)"
    signs = ("", "‖·‖")
    in_latex = r"\lVert {0}_i \rVert"
    in_torch = "{0}.double().norm(dim=-1, keepdim=True).float()"
    in_words = "The root of the sum of the squares of the row."

    def value(self, vectors: Tensor) -> Tensor:
        length = vectors.double().norm(dim=-1, keepdim=True)
        return length if vectors.dtype == torch.float64 else length.float()

    def arithmetic(self, index: tuple[int, ...], vectors) -> Expression:
        squares = tuple(map(squared, row(vectors, index)))
        return Called(math.sqrt, r"\sqrt{{{}}}", Sum(squares))

    def backward(self, back: Backward) -> None:
        (vectors,) = back.inputs
        unit = back.step("unit", back.ops.Divide(), vectors, back.result, axes=vectors.axes)
        back.into(0, back.ops.Multiply(), unit, back.gradient)


def _over_cosh_squared(value: float) -> float:
    return math.cosh(value) ** -2 if abs(value) < 350 else 0.0


def _is_positive(value: float) -> float:
    return float(value > 0)
