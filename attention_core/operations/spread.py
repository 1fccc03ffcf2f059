"""What a backward pass does to axes: adds along one, copies, or puts numbers back."""

import torch
from torch import Tensor

from ..expression import Expression, Number, Product, Seen, Sum
from .base import Backward, Operation, check_place, matched
from .declared import added, as_it_is, computed, entrywise, gradients, repeated, summed, through


class Copied(Operation):
    """Every entry as it is: what an addition does to a gradient. (…) → (…)"""

    takes = "(…)"
    in_latex = "{0}"
    in_torch = "{0}.clone()"
    in_words = "Copied as it is: an addition lets a gradient through unchanged."
    makes = None
    value = computed(torch.clone)
    arithmetic = entrywise(lambda cell: cell)
    backward = gradients(as_it_is)


class Total(Operation):
    """Tensors of one shape, `n` of them, added: what comes back along each way. (…) (…) → (…)

    Raises ValueError for fewer than two.
    """

    in_words = "What comes back along each way, added: the number was used more than once."
    value = computed(lambda first, *others: sum(others, first))
    arithmetic = entrywise(added)

    n: int = 2

    def __post_init__(self) -> None:
        if self.n < 2:
            raise ValueError(f"a total of {self.n}: choose two tensors or more")

    @property
    def takes(self) -> str:
        return " ".join(["(…)"] * self.n)

    @property
    def signs(self) -> tuple[str, ...]:
        return ("", *["+"] * (self.n - 1), "=")

    def formula(self, *ways: str) -> str:
        return " + ".join(ways)

    code = formula

    def backward(self, back: Backward) -> None:
        for at in range(len(back.inputs)):
            back.into(at)


class TransposedMatMul(Operation):
    """leftᵀ @ right: (…, i, k) with (…, i, j) → (…, k, j). Every row i of both brings the products
    of its entries, and these are added: what a matrix gets back from all tokens it was used for.
    """

    takes = "(…, i, k) (…, i, j)"
    signs = ("", "·", "=")
    in_latex = "{T[0]} {1}"
    in_torch = "{T[0]} @ {1}"
    in_words = "A sum over all rows: an entry of the left row times one of the right row."
    transpose_first = True
    value = computed(lambda left, right: left.mT @ right)

    def arithmetic(self, index: tuple[int, ...], left, right) -> Expression:
        *lead, k, j = index
        rows = [(*lead, i) for i in range(left.value.shape[-2])]
        pairs = ((matched(left, (*row, k)), matched(right, (*row, j))) for row in rows)
        return Sum(tuple(map(Product, pairs)))

    def backward(self, back: Backward) -> None:
        left, right = back.inputs
        back.into(0, back.ops.MatMul(transpose=True), right, back.gradient)
        back.into(1, back.ops.MatMul(), left, back.gradient)


class SumFirst(Operation):
    """All that stands along the first axis, added: (i, …) → (…)."""

    takes = "(i, …)"
    signs = ("", "Σ")
    in_latex = r"\textstyle\sum_i ({0})_i"
    in_torch = "{0}.sum(dim=0)"
    in_words = "What each row gives to this cell, added."
    value = computed(torch.sum, dim=0)
    arithmetic = summed(0)
    backward = gradients(repeated(0))


class Repeat(Operation):
    """Every number `times` times along an axis, counted from the end, or from the front where it is
    not negative: an axis of 1, or a `new` one. (…) → (…)

    Raises ValueError for fewer than one time, and where the axis is longer than 1.
    """

    takes = "(…)"
    in_latex = r"{0}\ \text{{{self.times} times}}"
    in_torch = "{0}{self._new}.repeat_interleave({self.times}, dim={self.dim})"
    in_words = "Copied: a sum hands the same gradient to everything that was added."

    times: int
    dim: int = -1
    new: bool = False

    def __post_init__(self) -> None:
        if self.times < 1:
            raise ValueError(f"a number is repeated {self.times} times: choose 1 or more")

    def value(self, numbers: Tensor) -> Tensor:
        numbers = numbers.unsqueeze(self.dim) if self.new else numbers
        if (size := numbers.shape[self.dim]) != 1:
            raise ValueError(f"the axis to be repeated is {size} long, but must be 1")
        return numbers.repeat_interleave(self.times, dim=self.dim)

    @property
    def _new(self) -> str:
        return f".unsqueeze({self.dim})" if self.new else ""

    def arithmetic(self, index: tuple[int, ...], numbers) -> Expression:
        at = self.dim % len(index)
        return numbers.cell((*index[:at], *(() if self.new else (0,)), *index[at + 1 :]))

    def backward(self, back: Backward) -> None:
        (numbers,) = back.inputs
        if not self.new:
            back.into(0, back.ops.RowSum(self.dim), back.gradient)
        elif self.dim % (numbers.value.ndim + 1) == 0:
            back.into(0, back.ops.SumFirst(), back.gradient)
        elif self.dim % (numbers.value.ndim + 1) == numbers.value.ndim:
            back.into(0, back.ops.SumLast(), back.gradient)
        else:
            back.refuse("numbers that were repeated along an axis in the middle")


