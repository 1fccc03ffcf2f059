"""Rotary positions: vectors turned by an angle that grows with their place."""

import math

import torch
from torch import Tensor

from ..expression import Called, Difference, Expression, Number, Product, Sum, constant
from .base import Backward, Operation, kind_of, written


class RotaryAngles(Operation):
    """The angle by which each pair of columns is turned, place · base^(−k/pairs): (token, pair).
    The first row stands at the place `first`. With `rates`, one for each pair, the angle is
    place · rate.

    Worked out in float64. Raises ValueError for a base that is not above 0, for fewer than one
    token or pair, for places that float64 cannot tell apart, and for rates that are not one for
    each pair.

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
        if abs(self.first) > 2**53 - self.n_tokens:
            raise ValueError(f"a first place of {self.first}: choose one from −2^53 to 2^53")
        if self.rates and len(self.rates) != self.n_pairs:
            raise ValueError(f"there are {len(self.rates)} rates for {self.n_pairs} pairs")

    def value(self) -> Tensor:
        places = torch.arange(self.first, self.first + self.n_tokens).double()[:, None]
        # In float32, as in transformers; vectors of 16 bits are turned in float32 and rounded once.
        if self.rates:
            return (places * torch.tensor(self.rates, dtype=torch.float64)).float()
        return (places / self.base ** (torch.arange(self.n_pairs).double() / self.n_pairs)).float()

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
    2k + 1, as Su et al. and Meta's own have it, and Llama's GGUF files. The last `rest` columns are
    left as they are, as in GPT-NeoX; those that are turned are `stretch` times longer then, as YaRN
    has it.

    Source: Black et al. 2022, GPT-NeoX-20B, section 2.1; Peng et al. 2023, YaRN, section 3.4.
    """

    takes = "(…, token, d) (token, pair)"
    signs = ("", "↻", "=")
    in_latex = r"{0}\ \text{{turned by }} {1}"

    neighbours: bool = False
    rest: int = 0
    stretch: float = 1.0

    def words(self) -> str:
        pair = "2k and 2k + 1" if self.neighbours else "k and k + d/2"
        longer = f", and made {self.stretch:g} times longer" if self.stretch != 1 else ""
        left = f" The last {self.rest} columns are copied." if self.rest else ""
        return (
            f"A pair of columns, {pair}, turned by an angle that grows with the place of the token"
            f"{longer}.{left}"
        )

    def value(self, vectors: Tensor, angles: Tensor) -> Tensor:
        if vectors.shape[-1] != 2 * angles.shape[-1] + self.rest:
            rest = f", and {self.rest} are left as they are" if self.rest else ""
            raise ValueError(
                f"{angles.shape[-1]} angles turn {2 * angles.shape[-1]} columns, two each{rest}, "
                f"but there are {vectors.shape[-1]}"
            )
        turned, rest = vectors.split((2 * angles.shape[-1], self.rest), dim=-1)
        cosines, sines = angles.cos() * self.stretch, angles.sin() * self.stretch
        if self.neighbours:
            left, right = turned[..., ::2], turned[..., 1::2]
            pairs = left * cosines - right * sines, right * cosines + left * sines
            return torch.cat((torch.stack(pairs, dim=-1).flatten(-2), rest), dim=-1)
        left, right = turned.chunk(2, dim=-1)
        upper, lower = left * cosines - right * sines, right * cosines + left * sines
        return torch.cat((upper, lower, rest), dim=-1)

    def code(self, vectors: str, angles: str) -> str:
        turned = f"{vectors}[..., :-{self.rest}]" if self.rest else vectors
        behind = f", {vectors}[..., -{self.rest}:]" if self.rest else ""
        left, right = f"{turned}.chunk(2, dim=-1)[0]", f"{turned}.chunk(2, dim=-1)[1]"
        if self.neighbours:
            end = f"-{self.rest}" if self.rest else ""
            left, right = f"{vectors}[..., :{end}:2]", f"{vectors}[..., 1:{end}:2]"
        cosines, sines = f"{angles}.cos()", f"{angles}.sin()"
        if self.stretch != 1:
            by = written(self.stretch)
            cosines, sines = f"({cosines} * {by})", f"({sines} * {by})"
        upper = f"{left} * {cosines} - {right} * {sines}"
        lower = f"{right} * {cosines} + {left} * {sines}"
        if self.neighbours:
            both = f"torch.stack(({upper}, {lower}), dim=-1).flatten(-2)"
            return f"torch.cat(({both}{behind}), dim=-1)" if behind else both
        return f"torch.cat(({upper}, {lower}{behind}), dim=-1)"

    def arithmetic(self, index: tuple[int, ...], vectors, angles) -> Expression:
        *lead, token, column = index
        half = angles.value.shape[-1]
        if column >= 2 * half:
            return vectors.cell(index)
        if self.neighbours:
            pair, is_left = column // 2, column % 2 == 0
            columns = 2 * pair, 2 * pair + 1
        else:
            pair, is_left = column % half, column < half
            columns = pair, pair + half
        angle = angles.cell((token, pair))
        cosine: Expression = Called(math.cos, r"\cos\!\left({}\right)", angle)
        sine: Expression = Called(math.sin, r"\sin\!\left({}\right)", angle)
        left, right = (vectors.cell((*lead, token, each)) for each in columns)
        if self.stretch != 1:
            by = Number(self.stretch)
            cosine, sine = Product((cosine, by)), Product((sine, by))
        if is_left:
            return Difference(Product((left, cosine)), Product((right, sine)))
        return Sum((Product((right, cosine)), Product((left, sine))))

    def preamble(self) -> tuple[str, ...]:
        if self.neighbours:
            return ("# Pairs are neighbours, columns 2k and 2k + 1.",)
        return ("# Pairs are columns k and k + d/2, as in rotate_half, not neighbours.",)

    def backward(self, back: Backward) -> None:
        vectors, angles = back.inputs
        if back.wants(1):
            back.refuse("angles are set by the place of a token, and nothing is learned of them")
        back_again = back.step("turned_back", back.ops.ScaleBy(-1.0), angles, axes=angles.axes)
        if vectors.value.dtype == angles.value.dtype:
            back.into(0, self, back.gradient, back_again)
        else:  # in float32 too, and rounded once
            exact = back.step("exact", self, back.gradient, back_again)
            back.into(0, back.ops.Cast(kind_of(vectors.value)), exact)
