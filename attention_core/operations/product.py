"""Matrix products: every score and every context vector is one."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ..expression import Expression, Product, Sum
from .base import Operation, row


@dataclass(frozen=True)
class MatMul(Operation):
    """left @ right, or left @ right transposed: (…, i, k) with (…, k, j) or (…, j, k) → (…, i, j).

    Rows of the left are combined with columns of the right; with `transpose`, rows with rows,
    which is a table of dot products.
    """

    transpose: bool = False

    def value(self, left: Tensor, right: Tensor) -> Tensor:
        return left @ (right.mT if self.transpose else right)

    def formula(self, left: str, right: str) -> str:
        return rf"{left} {right}^\top" if self.transpose else rf"{left} {right}"

    def code(self, left: str, right: str) -> str:
        return f"{left} @ {right}.mT" if self.transpose else f"{left} @ {right}"

    def arithmetic(self, index: tuple[int, ...], left, right) -> Expression:
        *lead, i, j = index
        return Sum(
            tuple(
                Product((factor, right.cell((*lead, *self._right(k, j)))))
                for k, factor in enumerate(row(left, (*lead, i, j)))
            )
        )

    def _right(self, k: int, j: int) -> tuple[int, int]:
        return (j, k) if self.transpose else (k, j)

    def words(self) -> str:
        if self.transpose:
            return "A dot product: multiply the two rows entry by entry, then add the products."
        return "A weighted sum: each entry of the row times its row of the other matrix, added up."


@dataclass(frozen=True)
class MatVec(Operation):
    """The dot product of each row with one vector: (key, d), (d,) → (key,)"""

    def value(self, rows: Tensor, vector: Tensor) -> Tensor:
        return rows @ vector

    def formula(self, rows: str, vector: str) -> str:
        return f"{rows} {vector}"

    def code(self, rows: str, vector: str) -> str:
        return f"{rows} @ {vector}"

    def arithmetic(self, index: tuple[int, ...], rows, vector) -> Expression:
        factors = row(rows, (*index, 0))
        return Sum(tuple(Product((each, vector.cell((k,)))) for k, each in enumerate(factors)))

    def words(self) -> str:
        return "A dot product: multiply the row and the vector entry by entry, then add."


class MatMulByLoop(MatMul):
    """The dot products of `left @ right.mT` (i, k) with (j, k), added one component at a time.

    The same sums as three nested Python loops in float32: entry by entry, in order. The last bits
    may differ from a matrix product, which adds in another order.
    """

    def __init__(self) -> None:
        super().__init__(transpose=True)

    def value(self, left: Tensor, right: Tensor) -> Tensor:
        total = torch.zeros(len(left), len(right), dtype=left.dtype)
        for k in range(left.shape[-1]):
            total = total + left[:, None, k] * right[None, :, k]
        return total

    def formula(self, left: str, right: str) -> str:
        return rf"\textstyle\sum_k {left}_{{i,k}}\, {right}_{{j,k}}"

    def code(self, left: str, right: str) -> str:
        return f"sum({left}[:, None, k] * {right}[None, :, k] for k in range({left}.shape[1]))"
