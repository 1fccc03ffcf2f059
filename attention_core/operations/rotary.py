"""Rotary positions: vectors turned by an angle that grows with their place."""

import math

import torch
from torch import Tensor

from ..expression import Called, Difference, Expression, Number, Product, Sum, constant
from .base import Backward, Operation, written


class RotaryAngles(Operation):
    """The angle by which each pair of columns is turned, place · base^(−k/pairs): (token, pair).
    The first row stands at the place `first`. With `rates`, one for each pair, the angle is
    place · rate.

    Worked out in float64. Raises ValueError for a base that is not above 0, for fewer than one
    token or pair, and for rates that are not one for each pair.

    Source: Su et al. 2021, RoFormer, section 3.2.2.
    """

    n_tokens: int
    n_pairs: int
    base: float = 10000.0
    first: int = 0
    rates: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.base < math.inf:
            raise ValueError(f"a base of {self.base:g}: rotary positions need one above 0")
        if min(self.n_tokens, self.n_pairs) < 1:
            raise ValueError("rotary positions need at least one token and one pair of columns")
        if self.rates and len(self.rates) != self.n_pairs:
            raise ValueError(f"there are {len(self.rates)} rates for {self.n_pairs} pairs")

    def value(self) -> Tensor:
        places = torch.arange(self.first, self.first + self.n_tokens).double()[:, None]
        if self.rates:
            return (places * torch.tensor(self.rates, dtype=torch.float64)).float()
        pairs = torch.arange(self.n_pairs).double()
        return (places / self.base ** (pairs / self.n_pairs)).float()

    def formula(self) -> str:
        if self.rates:
            return r"i \cdot \omega_k"
        return rf"i \cdot {constant(self.base)}^{{-k/{self.n_pairs}}}"

    def code(self) -> str:
        places = f"torch.arange({self.first}, {self.first + self.n_tokens}).double()[:, None]"
        if self.rates:
            rates = f"torch.tensor({list(self.rates)!r}, dtype=torch.float64)"
            return f"({places} * {rates}).float()"
        pairs = f"torch.arange({self.n_pairs}).double()"
        return f"({places} / {written(self.base)} ** ({pairs} / {self.n_pairs})).float()"

    def arithmetic(self, index: tuple[int, ...]) -> Expression:
        token, pair = index
        place = self.first + token
        if self.rates:
            return Product((Number(float(place)), Number(self.rates[pair])))
        power = rf"{constant(self.base)}^{{{pair}/{self.n_pairs}}}"
        return Number(place / self.base ** (pair / self.n_pairs), f"{place} / {power}")

    def words(self) -> str:
        if self.rates:
            return "The place of the token, times the rate of its pair of columns."
        return "The place of the token, divided by a number that grows from pair to pair."


class Rotate(Operation):
    """Each pair of columns turned by its angle: (…, token, d), (token, pair) → (…, token, d). A dot
    product of two turned rows depends on how far apart they stand.

    Pair k are columns k and k + d/2, as Hugging Face's Llama has it; with `neighbours`, 2k and
    2k + 1, as Su et al. and Meta's own have it, and Llama's GGUF files.
    """

    takes = "(…, token, d) (token, pair)"
    signs = ("", "↻", "=")
    in_latex = r"{0}\ \text{{turned by }} {1}"

    neighbours: bool = False

    def words(self) -> str:
        pair = "2k and 2k + 1" if self.neighbours else "k and k + d/2"
        return (
            f"A pair of columns, {pair}, turned by an angle that grows with the place of the token."
        )

    def value(self, vectors: Tensor, angles: Tensor) -> Tensor:
        if vectors.shape[-1] != 2 * angles.shape[-1]:
            raise ValueError(
                f"{angles.shape[-1]} angles turn {2 * angles.shape[-1]} columns, two each, but "
                f"there are {vectors.shape[-1]}"
            )
        cosines, sines = angles.cos(), angles.sin()
        if self.neighbours:
            left, right = vectors[..., ::2], vectors[..., 1::2]
            rotated = left * cosines - right * sines, right * cosines + left * sines
            return torch.stack(rotated, dim=-1).flatten(-2)
        left, right = vectors.chunk(2, dim=-1)
        return torch.cat((left * cosines - right * sines, right * cosines + left * sines), dim=-1)

    def code(self, vectors: str, angles: str) -> str:
        left, right = f"{vectors}.chunk(2, dim=-1)[0]", f"{vectors}.chunk(2, dim=-1)[1]"
        if self.neighbours:
            left, right = f"{vectors}[..., ::2]", f"{vectors}[..., 1::2]"
        upper = f"{left} * {angles}.cos() - {right} * {angles}.sin()"
        lower = f"{right} * {angles}.cos() + {left} * {angles}.sin()"
        if self.neighbours:
            return f"torch.stack(({upper}, {lower}), dim=-1).flatten(-2)"
        return f"torch.cat(({upper}, {lower}), dim=-1)"

    def arithmetic(self, index: tuple[int, ...], vectors, angles) -> Expression:
        *lead, token, column = index
        half = angles.value.shape[-1]
        if self.neighbours:
            pair, is_left = column // 2, column % 2 == 0
            columns = 2 * pair, 2 * pair + 1
        else:
            pair, is_left = column % half, column < half
            columns = pair, pair + half
        angle = angles.cell((token, pair))
        cosine = Called(math.cos, r"\cos\!\left({}\right)", angle)
        sine = Called(math.sin, r"\sin\!\left({}\right)", angle)
        left, right = (vectors.cell((*lead, token, each)) for each in columns)
        if is_left:
            return Difference(Product((left, cosine)), Product((right, sine)))
        return Sum((Product((right, cosine)), Product((left, sine))))

    def preamble(self) -> tuple[str, ...]:
        if self.neighbours:
            return ("# Pairs are neighbours, columns 2k and 2k + 1.",)
        return ("# Pairs are columns k and k + d/2, as in rotate_half, not neighbours.",)

    def backward(self, back: Backward) -> None:
        _, angles = back.inputs
        if back.wants(1):
            back.refuse("angles are set by the place of a token, and nothing is learned of them")
        back_again = back.step("turned_back", back.ops.ScaleBy(-1.0), angles, axes=angles.axes)
        back.into(0, self, back.gradient, back_again)