class SumGroups(Operation):
    """The way back of shared heads: each `times` added. (…, head·times, i, j) → (…, head, i, j)"""

    takes = "(…, head, i, j)"
    signs = ("", "Σ")
    in_latex = r"\textstyle\sum_{{{self.times}}} {0}"
    in_torch = "{0}.unflatten(-3, (-1, {self.times})).sum(dim=-3)"
    in_words = "What {self.times} heads give that share this head, added."
    backward = gradients(through(lambda own, back: back.ops.RepeatHeads(own.times)))

    times: int

    def __post_init__(self) -> None:
        if self.times < 1:
            raise ValueError(f"a sum of {self.times} heads: choose 1 or more")

    def value(self, heads: Tensor) -> Tensor:
        if heads.shape[-3] % self.times:
            raise ValueError(f"{heads.shape[-3]} heads make no groups of {self.times}")
        return heads.unflatten(-3, (-1, self.times)).sum(dim=-3)

    def arithmetic(self, index: tuple[int, ...], heads) -> Expression:
        *lead, group, i, j = index
        first = group * self.times
        return Sum(tuple(heads.cell((*lead, first + at, i, j)) for at in range(self.times)))


class PutBack(Operation):
    """A block put where it was taken from along an axis of `size`, counted from the end, beginning
    at `first`; 0 elsewhere. With `one`, a tensor that has lost the axis. (…) → (…)

    Raises ValueError where it does not fit there.
    """

    takes = "(…)"
    in_latex = r"{0}\ \text{{put back, else }} 0"
    in_words = "Put in its place; 0 everywhere else."

    first: int
    size: int
    dim: int = -2
    one: bool = False

    def value(self, block: Tensor) -> Tensor:
        block = block.unsqueeze(self.dim) if self.one else block
        behind = self.size - self.first - block.shape[self.dim]
        if self.first < 0 or behind < 0:
            raise ValueError(f"{block.shape[self.dim]} rows from {self.first} on, of {self.size}")
        shape = [*block.shape]
        shape[self.dim] = self.size
        whole = block.new_zeros(shape)
        whole.narrow(self.dim, self.first, block.shape[self.dim]).copy_(block)
        return whole

    def code(self, block: str) -> str:
        axis = f".unsqueeze({self.dim})" if self.one else ""
        size = f"{block}{axis}.shape[{self.dim}]"
        pad = "0, 0, " * (-1 - self.dim)
        behind = f"{self.size - self.first} - {size}"
        return f"torch.nn.functional.pad({block}{axis}, ({pad}{self.first}, {behind}))"

    def arithmetic(self, index: tuple[int, ...], block) -> Expression:
        at = len(index) + self.dim
        place = index[at] - self.first
        n_block = 1 if self.one else block.value.shape[self.dim]
        if not 0 <= place < n_block:
            return Number(0.0)
        return block.cell((*index[:at], *(() if self.one else (place,)), *index[at + 1 :]))

    def backward(self, back: Backward) -> None:
        (block,) = back.inputs
        end = self.first + (1 if self.one else block.value.shape[self.dim])
        if self.one or self.dim not in (-1, -2):
            back.refuse("a single row that was put back")
        taken = back.ops.Rows if self.dim == -2 else back.ops.Columns
        back.into(0, taken(self.first, end), back.gradient)


class AddAtIds(Operation):
    """Rows added up where their ids point, into a table of `n_rows`: (token, d), (token,) →
    (vocabulary, d). A token that stands twice brings two gradients to the one row it has.

    Raises ValueError for an id that the table does not have.
    """

    takes = "(token, d) (token)"
    chooses = True
    signs = ("", None, "→")
    in_latex = r"\textstyle\sum_{{i:\, {1}_i = j}} ({0})_i"
    in_torch = "torch.zeros({self.n_rows}, {0}.shape[1]).index_add(0, {1}, {0})"
    in_words = "What all tokens with this id give, added; 0 for a row that no token points at."

    n_rows: int

    def value(self, rows: Tensor, ids: Tensor) -> Tensor:
        for row in ids.tolist():
            check_place("row", row, self.n_rows)
        return rows.new_zeros(self.n_rows, rows.shape[1]).index_add(0, ids, rows)

    def arithmetic(self, index: tuple[int, ...], rows, ids) -> Expression:
        pointers = [ids.cell((place,)) for place in range(rows.value.shape[0])]
        seen = tuple(
            Seen(rows.cell((place, index[1])), pointer)
            for place, pointer in enumerate(pointers)
            if int(pointer.value) == index[0]
        )
        return Sum(seen) if seen else Number(0.0, r"0\quad\text{(no token has this id)}")

    def backward(self, back: Backward) -> None:
        back.into(0, back.ops.Lookup(), back.gradient, back.inputs[1])
