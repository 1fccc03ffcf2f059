"""Where numbers come from: typed, drawn from a seed, encoded from text, or set by a formula."""

import math
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from ..expression import Called, Expression, Number
from ..utils.validation import shown
from .base import Backward, Operation, written

LARGE = 100_000
"""A draw of more numbers than these is kept for all traces together."""


class Given(Operation):
    """Numbers that were given, as nested tuples: nothing stands before them."""

    in_latex = r"\text{{given}}"
    in_words = "A number that was given: nothing is computed before it."

    numbers: tuple
    precision: str | None = None
    """The kind of the numbers, such as float16; None for what torch makes of them."""

    @classmethod
    def of(cls, tensor: Tensor, precision: str | None = None) -> "Given":
        """The numbers of a tensor."""
        return cls(_nested(tensor.tolist()), precision)

    @property
    def _dtype(self) -> torch.dtype | None:
        return getattr(torch, self.precision) if self.precision else None

    def value(self) -> Tensor:
        try:
            return torch.tensor(self.numbers, dtype=self._dtype)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{shown(self.numbers)} cannot be given: numbers are, and rows of one length"
            ) from error

    def code(self) -> str:
        dtype = f", dtype={self._dtype}" if self.precision else ""
        return f"torch.tensor({written(self.value())}{dtype})"

    def arithmetic(self, index: tuple[int, ...]) -> Expression:
        number = self.numbers
        for place in index:
            number = number[place]
        # Of all numbers, only this one is made.
        return Number(float(torch.tensor(number, dtype=self._dtype)))


def _nested(numbers: Any) -> Any:
    if not isinstance(numbers, list):
        return numbers
    has_rows = isinstance(next(iter(numbers), None), list)  # else not number by number
    return tuple(map(_nested, numbers) if has_rows else numbers)


class Draw(Operation):
    """Seeded random numbers. The draw is the first after its seed, or follows another draw.

    Distributions: `normal` (mean 0, standard deviation 1, as `torch.nn.Embedding` starts),
    `uniform` (0 to 1), `linear` (as `torch.nn.Linear` starts: uniform within ±1/√columns), and
    `integers` (0 up to, not including, `below`).
    """

    in_words = "Drawn at random: the generator's seed is {self.first_seed}."

    distribution: str
    shape: tuple[int, ...]
    seed: int | None = None
    after: "Draw | None" = None
    below: int | None = None
    fan_in: int | None = None
    """For `linear`: the width that bounds the numbers, where it is not the number of columns."""

    def __post_init__(self) -> None:
        if (self.seed is None) == (self.after is None):
            raise ValueError("a draw has either a seed or another draw that it follows")

    @classmethod
    def behind(
        cls,
        last: "Draw | None",
        distribution: str,
        shape: tuple[int, ...],
        fan_in: int | None = None,
        seed: int | None = None,
    ) -> "Draw":
        """The draw after the last one; without one, the first after the seed, or seed 0."""
        start = {"seed": seed or 0} if last is None else {"after": last}
        return cls(distribution, shape, **start, fan_in=fan_in)

    def value(self) -> Tensor:
        """The numbers, which are nobody's to change where the draw is large: all share them."""
        numbers, _ = _drawn(self)
        return numbers if self.is_large else numbers.clone()

    @property
    def is_large(self) -> bool:
        """Whether its numbers are kept for all traces together."""
        return math.prod(self.shape) > LARGE

    def formula(self) -> str:
        return {
            "normal": r"\mathcal N(0, 1)",
            "uniform": r"\mathcal U(0, 1)",
            "linear": r"\mathcal U(-1/\sqrt{d}, 1/\sqrt{d})",
            "integers": rf"\text{{integers below }}{self.below}",
        }[self.distribution]

    def code(self) -> str:
        sizes = ", ".join(map(str, self.shape))
        source = "generator=generator"
        if self.seed is not None:
            source += f".manual_seed({self.seed})"
        return {
            "normal": f"torch.randn({sizes}, {source})",
            "uniform": f"torch.rand({sizes}, {source})",
            "linear": f"torch.empty({sizes}).uniform_(-({self._width} ** -0.5), "
            f"{self._width} ** -0.5, {source})",
            "integers": f"torch.randint({self.below}, ({sizes},), {source})",
        }[self.distribution]

    def arithmetic(self, index: tuple[int, ...]) -> Expression:
        return Number(float(self.value()[index]))

    @property
    def _width(self) -> int:
        return self.fan_in or self.shape[-1]

    @property
    def first_seed(self) -> int:
        """The seed at the beginning of this draw's chain."""
        return self.seed if self.after is None else self.after.first_seed

    def before(self) -> tuple["Draw", ...]:
        """The draws since the seed that this one follows, first to last."""
        return () if self.after is None else (*self.after.before(), self.after)


def _drawn(draw: Draw) -> tuple[Tensor, Tensor]:
    """The numbers of a draw and the state of the generator after it: kept, few large ones."""
    return (_drawn_large if draw.is_large else _drawn_small)(draw)


def _draw(draw: Draw) -> tuple[Tensor, Tensor]:
    generator = torch.Generator()
    if draw.after is None:
        generator.manual_seed(draw.seed)
    else:
        generator.set_state(_drawn(draw.after)[1])
    if draw.distribution == "normal":
        numbers = torch.randn(draw.shape, generator=generator)
    elif draw.distribution == "uniform":
        numbers = torch.rand(draw.shape, generator=generator)
    elif draw.distribution == "linear":
        bound = draw._width**-0.5
        numbers = torch.empty(draw.shape).uniform_(-bound, bound, generator=generator)
    elif draw.distribution == "integers":
        numbers = torch.randint(draw.below, draw.shape, generator=generator)
    else:
        raise ValueError(f"no distribution is called {draw.distribution!r}")
    return numbers, generator.get_state()


