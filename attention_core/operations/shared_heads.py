"""Heads of whole batches, key heads that several query heads share, and rows put behind others."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ..expression import Expression, Number, Quotient, Sum
from .base import Operation
from .heads import Move, _check_shared, _in_memory_of_its_own


@dataclass(frozen=True)
class RepeatHeads(Move):
    """Each key head serves `times` query heads, one after the other:
    (…, head, i, j) → (…, head·times, i, j).

    Sources: Shazeer 2019, Fast Transformer Decoding (one head of keys and values); Ainslie et al.
    2023, GQA (groups).
    """

    takes = "(…, head, i, j)"
    in_latex = r"{0}\ \text{{each head {self.times} times}}"
    in_torch = "{0}.repeat_interleave({self.times}, dim=-3)"
    in_words = "Copied: {self.times} query heads share one head of keys and values."

    times: int

    def __post_init__(self) -> None:
        if self.times < 1:
            raise ValueError(f"a head is repeated {self.times} times: choose 1 or more")

    def value(self, heads: Tensor) -> Tensor:
        return _in_memory_of_its_own(heads.repeat_interleave(self.times, dim=-3))

    def source(self, index: tuple[int, ...], _) -> tuple[int, ...]:
        *lead, head, i, j = index
        return (*lead, head // self.times, i, j)


@dataclass(frozen=True)
class MeanHeads(Operation):
    """Each group of `times` heads that follow each other becomes one, their mean:
    (head·times, i, j) → (head, i, j). So a trained model's heads of keys and values are made fewer.

    Source: Ainslie et al. 2023, GQA, section 2.1.
    """

    takes = "(head, i, j)"
    in_latex = r"\operatorname{{mean}}_{{{self.times}}}({0})"
    in_torch = "{0}.unflatten(0, (-1, {self.times})).mean(dim=1)"
    in_words = "The mean of {self.times} heads that follow each other."

    times: int

    def __post_init__(self) -> None:
        if self.times < 1:
            raise ValueError(f"a mean of {self.times} heads: choose 1 or more")

    def value(self, heads: Tensor) -> Tensor:
        _check_shared("heads", len(heads), self.times)
        return heads.unflatten(0, (-1, self.times)).mean(dim=1)

    def arithmetic(self, index: tuple[int, ...], heads) -> Expression:
        group, i, j = index
        first = group * self.times
        cells = tuple(heads.cell((first + at, i, j)) for at in range(self.times))
        return Quotient(Sum(cells), Number(float(self.times)))


@dataclass(frozen=True)
class SplitHeadsInBatch(Move):
    """Columns are dealt out to heads, in every text: (batch, i, head·d) → (batch, head, i, d)."""

    takes = "(batch, i, d)"
    in_latex = r"\operatorname{{split}}_{{{self.n_heads}}}({0})"
    in_torch = "{0}.unflatten(-1, ({self.n_heads}, -1)).transpose(1, 2).contiguous()"
    in_words = "Copied: head 0 takes the first columns, head 1 the next ones, in every text."

    n_heads: int

    def value(self, joined: Tensor) -> Tensor:
        _check_shared("columns", joined.shape[-1], self.n_heads)
        return _in_memory_of_its_own(joined.unflatten(-1, (self.n_heads, -1)).transpose(1, 2))

    def source(self, index: tuple[int, ...], joined) -> tuple[int, ...]:
        text, head, i, column = index
        return (text, i, head * (joined.value.shape[-1] // self.n_heads) + column)


@dataclass(frozen=True)
class JoinHeadsInBatch(Move):
    """Heads side by side in one row, in every text: (batch, head, i, d) → (batch, i, head·d)."""

    takes = "(batch, head, i, d)"
    in_latex = r"\operatorname{{concat}}\!\left({0}\right)"
    in_torch = "{0}.transpose(1, 2).flatten(2)"
    in_words = "Copied: the heads of a token stand side by side."

    def value(self, heads: Tensor) -> Tensor:
        return heads.transpose(1, 2).flatten(2).clone()  # the program's strides, at any width

    def source(self, index: tuple[int, ...], heads) -> tuple[int, ...]:
        text, i, column = index
        head, within = divmod(column, heads.value.shape[-1])
        return (text, head, i, within)


@dataclass(frozen=True)
class Columns(Move):
    """Some columns, copied: those from `first` up to, not including, `end`. (…, d) → (…, end−first)

    Raises ValueError where there are no such columns.
    """

    takes = "(…, d)"
    in_torch = "{0}[..., {self.first}:{self.end}].clone()"
    in_words = "Copied from a block of columns."

    first: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.first < self.end:
            raise ValueError(f"there are no columns from {self.first} up to {self.end}")

    def value(self, whole: Tensor) -> Tensor:
        if self.end > whole.shape[-1]:
            raise ValueError(f"there is no column {self.end - 1} among {whole.shape[-1]}")
        return whole[..., self.first : self.end].clone()  # contiguous() may be no copy

    def formula(self, whole: str) -> str:
        return rf"{whole}_{{\cdot,\,{self.first}..{self.end - 1}}}"

    def source(self, index: tuple[int, ...], _) -> tuple[int, ...]:
        return (*index[:-1], self.first + index[-1])


@dataclass(frozen=True)
class Rows(Move):
    """Some rows, copied: those from `first` up to, not including, `end`.
    (…, i, d) → (…, end−first, d)

    Raises ValueError where there are no such rows.
    """

    takes = "(…, i, d)"
    in_torch = "{0}[..., {self.first}:{self.end}, :].clone()"
    in_words = "Copied from a block of rows."

    first: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.first < self.end:
            raise ValueError(f"there are no rows from {self.first} up to {self.end}")

    def value(self, whole: Tensor) -> Tensor:
        if self.end > whole.shape[-2]:
            raise ValueError(f"there is no row {self.end - 1} among {whole.shape[-2]}")
        return whole[..., self.first : self.end, :].clone()  # contiguous() may be no copy

    def formula(self, whole: str) -> str:
        return rf"{whole}_{{{self.first}..{self.end - 1}}}"

    def source(self, index: tuple[int, ...], _) -> tuple[int, ...]:
        return (*index[:-2], self.first + index[-2], index[-1])


@dataclass(frozen=True)
class JoinRows(Operation):
    """The rows of the second behind those of the first: (…, i, d), (…, j, d) → (…, i+j, d)."""

    takes = "(…, i, d) (…, j, d)"
    signs = ("", "then", "=")
    in_latex = r"\begin{{bmatrix}} {0} \\ {1} \end{{bmatrix}}"
    in_torch = "torch.cat(({0}, {1}), dim=-2)"
    in_words = "Copied: first the rows that were there before, then the new ones."

    def value(self, first: Tensor, then: Tensor) -> Tensor:
        return torch.cat((first, then), dim=-2)

    def arithmetic(self, index: tuple[int, ...], first, then) -> Expression:
        *lead, i, j = index
        n_first = first.value.shape[-2]
        if i < n_first:
            return first.cell(index)
        return then.cell((*lead, i - n_first, j))
