"""Operations that only pick: rows of a table, one row, the places of ids."""

import torch
from torch import Tensor

from ..expression import Expression, Indicator, Picked
from .base import Backward, Meaning, Operation, check_place


class Lookup(Operation):
    """The rows of a table that ids point at: (vocabulary, d), (token,) → (token, d)."""

    takes = "(vocabulary, d) (token)"
    chooses = True
    signs = ("→", "", "=")
    in_latex = "{0}[{1}]"
    in_torch = "{0}[{1}]"
    in_words = "Copied from the row of the table that the token's id points at."
    makes = None

    def value(self, table: Tensor, ids: Tensor) -> Tensor:
        if ids.dtype == torch.bool:  # torch would take it for a mask
            raise ValueError("ids are whole numbers, but these are true or false")
        for row in ids.tolist():
            check_place("row", row, len(table))
        return table[ids]

    def arithmetic(self, index: tuple[int, ...], table, ids) -> Expression:
        pointer = ids.cell(index[:1])
        return Picked(table.cell((int(pointer.value), index[1])), pointer)

    def backward(self, back: Backward) -> None:
        table, ids = back.inputs
        back.into(0, back.ops.AddAtIds(len(table.value)), back.gradient, ids)


class OneHot(Operation):
    """A row for each id with a single 1, at the id: (token,) → (token, vocabulary)."""

    no_gradient = "an id is a whole number and cannot be moved a little"
    takes = "(token)"
    in_latex = r"\operatorname{{one\_hot}}({0})"
    in_torch = "torch.nn.functional.one_hot({0}, {self.n_rows}).float()"
    in_words = "1 in the column of the token's id, 0 everywhere else."
    makes = Meaning.CHOICE

    n_rows: int

    def value(self, ids: Tensor) -> Tensor:
        for row in ids.tolist():
            check_place("row", row, self.n_rows)
        return (ids[:, None] == torch.arange(self.n_rows)).float()

    def arithmetic(self, index: tuple[int, ...], ids) -> Expression:
        return Indicator(ids.cell(index[:1]), index[1])


class Row(Operation):
    """One row, copied: (i, …) → (…)."""

    takes = "(row, …)"
    in_latex = "{0}_{{{self.row}}}"
    in_torch = "{0}[{self.row}].clone()"
    in_words = "Copied from one row."
    makes = None

    row: int

    def __post_init__(self) -> None:
        if self.row < 0:
            raise ValueError(f"rows are counted from 0, so there is no row {self.row}")

    def value(self, matrix: Tensor) -> Tensor:
        check_place("row", self.row, len(matrix))
        return matrix[self.row].clone()

    def arithmetic(self, index: tuple[int, ...], matrix) -> Expression:
        return matrix.cell((self.row, *index))

    def backward(self, back: Backward) -> None:
        matrix = back.inputs[0].value
        back.into(0, back.ops.PutBack(self.row, len(matrix), -matrix.ndim, one=True), back.gradient)