_drawn_large = lru_cache(maxsize=4)(_draw)
_drawn_small = lru_cache(maxsize=128)(_draw)


class Encode(Operation):
    """The ids of tokens, as a vocabulary has them. (token,)"""

    in_latex = r"\text{{the place of each token in the vocabulary}}"
    in_words = "The token's place in the vocabulary."

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    entries: tuple[tuple[str, int], ...]
    """The part of the vocabulary that a program needs: token and id."""
    unknown: int | None = None

    def value(self) -> Tensor:
        return torch.tensor(self.ids)

    def code(self) -> str:
        found = "vocabulary[token]" if self.unknown is None else "vocabulary.get(token, unknown)"
        return f"torch.tensor([{found} for token in tokens])"

    def preamble(self) -> tuple[str, ...]:
        lines = (f"tokens = {list(self.tokens)!r}", f"vocabulary = {dict(self.entries)!r}")
        return lines if self.unknown is None else (*lines, f"unknown = {self.unknown}")

    def arithmetic(self, index: tuple[int, ...]) -> Expression:
        return Number(float(self.ids[index[0]]))


class Edit(Operation):
    """A matrix in which some cells were typed by hand: edits are (row, column, number).

    Of two edits of one cell, the last counts. Raises ValueError for no edits, and for a cell that
    the matrix does not have.
    """

    takes = "(row, column)"
    in_latex = r"{0}\ \text{{with your numbers}}"
    in_words = "The numbers that you typed. All others are as they were."

    edits: tuple[tuple[int, int, float], ...]

    def __post_init__(self) -> None:
        if not self.edits:
            raise ValueError("no cell was typed: an edit needs a row, a column and a number")
        for row, column, _ in self.edits:
            if row < 0 or column < 0:
                raise ValueError(f"cells are counted from 0, so there is no cell [{row}, {column}]")

    def value(self, matrix: Tensor) -> Tensor:
        n_rows, n_columns = matrix.shape
        for row, column in self._typed:
            if row >= n_rows or column >= n_columns:
                raise ValueError(
                    f"there is no cell [{row}, {column}] in a matrix of {n_rows} rows and "
                    f"{n_columns} columns"
                )
        return matrix.index_put(self._places(), self._numbers().to(matrix.dtype))

    @property
    def _typed(self) -> dict[tuple[int, int], float]:
        return {(row, column): float(number) for row, column, number in self.edits}

    def _places(self) -> tuple[Tensor, Tensor]:
        rows, columns = zip(*self._typed, strict=True)
        return torch.tensor(rows), torch.tensor(columns)

    def _numbers(self) -> Tensor:
        return torch.tensor(list(map(float, self._typed.values())))

    def code(self, matrix: str) -> str:
        rows, columns = (written(places) for places in self._places())
        return (
            f"{matrix}.index_put((torch.tensor({rows}), torch.tensor({columns})), "
            f"torch.tensor({written(self._numbers())}))"
        )

    def arithmetic(self, index: tuple[int, ...], matrix) -> Expression:
        typed = self._typed.get((index[0], index[1]))
        return matrix.cell(index) if typed is None else Number(typed)

    def backward(self, back: Backward) -> None:
        kept = tuple((row, column, 0.0) for row, column in self._typed)
        back.into(0, back.ops.Edit(kept), back.gradient)


def shared(operation: Operation, *operands: Operation) -> Tensor | None:
    """The numbers of a large draw, or an edited one, kept for all traces; None for others."""
    match operation, operands:
        case Draw(is_large=True), ():
            return operation.value()
        case Edit(), (Draw(is_large=True) as draw,):
            return _typed_over(operation, draw)
    return None


@lru_cache(maxsize=2)
def _typed_over(edit: Edit, draw: Draw) -> Tensor:
    return edit.value(draw.value())


class Sinusoid(Operation):
    """Position vectors of sines and cosines, (token, d).

    Worked out in float64: in float32 an angle of 63 is known to five decimals, and so its sine.

    Source: Vaswani et al. 2017, Attention Is All You Need, section 3.5.
    """

    in_latex = r"\sin\!\big(i / 10000^{{2k/d}}\big),\ \cos\!\big(i / 10000^{{2k/d}}\big)"
    in_torch = "torch.where(columns % 2 == 0, angles.sin(), angles.cos()).float()"
    in_words = "A sine (even columns) or cosine (odd columns) of the position, slower to the right."

    n_tokens: int
    width: int

    def value(self) -> Tensor:
        positions = torch.arange(self.n_tokens).double()[:, None]
        columns = torch.arange(self.width).double()
        angles = positions / 10000 ** (columns // 2 * 2 / self.width)
        return torch.where(columns % 2 == 0, angles.sin(), angles.cos()).float()

    def preamble(self) -> tuple[str, ...]:
        return (
            f"positions = torch.arange({self.n_tokens}).double()[:, None]",
            f"columns = torch.arange({self.width}).double()",
            f"angles = positions / 10000 ** (columns // 2 * 2 / {self.width})",
        )

    def arithmetic(self, index: tuple[int, ...]) -> Expression:
        position, column = index
        power = column // 2 * 2 / self.width
        written_out = rf"{position} / 10000^{{{column // 2 * 2}/{self.width}}}"
        angle = Number(position / 10000**power, written_out)
        if column % 2 == 0:
            return Called(math.sin, r"\sin\!\left({}\right)", angle)
        return Called(math.cos, r"\cos\!\left({}\right)", angle)
