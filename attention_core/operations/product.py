"""Matrix products: every score and every context vector is one."""

from typing import ClassVar

import torch
from torch import Tensor

from ..expression import Expression, Product, Sum
from .base import Backward, Operation, matched
from .declared import computed


class MatMul(Operation):
    """left @ right, or left @ right transposed: (…, i, k) with (…, k, j) or (…, j, k) → (…, i, j).

    Rows of the left are combined with columns of the right; with `transpose`, rows with rows,
    which is a table of dot products. Axes in front are matched as torch does: (token, d_in) with
    (head, d_in, d_head) → (head, token, d_head). A left side of one axis is a single row: (k,) with
    (k, j) → (j,).
    """

    signs: ClassVar[tuple[str | None, ...]] = ("", "·", "=")

    transpose: bool = False

    @property
    def takes(self) -> str:
        return "(…, k) (…, j, k)" if self.transpose else "(…, k) (…, k, j)"

    @property
    def in_latex(self) -> str:
        return "{0} {T[1]}" if self.transpose else "{0} {1}"

    @property
    def in_torch(self) -> str:
        return "{0} @ {T[1]}" if self.transpose else "{0} @ {1}"

    @property
    def in_words(self) -> str:
        if self.transpose:
            return "A dot product: multiply the two rows entry by entry, then add the products."
        return "A weighted sum: each entry of the row times its row of the other matrix, added up."

    def value(self, left: Tensor, right: Tensor) -> Tensor:
        return left @ (right.mT if self.transpose else right)

    def arithmetic(self, index: tuple[int, ...], left, right, bias=None) -> Expression:
        *one_row, j = index
        lead = one_row[:-1] if left.value.ndim > 1 else one_row
        cells = [(j, k) if self.transpose else (k, j) for k in range(left.value.shape[-1])]
        products = (
            Product((matched(left, (*one_row, k)), matched(right, (*lead, *cell))))
            for k, cell in enumerate(cells)
        )
        return Sum((*products, *([] if bias is None else [matched(bias, index)])))

    def _row_with_heads(self, back: Backward, left, right) -> None:
        """A single row (k,) with the matrix of each head (head, k, j) → (head, j)."""
        if self.transpose:
            back.refuse("a single row meets several matrices that are transposed")
        n_rows, n_columns = right.value.shape[-2:]
        down = back.ops.Repeat(n_rows, -2, new=True)
        repeated = back.step("repeated", down, back.gradient, axes=right.axes)
        if back.wants(0):
            products = back.step("products", back.ops.Multiply(), repeated, right, axes=right.axes)
            back.into(0, back.ops.SumLast(), products)
        if back.wants(1):
            along = back.ops.Repeat(n_columns, -1, new=True)
            rows = back.step("rows", along, left, axes=right.axes[-2:])
            back.into(1, back.ops.Multiply(), repeated, rows)

    def backward(self, back: Backward) -> None:
        left, right, *bias = back.inputs
        is_row = left.value.ndim == 1
        if is_row and right.value.ndim > 2:
            self._row_with_heads(back, left, right)
        else:
            back.into(0, back.ops.MatMul(not self.transpose), back.gradient, right)
            both = (back.gradient, left) if self.transpose else (left, back.gradient)
            if not is_row:
                back.into(1, back.ops.TransposedMatMul(), *both)
            elif back.wants(1):
                copies = back.ops.Repeat(right.value.shape[-1], -1, new=True)
                repeated = back.step("repeated", copies, both[0], axes=right.axes)
                back.into(1, back.ops.Multiply(), repeated, both[1])
        if bias:
            back.into(2)


class MatMulByLoop(MatMul):
    """The dot products of `left @ right.mT` (i, k) with (j, k), added one component at a time.

    The same sums as three nested Python loops in float32: entry by entry, in order. The last bits
    may differ from a matrix product, which adds in another order.
    """

    takes = "(i, k) (j, k)"
    in_latex = r"\textstyle\sum_k {0}_{{i,k}}\, {1}_{{j,k}}"
    in_torch = "sum({0}[:, None, k] * {1}[None, :, k] for k in range({0}.shape[1]))"

    def __init__(self) -> None:
        super().__init__(transpose=True)

    def value(self, left: Tensor, right: Tensor) -> Tensor:
        total = torch.zeros(len(left), len(right), dtype=left.dtype)
        for k in range(left.shape[-1]):
            total = total + left[:, None, k] * right[None, :, k]
        return total


class BatchedMatMul(MatMul):
    """One product for each head: (head, i, k) with (head, k, j) → (head, i, j), by `torch.bmm`."""

    @property
    def takes(self) -> str:
        return "(head, i, k) (head, j, k)" if self.transpose else "(head, i, k) (head, k, j)"

    @property
    def in_torch(self) -> str:
        return "torch.bmm({0}, {T[1]})" if self.transpose else "torch.bmm({0}, {1})"

    def value(self, left: Tensor, right: Tensor) -> Tensor:
        return torch.bmm(left, right.mT if self.transpose else right)


class MatMulUpright(MatMul):
    """left @ right for upright vectors, (rightᵀ leftᵀ)ᵀ, and a bias (j,) added if there is one."""

    takes = "(…, i, k) (…, k, j) (j)"
    signs = ("", "·", "+", "=")
    in_latex = r"\big({1}^\top {0}^\top\big)^\top"
    in_torch = "({T[1]} @ {T[0]}).mT.contiguous()"
    in_words = "Each column of the transposed matrix is a token: the same products, added up."
    adds_third = True

    def __init__(self) -> None:
        super().__init__(transpose=False)

    def value(self, left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
        product = (right.mT @ left.mT).mT.contiguous()
        return product if bias is None else product + bias


class Affine(MatMul):
    """left @ right + bias: (…, i, k), (…, k, j), (j,) → (…, i, j)."""

    takes = "(…, k) (…, k, j) (j)"
    signs = ("", "·", "+", "=")
    in_words = "Each entry of the row times its row of the matrix, added up, and the bias with it."
    adds_third = True
    value = computed(lambda left, right, bias: left @ right + bias)


class Linear(MatMul):
    """x Wᵀ as `torch.nn.Linear`, plus a bias (d_out,): (…, d_in), (d_out, d_in) → (…, d_out)."""

    takes = "(…, k) (j, k) (j)"
    signs = ("", "·", "+", "=")
    in_words = "A dot product of the vector with a row of the layer's matrix, and the bias if any."
    adds_third = True
    value = computed(torch.nn.functional.linear)

    def __init__(self) -> None:
        super().__init__(transpose=True)

    def code(self, *names: str) -> str:
        return f"torch.nn.functional.linear({', '.join(names)})"
