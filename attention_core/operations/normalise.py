"""Ways to turn a row of numbers into shares, or into a direction."""

import math

from torch import Tensor
from torch.nn.functional import normalize

from ..expression import Called, Exponential, Expression, Hidden, Quotient, Share, Sum
from .base import Backward, Meaning, Operation, line
from .declared import computed, squared

SMALLEST = 1e-300
"""A vector is taken to be at least this long, so that a row of zeros stays zero."""


class Softmax(Operation):
    """Weights of a row: e to each score, divided by the row's sum of them. (…, key) → (…, key).

    The largest score of the row is subtracted first, which changes no weight and keeps every
    exponential at most 1. Source: Goodfellow et al. 2016, Deep Learning, section 4.1.

    `dim` is -1, the last axis, unless a mistake is to be shown: -2 lets the queries of a column
    share 1, -3 the heads of a cell.
    """

    in_torch = "{0}.softmax(dim={self.dim})"
    makes = Meaning.SHARES

    dim: int = -1

    def __post_init__(self) -> None:
        if self.dim not in (-1, -2, -3):
            raise ValueError(f"a softmax along axis {self.dim}: choose -1, -2 or -3, from the end")

    @property
    def takes(self) -> str:
        return f"(…, {', '.join(('head', 'query', 'key')[self.dim :])})"

    def value(self, scores: Tensor) -> Tensor:
        return scores.softmax(dim=self.dim)

    def formula(self, scores: str) -> str:
        axis = "" if self.dim == -1 else rf"_{{\mathrm{{dim}}={self.dim}}}"
        return rf"\operatorname{{softmax}}{axis}\!\left({scores}\right)"

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        cells = line(scores, index, self.dim)
        largest = max(cell.value for cell in cells)
        return Share(tuple(Exponential(cell, largest) for cell in cells), picked=index[self.dim])

    def words(self) -> str:
        if self.dim != -1:
            return "A share along the wrong axis: e to the score, divided by the sum down it."
        return (
            "A share of its row: e to the score, divided by the sum of those of the whole row. "
            "Subtracting the row's largest score first leaves all shares as they are, and no power "
            "grows too large."
        )

    def backward(self, back: Backward) -> None:
        weighed = back.step("weighed", back.ops.Multiply(), back.gradient, back.result)
        mean = back.row("mean", back.ops.RowSum(self.dim), weighed, dim=self.dim)
        centred = back.step("centred", back.ops.Subtract(), back.gradient, mean)
        back.into(0, back.ops.Multiply(), back.result, centred)


class MaskedSoftmax(Softmax):
    """Softmax where −∞ hides keys; where it hides all, weights are 0, as in torch's attention."""

    def value(self, scores: Tensor) -> Tensor:
        nothing_seen = scores.isneginf().all(dim=self.dim, keepdim=True)
        return scores.softmax(dim=self.dim).masked_fill(nothing_seen, 0.0)

    def code(self, scores: str) -> str:
        nothing_seen = f"{scores}.isneginf().all(dim={self.dim}, keepdim=True)"
        return f"{scores}.softmax(dim={self.dim}).masked_fill({nothing_seen}, 0.0)"

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        cells = line(scores, index, self.dim)
        if all(cell.value == -math.inf for cell in cells):
            hidden = "every key of this query" if self.dim == -1 else "every score down this axis"
            return Hidden(cells, rf"\text{{{hidden} is hidden}}")
        return super().arithmetic(index, scores)


class SumNormalise(Operation):
    """Each score divided by the sum of its row. (…, key) → (…, key).

    Rows sum to 1, but a negative sum turns the order over and a sum near 0 makes it explode.
    """

    takes = "(…, key)"
    in_latex = r"{0} \,/\, \textstyle\sum_j {0}_{{i,j}}"
    in_torch = "{0} / {0}.sum(dim=-1, keepdim=True)"
    in_words = "A score divided by the sum of the scores of its row."
    value = computed(lambda scores: scores / scores.sum(dim=-1, keepdim=True))
    makes = Meaning.SHARES

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        return Share(line(scores, index), picked=index[-1])

    def backward(self, back: Backward) -> None:
        (scores,) = back.inputs
        total = back.row("total", back.ops.RowSum(), scores)
        weighed = back.step("weighed", back.ops.Multiply(), back.gradient, back.result)
        mean = back.row("mean", back.ops.RowSum(), weighed)
        centred = back.step("centred", back.ops.Subtract(), back.gradient, mean)
        back.into(0, back.ops.MaskedDivide(), centred, total)


class L2Normalize(Operation):
    """Each row divided by its length, so that a dot product becomes a cosine. A row of zeros
    stays zero. (…, d) → (…, d)

    Worked out in float64, where the squares of tiny and of huge entries still have room.
    """

    takes = "(…, d)"
    in_latex = r"{0}_i \,/\, \lVert {0}_i \rVert"
    in_torch = f"torch.nn.functional.normalize({{0}}.double(), dim=-1, eps={SMALLEST}).float()"
    in_words = "An entry divided by the length of its vector."
    value = computed(lambda own: normalize(own.double(), dim=-1, eps=SMALLEST).float())

    def arithmetic(self, index: tuple[int, ...], vectors) -> Expression:
        cells = line(vectors, index)
        squares = Sum(tuple(map(squared, cells)))
        if squares.value == 0:
            return cells[index[-1]]
        return Quotient(cells[index[-1]], Called(math.sqrt, r"\sqrt{{{}}}", squares))

    def backward(self, back: Backward) -> None:
        (vectors,) = back.inputs
        length = back.row("length", back.ops.RowLength(), vectors)
        weighed = back.step("weighed", back.ops.Multiply(), back.gradient, back.result)
        along = back.row("along", back.ops.RowSum(), weighed)
        part = back.step("part", back.ops.Multiply(), back.result, along)
        across = back.step("across", back.ops.Subtract(), back.gradient, part)
        back.into(0, back.ops.MaskedDivide(), across, length)
