"""Heads of whole batches, key heads that several query heads share, and rows put behind others."""

import torch
from torch import Tensor

from ..expression import Expression
from .base import Backward, Operation
from .declared import computed, mean_of
from .heads import Move, _check_shared, _in_memory_of_its_own


class RepeatHeads(Move):
    """Each key head serves `times` query heads, one after the other:
    (…, head, i, j) → (…, head·times, i, j). With `one`, one matrix does: (i, j) → (times, i, j).

    Sources: Shazeer 2019, Fast Transformer Decoding (one head of keys and values); Ainslie et al.
    2023, GQA (groups).
    """

    times: int
    one: bool = False

    def __post_init__(self) -> None:
        if self.times < 1:
            raise ValueError(f"a head is repeated {self.times} times: choose 1 or more")

    @property
    def takes(self) -> str:
        return "(i, j)" if self.one else "(…, head, i, j)"

    def value(self, heads: Tensor) -> Tensor:
        if self.one:
            return heads.repeat(self.times, 1, 1)
        return _in_memory_of_its_own(heads.repeat_interleave(self.times, dim=-3))

    def formula(self, heads: str) -> str:
        return rf"{heads}\ \text{{{'' if self.one else 'each head '}{self.times} times}}"

    def code(self, heads: str) -> str:
        if self.one:
            return f"{heads}.repeat({self.times}, 1, 1)"
        return f"{heads}.repeat_interleave({self.times}, dim=-3)"

    def source(self, index: tuple[int, ...], _) -> tuple[int, ...]:
        *lead, head, i, j = index
        return (i, j) if self.one else (*lead, head // self.times, i, j)

    def words(self) -> str:
        if self.one:
            return "Copied: every head gets the whole matrix."
        return f"Copied: {self.times} query heads share one head of keys and values."

    def backward(self, back: Backward) -> None:
        summed = back.ops.SumHeads() if self.one else back.ops.SumGroups(self.times)
        back.into(0, summed, back.gradient)


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
        return mean_of(heads.cell((first + at, i, j)) for at in range(self.times))

    def backward(self, back: Backward) -> None:
        share = back.step("share", back.ops.ScaleBy(1 / self.times), back.gradient)
        back.into(0, back.ops.RepeatHeads(self.times), share)


class Rows(Move):
    """Some rows, copied: those from `first` up to, not including, `end`.
    (…, i, d) → (…, end−first, d)

    Raises ValueError where there are no such rows.
    """

    takes = "(…, i, d)"
    in_torch = "{0}[..., {self.first}:{self.end}, :].clone()"
    in_words = "Copied from a block of rows."
    _one, _dim = "row", -2

    first: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.first < self.end:
            raise ValueError(f"there are no {self._one}s from {self.first} up to {self.end}")

    def value(self, whole: Tensor) -> Tensor:
        if self.end > (size := whole.shape[self._dim]):
            raise ValueError(f"there is no {self._one} {self.end - 1} among {size}")
        picked = whole.narrow(self._dim, self.first, self.end - self.first)
        return picked.clone()  # contiguous() may be no copy

    def formula(self, whole: str) -> str:
        every = r"\cdot,\," if self._dim == -1 else ""
        return rf"{whole}_{{{every}{self.first}..{self.end - 1}}}"

    def source(self, index: tuple[int, ...], _) -> tuple[int, ...]:
        at = len(index) + self._dim
        return (*index[:at], self.first + index[at], *index[at + 1 :])

    def backward(self, back: Backward) -> None:
        (whole,) = back.inputs
        size = whole.value.shape[self._dim]
        back.into(0, back.ops.PutBack(self.first, size, self._dim), back.gradient)


class Columns(Rows):
    """Some columns, copied: those from `first` up to, not including, `end`. (…, d) → (…, end−first)

    Raises ValueError where there are no such columns.
    """

    takes = "(…, d)"
    in_torch = "{0}[..., {self.first}:{self.end}].clone()"
    in_words = "Copied from a block of columns."
    _one, _dim = "column", -1


class JoinRows(Operation):
    """The rows of the second behind those of the first: (…, i, d), (…, j, d) → (…, i+j, d)."""

    takes = "(…, i, d) (…, j, d)"
    signs = ("", "then", "=")
    in_latex = r"\begin{{bmatrix}} {0} \\ {1} \end{{bmatrix}}"
    in_torch = "torch.cat(({0}, {1}), dim=-2)"
    in_words = "Copied: first the rows that were there before, then the new ones."
    value = computed(lambda first, then: torch.cat((first, then), dim=-2))

    def arithmetic(self, index: tuple[int, ...], first, then) -> Expression:
        *lead, i, j = index
        n_first = first.value.shape[-2]
        if i < n_first:
            return first.cell(index)
        return then.cell((*lead, i - n_first, j))

    def backward(self, back: Backward) -> None:
        first, _ = back.inputs
        n_first, n_all = first.value.shape[-2], back.result.value.shape[-2]
        back.into(0, back.ops.Rows(0, n_first), back.gradient)
        back.into(1, back.ops.Rows(n_first, n_all), back.gradient)
