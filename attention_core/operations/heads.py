"""Rearranging: heads, rows and columns are moved, but for sums and means over heads."""

import torch
from torch import Tensor

from ..expression import Expression, Number, Product
from .base import Backward, Operation, check_place, matched
from .declared import computed, gradients, likewise, mean_of, through
from .spread import SumFirst


class Move(Operation):
    """An operation whose every cell is a copy of one cell of its only operand."""

    makes = None

    def source(self, index: tuple[int, ...], operand) -> tuple[int, ...]:
        """Where the cell at `index` is copied from."""
        raise NotImplementedError

    def arithmetic(self, index: tuple[int, ...], operand) -> Expression:
        return operand.cell(self.source(index, operand))


def _in_memory_of_its_own(moved: Tensor) -> Tensor:
    """A copy with the strides of the program's `contiguous`: torch adds in their order."""
    return moved.contiguous().clone()


def _check_shared(what: str, size: int, n_heads: int) -> None:
    """Raises ValueError, in plain words, where heads cannot share columns or rows evenly."""
    if n_heads < 1 or size % n_heads:
        raise ValueError(f"{size} {what} cannot be shared evenly among {n_heads} heads")


class Transpose(Move):
    """Rows become columns: (…, i, j) → (…, j, i)."""

    takes = "(…, i, j)"
    in_latex = "{T[0]}"
    in_torch = "{T[0]}.contiguous()"
    in_words = "Copied: rows and columns have changed places."
    value = computed(lambda matrix: _in_memory_of_its_own(matrix.mT))
    backward = gradients(likewise)

    def source(self, index: tuple[int, ...], _) -> tuple[int, ...]:
        *lead, i, j = index
        return (*lead, j, i)


class Permute(Transpose):
    """The last two of three axes change places: (head, i, j) → (head, j, i)."""

    takes = "(head, i, j)"
    in_torch = "{0}.permute(0, 2, 1).contiguous()"


