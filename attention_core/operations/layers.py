"""What stands around attention in a layer: normalisation, the rectifier and its smooth relative."""

import math
from itertools import product

import torch
from torch import Tensor
from torch.nn.functional import layer_norm, silu

from ..expression import Called, Expression, Number, Product, Quotient, Standardised, Sum
from .base import Backward, Operation, row
from .declared import computed, entrywise, gradients, times_slope

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
        return Standardised(row(vectors, index), index[-1], EPSILON)

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


def _bent_by_erf(cell: Expression) -> Called:
    """erf(x / √2), which is 2 Φ(x) − 1."""
    share = Quotient(cell, Number(math.sqrt(2), r"\sqrt 2"))
    return Called(math.erf, r"\operatorname{{erf}}\!\left({}\right)", share)


def _bent_by_tanh(cell: Expression) -> Called:
    """What stands for it in the approximation."""
    cubed = Product((Number(_CUBED, str(_CUBED)), cell, cell, cell))
    inner = Product((_ROOT, Sum((cell, cubed))))
    return Called(math.tanh, r"\tanh\!\left({}\right)", inner)


def _share(cell: Expression) -> Called:
    """The logistic share of a number."""
    return Called(_logistic, r"\frac{{1}}{{1 + e^{{-{}}}}}", cell)


def _logistic(value: float) -> float:
    """1 / (1 + e^(−x)), without a power that is too large for a float."""
    if value < 0:
        power = math.exp(value)
        return power / (1 + power)
    return 1 / (1 + math.exp(-value))


def _positive_part(value: float) -> float:
    return value if math.isnan(value) else max(0.0, value)
