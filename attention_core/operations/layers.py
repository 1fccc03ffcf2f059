"""What stands around attention in a layer: norms, rectifiers, and their slopes as steps."""

import math
from itertools import product

import torch
from torch import Tensor
from torch.nn.functional import layer_norm, silu

from ..expression import (
    Called,
    Difference,
    Expression,
    Hidden,
    Number,
    Product,
    Quotient,
    Standardised,
    Sum,
)
from .base import Backward, Operation, line, matched
from .declared import computed, entrywise, gradients, squared, times_slope
from .entrywise import SoftCap

EPSILON = 1e-5
"""Added to the variance by torch's `layer_norm`, so that equal entries do not divide by zero."""
_CUBED = 0.044715
"""How much of the cube the approximation of GELU takes."""
_HALF = Number(0.5, r"\tfrac{1}{2}")
_ROOT = Number(math.sqrt(2 / math.pi), r"\sqrt{2/\pi}")


class LayerNorm(Operation):
    """Entries less their mean, divided by their standard deviation: of each row, or of the `whole`
    matrix, which is a mistake: rows then depend on one another. (token, d) → (token, d)

    Source: Ba et al. 2016, Layer Normalization.
    """

    takes = "(…, d)"
    in_latex = r"\operatorname{{norm}}({0})"

    whole: bool = False

    def value(self, vectors: Tensor) -> Tensor:
        return layer_norm(vectors, vectors.shape if self.whole else vectors.shape[-1:])

    def code(self, vectors: str) -> str:
        axes = f"{vectors}.shape" if self.whole else f"{vectors}.shape[-1:]"
        return f"torch.nn.functional.layer_norm({vectors}, {axes})"

    def arithmetic(self, index: tuple[int, ...], vectors) -> Expression:
        if self.whole:
            places = list(product(*map(range, vectors.value.shape)))
            return Standardised(tuple(map(vectors.cell, places)), places.index(index), EPSILON)
        return Standardised(line(vectors, index), index[-1], EPSILON)

    def words(self) -> str:
        of = "the whole matrix" if self.whole else "its row"
        return f"The entry minus the mean of {of}, divided by the standard deviation of {of}."

    def backward(self, back: Backward) -> None:
        (vectors,) = back.inputs
        if self.whole:
            back.refuse("a norm of the whole matrix is a mistake to be looked at")
        average = back.row("average", back.ops.RowMean(), vectors)
        variance = back.row("variance", back.ops.RowVariance(), vectors, average)
        mean = back.row("mean", back.ops.RowMean(), back.gradient)
        centred = back.step("centred", back.ops.Subtract(), back.gradient, mean)
        weighed = back.step("weighed", back.ops.Multiply(), back.gradient, back.result)
        along = back.row("along", back.ops.RowMean(), weighed)
        part = back.step("part", back.ops.Multiply(), back.result, along)
        across = back.step("across", back.ops.Subtract(), centred, part)
        back.into(0, back.ops.DivideByRoot(EPSILON), across, variance)


class ReLU(Operation):
    """Negative numbers become 0. (…) → (…)"""

    takes = "(…)"
    in_latex = r"\max(0, {0})"
    in_torch = "torch.relu({0})"
    in_words = "The number itself, or 0 if it is negative."
    value = computed(torch.relu)
    arithmetic = entrywise(lambda cell: Called(_positive_part, r"\max(0, {})", cell))
    backward = gradients(times_slope)


class GELU(Operation):
    """Each number times the chance that a standard normal draw is smaller: x Φ(x), which is
    ½ x (1 + erf(x / √2)); with `tanh`, the older approximation of it. (…) → (…)

    Source: Hendrycks and Gimpel 2016, Gaussian Error Linear Units.
    """

    takes = "(…)"
    in_words = (
        "The number times the chance that a standard normal draw is smaller than it: a large "
        "number stays, a very negative one goes to 0, and in between the curve is smooth."
    )
    backward = gradients(times_slope)

    tanh: bool = False

    def value(self, vectors: Tensor) -> Tensor:
        if self.tanh:
            inner = (2 / math.pi) ** 0.5 * (vectors + _CUBED * vectors**3)
            return 0.5 * vectors * (1 + inner.tanh())
        return 0.5 * vectors * (1 + (vectors / 2**0.5).erf())

    def formula(self, vectors: str) -> str:
        if self.tanh:
            inner = rf"\sqrt{{\tfrac{{2}}{{\pi}}}} ({vectors} + {_CUBED}\,{vectors}^{{\odot 3}})"
            bent = rf"\tanh\!\left({inner}\right)"
        else:
            bent = rf"\operatorname{{erf}}\!\left({vectors} / \sqrt 2\right)"
        return rf"\tfrac{{1}}{{2}} {vectors} \odot \left(1 + {bent}\right)"

    def code(self, vectors: str) -> str:
        # Written out, so that a reader sees what `torch.nn.functional.gelu` does.
        if self.tanh:
            inner = f"(2 / torch.pi) ** 0.5 * ({vectors} + {_CUBED} * {vectors}**3)"
            return f"0.5 * {vectors} * (1 + ({inner}).tanh())"
        return f"0.5 * {vectors} * (1 + ({vectors} / 2**0.5).erf())"

    def arithmetic(self, index: tuple[int, ...], vectors) -> Expression:
        # ½x (1 + erf) multiplied out: for negative numbers the bracket nearly cancels, and the two
        # terms say how exact the rest of it can be.
        cell = vectors.cell(index)
        bend = _bent_by_tanh if self.tanh else _bent_by_erf
        return Sum((Product((_HALF, cell)), Product((_HALF, cell, bend(cell)))))