class SplitHeads(Move):
    """Columns are dealt out to heads, side by side: (i, head·d) → (head, i, d); `in_batch`, in
    every text: (batch, i, head·d) → (batch, head, i, d).
    """

    in_latex = r"\operatorname{{split}}_{{{self.n_heads}}}({0})"
    backward = gradients(through(lambda own, _: JoinHeads(own.in_batch)))

    n_heads: int
    in_batch: bool = False

    @property
    def takes(self) -> str:
        return "(batch, i, d)" if self.in_batch else "(i, d)"

    def value(self, joined: Tensor) -> Tensor:
        _check_shared("columns", joined.shape[-1], self.n_heads)
        return _in_memory_of_its_own(joined.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2))

    def code(self, joined: str) -> str:
        axes = "1, 2" if self.in_batch else "0, 1"
        return f"{joined}.unflatten(-1, ({self.n_heads}, -1)).transpose({axes}).contiguous()"

    def source(self, index: tuple[int, ...], joined) -> tuple[int, ...]:
        *text, head, i, column = index
        return (*text, i, head * (joined.value.shape[-1] // self.n_heads) + column)

    def words(self) -> str:
        where = ", in every text" if self.in_batch else ""
        return f"Copied: head 0 takes the first columns, head 1 the next ones{where}."


class SplitWithoutTranspose(Move):
    """The common mistake: (token, head·d) is cut into (head, token, d) by its memory order, without
    bringing the heads to the front. Rows of a head then hold pieces of several tokens.
    """

    no_gradient = "it is a mistake to be looked at: what it mixes up goes back mixed up"
    takes = "(token, d)"
    in_latex = r"\operatorname{{reshape}}_{{{self.n_heads}}}({0})"
    in_torch = "{0}.reshape({self.n_heads}, len({0}), -1)"
    in_words = "Copied in memory order, which often means from another token's row."

    n_heads: int

    def value(self, joined: Tensor) -> Tensor:
        _check_shared("columns", joined.shape[-1], self.n_heads)
        return _in_memory_of_its_own(joined.reshape(self.n_heads, len(joined), -1))

    def source(self, index: tuple[int, ...], joined) -> tuple[int, ...]:
        n_rows, n_columns = joined.value.shape
        head, i, column = index
        width = n_columns // self.n_heads
        return divmod((head * n_rows + i) * width + column, n_columns)


class JoinHeads(Move):
    """Heads side by side in one row: (head, i, d) → (i, head·d); `in_batch`, in every text:
    (batch, head, i, d) → (batch, i, head·d).
    """

    in_latex = r"\operatorname{{concat}}\!\left({0}\right)"
    in_words = "Copied: the heads of a token stand side by side."
    backward = gradients(
        through(lambda own, back: SplitHeads(back.inputs[0].value.shape[-3], own.in_batch))
    )

    in_batch: bool = False

    @property
    def takes(self) -> str:
        return "(batch, head, i, d)" if self.in_batch else "(head, i, d)"

    def value(self, heads: Tensor) -> Tensor:
        return heads.transpose(-3, -2).flatten(-2).clone()  # the program's strides, at any width

    def code(self, heads: str) -> str:
        moved = "transpose(1, 2).flatten(2)" if self.in_batch else "transpose(0, 1).flatten(1)"
        return f"{heads}.{moved}"

    def source(self, index: tuple[int, ...], heads) -> tuple[int, ...]:
        *text, i, column = index
        head, within = divmod(column, heads.value.shape[-1])
        return (*text, head, i, within)


class RowsOfHeads(Move):
    """Of a matrix or a bias, the rows that belong to each head: (head·d, …) → (head, d, …)."""

    takes = "(d, …)"
    in_latex = r"\operatorname{{rows}}_{{{self.n_heads}}}({0})"
    in_torch = "{0}.unflatten(0, ({self.n_heads}, -1)).clone()"
    in_words = "Copied: the first rows meet head 0, the next ones head 1."
    backward = gradients(through(lambda *_: JoinRowsOfHeads()))

    n_heads: int

    def value(self, matrix: Tensor) -> Tensor:
        _check_shared("rows", len(matrix), self.n_heads)
        return _in_memory_of_its_own(matrix.unflatten(0, (self.n_heads, -1)))

    def source(self, index: tuple[int, ...], matrix) -> tuple[int, ...]:
        head, i, *j = index
        return (head * (len(matrix.value) // self.n_heads) + i, *j)


class JoinRowsOfHeads(Move):
    """The rows of all heads below each other: (head, d, …) → (head·d, …)."""

    takes = "(head, d, …)"
    in_latex = r"\operatorname{{stack}}({0})"
    in_torch = "{0}.flatten(0, 1).clone()"
    in_words = "Copied: the rows of head 0 first, then those of head 1."
    value = computed(lambda heads: heads.flatten(0, 1).clone())
    backward = gradients(through(lambda _, back: RowsOfHeads(len(back.inputs[0].value))))

    def source(self, index: tuple[int, ...], heads) -> tuple[int, ...]:
        i, *j = index
        return (*divmod(i, heads.value.shape[1]), *j)


class SumHeads(SumFirst):
    """All heads added: (head, i, j) → (i, j)."""

    takes = "(head, i, j)"
    in_latex = r"\textstyle\sum_h {0}"
    in_words = "What each head gives to this cell, added."
    backward = gradients(
        through(lambda _, back: back.ops.RepeatHeads(len(back.inputs[0].value), one=True))
    )


class SwitchOff(Operation):
    """One head's numbers become 0, the others stay: (head, i, j) → (head, i, j).

    Raises ValueError where there is no such head.
    """

    takes = "(head, i, j)"
    in_latex = r"{0}\ \text{{without head }}{self.head}"
    in_torch = "{0} * (torch.arange(len({0})) != {self.head})[:, None, None]"
    in_words = "Times 0 where the head is switched off, times 1 where it is not."
    backward = gradients(likewise)

    head: int

    def value(self, heads: Tensor) -> Tensor:
        check_place("head", self.head, len(heads))
        return heads * (torch.arange(len(heads)) != self.head)[:, None, None]

    def arithmetic(self, index: tuple[int, ...], heads) -> Expression:
        return Product((Number(float(index[0] != self.head)), heads.cell(index)))


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
    makes = None

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


class JoinColumns(Operation):
    """The columns of one tensor, then those of another: (…, i), (…, j) → (…, i+j). What the second
    lacks in front, or has once, is repeated: a head's own columns and those that all heads share,
    or a row's scores and one more that no key stands for.
    """

    takes = "(…, i) (…, j)"
    signs = ("", "then", "=")
    in_latex = r"\begin{{bmatrix}} {0} & {1} \end{{bmatrix}}"
    in_torch = "torch.cat([{0}, {1}.expand(*{0}.shape[:-1], -1)], dim=-1)"
    in_words = "Copied: the columns of the first, then those of the second."
    value = computed(lambda a, b: torch.cat([a, b.expand(*a.shape[:-1], -1)], dim=-1))

    def arithmetic(self, index: tuple[int, ...], first, second) -> Expression:
        *lead, column = index
        n_first = first.value.shape[-1]
        if column < n_first:
            return first.cell(index)
        return matched(second, (*lead, column - n_first))

    def backward(self, back: Backward) -> None:
        n_first = back.inputs[0].value.shape[-1]
        end = n_first + back.inputs[1].value.shape[-1]
        back.into(0, back.ops.Columns(0, n_first), back.gradient)
        back.into(1, back.ops.Columns(n_first, end), back.gradient)


class JoinRows(Operation):
    """The rows of `n` tensors behind each other: (…, i, d), (…, j, d) → (…, i+j, d).

    Raises ValueError for fewer than one.
    """

    in_words = "Copied: the rows of each, one after the other."
    value = computed(lambda *parts: torch.cat(parts, dim=-2))

    n: int = 2

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ValueError(f"rows of {self.n} tensors are joined: choose 1 or more")

    @property
    def takes(self) -> str:
        return " ".join(f"(…, rows_{at}, d)" for at in range(self.n))

    @property
    def signs(self) -> tuple[str, ...]:
        return ("", *["then"] * (self.n - 1), "=")

    def formula(self, *parts: str) -> str:
        rows = r" \\ ".join(parts)
        return rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"

    def code(self, *parts: str) -> str:
        return f"torch.cat([{', '.join(parts)}], dim=-2)"

    def arithmetic(self, index: tuple[int, ...], *parts) -> Expression:
        *lead, i, j = index
        for part in parts:
            n_rows = part.value.shape[-2]
            if i < n_rows:
                return part.cell((*lead, i, j))
            i -= n_rows
        raise IndexError(index)

    def backward(self, back: Backward) -> None:
        first = 0
        for at, part in enumerate(back.inputs):
            end = first + part.value.shape[-2]
            back.into(at, back.ops.Rows(first, end), back.gradient)
            first = end
