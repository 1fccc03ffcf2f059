"""Operations that only pick: rows of a table, one row, the places of ids."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ..expression import Expression, Indicator, Picked
from .base import Operation, check_place


@dataclass(frozen=True)
class Lookup(Operation):
    """The rows of a table that ids point at: (vocabulary, d), (token,) → (token, d)."""

    takes = "(vocabulary, d) (token)"
    chooses = True
    signs = ("→", "", "=")

    def value(self, table: Tensor, ids: Tensor) -> Tensor:
        if ids.dtype == torch.bool:  # torch would take it for a mask
            raise ValueError("ids are whole numbers, but these are true or false")
        for row in ids.tolist():
            check_place("row", row, len(table))
        return table[ids]

    def formula(self, table: str, ids: str) -> str:
        return f"{table}[{ids}]"

    def code(self, table: str, ids: str) -> str:
        return f"{table}[{ids}]"

    def arithmetic(self, index: tuple[int, ...], table, ids) -> Expression:
        pointer = ids.cell(index[:1])
        return Picked(table.cell((int(pointer.value), index[1])), pointer)

    def words(self) -> str:
        return "Copied from the row of the table that the token's id points at."


@dataclass(frozen=True)
class OneHot(Operation):
    """A row for each id with a single 1, at the id: (token,) → (token, vocabulary)."""

    takes = "(token)"

    n_rows: int

    def value(self, ids: Tensor) -> Tensor:
        for row in ids.tolist():
            check_place("row", row, self.n_rows)
        return (ids[:, None] == torch.arange(self.n_rows)).float()

    def formula(self, ids: str) -> str:
        return rf"\operatorname{{one\_hot}}({ids})"

    def code(self, ids: str) -> str:
        return f"torch.nn.functional.one_hot({ids}, {self.n_rows}).float()"

    def arithmetic(self, index: tuple[int, ...], ids) -> Expression:
        return Indicator(ids.cell(index[:1]), index[1])

    def words(self) -> str:
        return "1 in the column of the token's id, 0 everywhere else."


@dataclass(frozen=True)
class Row(Operation):
    """One row, copied: (i, …) → (…)."""

    takes = "(row, …)"

    row: int

    def __post_init__(self) -> None:
        if self.row < 0:
            raise ValueError(f"rows are counted from 0, so there is no row {self.row}")

    def value(self, matrix: Tensor) -> Tensor:
        check_place("row", self.row, len(matrix))
        return matrix[self.row].clone()

    def formula(self, matrix: str) -> str:
        return rf"{matrix}_{{{self.row}}}"

    def code(self, matrix: str) -> str:
        return f"{matrix}[{self.row}].clone()"

    def arithmetic(self, index: tuple[int, ...], matrix) -> Expression:
        return matrix.cell((self.row, *index))

    def words(self) -> str:
        return "Copied from one row."