class SiLU(Operation):
    """Each number times its logistic share: x / (1 + e^(−x)), which is called Swish too. (…) → (…)

    Sources: Hendrycks and Gimpel 2016; Shazeer 2020, GLU Variants Improve Transformer.
    """

    takes = "(…)"
    in_latex = r"{0} / (1 + e^{{-{0}}})"
    in_torch = "torch.nn.functional.silu({0})"
    in_words = (
        "The number times a share between 0 and 1 that grows with it: a large number stays, a very "
        "negative one goes to 0."
    )
    value = computed(silu)
    arithmetic = entrywise(lambda cell: Product((cell, _share(cell))))
    backward = gradients(times_slope)


class Sigmoid(Operation):
    """The logistic share of each number, from 0 to 1: what opens and closes a gate. (…) → (…)"""

    takes = "(…)"
    in_latex = r"\sigma({0})"
    in_torch = "{0}.sigmoid()"
    in_words = "A share between 0 and 1 that grows with the number: 0.5 where it is 0."
    value = computed(torch.sigmoid)
    arithmetic = entrywise(lambda cell: _share(cell))

    def backward(self, back: Backward) -> None:
        square = back.step("square", back.ops.Square(), back.result)
        slope = back.step("slope", back.ops.Subtract(), back.result, square)
        back.into(0, back.ops.Multiply(), back.gradient, slope)


def _bent_by_erf(cell: Expression) -> Called:
    share = Quotient(cell, Number(math.sqrt(2), r"\sqrt 2"))
    return Called(math.erf, r"\operatorname{{erf}}\!\left({}\right)", share)


def _bent_by_tanh(cell: Expression) -> Called:
    """What stands for it in the approximation."""
    cubed = Product((Number(_CUBED, str(_CUBED)), cell, cell, cell))
    return Called(math.tanh, r"\tanh\!\left({}\right)", Product((_ROOT, Sum((cell, cubed)))))


def _share(cell: Expression) -> Called:
    return Called(_logistic, r"\frac{{1}}{{1 + e^{{-{}}}}}", cell)


def _logistic(value: float) -> float:
    """1 / (1 + e^(−x)), without a power that is too large for a float."""
    if value < 0:
        power = math.exp(value)
        return power / (1 + power)
    return 1 / (1 + math.exp(-value))


def _positive_part(value: float) -> float:
    return value if math.isnan(value) else max(0.0, value)


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
    """The slope of `GELU`: Φ(x) + x φ(x), φ the normal density; or by `tanh`. (…) → (…)"""

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

    def __post_init__(self) -> None:
        SoftCap(self.cap)  # refuses what is not above 0

    def value(self, scores: Tensor) -> Tensor:
        return (scores / self.cap).cosh() ** -2

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        share = Quotient(scores.cell(index), Number(self.cap))
        return Called(_over_cosh_squared, r"1 / \cosh^2\!\left({}\right)", share)


class ShareOfLargest(_Slope):
    """The slope of a row's maximum: 1 at the largest, shared by equal ones. (…, key) → (…, key)"""

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
        cells = line(scores, index)
        if any(math.isnan(cell.value) for cell in cells):
            return Hidden(cells, r"\text{a row with nan has no largest}", math.nan)
        largest = max(cell.value for cell in cells)
        if cells[index[-1]].value != largest:
            return Hidden(cells, r"\text{not the largest of its row}")
        n_equal = sum(cell.value == largest for cell in cells)
        return Hidden(cells, r"\text{the largest of its row}", 1 / n_equal)


class ShareOfLarger(_Slope):
    """The slope of the larger of two: 1 if that is the first, 0, or ½ if equal. (…), (…) → (…)"""

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
        return Called(math.sqrt, r"\sqrt{{{}}}", Sum(tuple(map(squared, line(vectors, index)))))

    def backward(self, back: Backward) -> None:
        (vectors,) = back.inputs
        unit = back.step("unit", back.ops.Divide(), vectors, back.result, axes=vectors.axes)
        back.into(0, back.ops.Multiply(), unit, back.gradient)


def _over_cosh_squared(value: float) -> float:
    return 0.0 if abs(value) >= 350 else math.cosh(value) ** -2


def _is_positive(value: float) -> float:
    return float(value > 0)
