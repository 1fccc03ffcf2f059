"""What follows from places: masks from windows and lengths, and a bias that grows with distance."""

import math

import torch
from torch import Tensor

from ..expression import Expression, Number, Product
from .base import Operation
from .declared import computed, entrywise, multiplied
from .entrywise import PRECISIONS


def alibi_slopes(n_heads: int) -> tuple[float, ...]:
    """The slope of each head: 2^(−8h/n) for h from 1 to n, where n is a power of two. For any other
    number, those of the power of two below it, then every second one of the power above.

    Raises ValueError for fewer than one head.

    Source: Press et al. 2022, Train Short, Test Long, section 3; for other numbers of heads, the
    paper's code, `get_slopes`.
    """
    if n_heads < 1:
        raise ValueError(f"there are {n_heads} heads: slopes need 1 or more")
    below = 1 << (n_heads.bit_length() - 1)
    slopes = tuple(2 ** (-8 * head / below) for head in range(1, below + 1))
    if below == n_heads:
        return slopes
    return slopes + alibi_slopes(2 * below)[::2][: n_heads - below]


class DistanceBias(Operation):
    """What is added to a score for the distance of its query and key, −slope · distance:
    (head, query, key) with a slope for each head, or (query, key) with one slope. Query i stands at
    the place i + `offset` among the keys. `precision` is the kind of the numbers, such as float16;
    None for float32.

    Raises ValueError where there is no slope, query or key, and for slopes that are not finite.

    Source: Press et al. 2022, Train Short, Test Long (ALiBi), section 3.
    """

    in_words = "Minus the slope of the head, times how many places the key is away."

    slopes: tuple[float, ...] | float
    n_queries: int
    n_keys: int
    offset: int = 0
    precision: str | None = None

    def __post_init__(self) -> None:
        if min(self.n_queries, self.n_keys) < 1:
            raise ValueError("a bias of distances needs at least one query and one key")
        slopes = self.slopes if isinstance(self.slopes, tuple) else (self.slopes,)
        if not slopes or not all(map(math.isfinite, slopes)):
            raise ValueError(f"slopes of {slopes}: each head needs one, a finite number")
        if self.precision is not None and self.precision not in PRECISIONS:
            raise ValueError(f"precision is {self.precision!r}, but must be in {PRECISIONS}")

    @property
    def _slopes(self) -> Tensor:
        dtype = getattr(torch, self.precision) if self.precision else None
        slopes = torch.tensor(self.slopes, dtype=dtype)
        return slopes[:, None, None] if slopes.ndim else slopes

    def value(self) -> Tensor:
        places = torch.arange(self.n_queries)[:, None] + self.offset
        return self._slopes * -(places - torch.arange(self.n_keys)).abs()

    def formula(self) -> str:
        slope = "m_h" if isinstance(self.slopes, tuple) else "m"
        place = f"i {'-' if self.offset < 0 else '+'} {abs(self.offset)}" if self.offset else "i"
        return rf"-{slope}\,|{place} - j|"

    def code(self) -> str:
        dtype = f", dtype=torch.{self.precision}" if self.precision else ""
        slopes = list(self.slopes) if isinstance(self.slopes, tuple) else self.slopes
        heads = "[:, None, None]" if isinstance(self.slopes, tuple) else ""
        places = f"torch.arange({self.n_queries})[:, None]"
        if self.offset:
            places += f" {'-' if self.offset < 0 else '+'} {abs(self.offset)}"
        distance = f"({places} - torch.arange({self.n_keys})).abs()"
        return f"torch.tensor({slopes!r}{dtype}){heads} * -{distance}"

    def arithmetic(self, index: tuple[int, ...]) -> Expression:
        *head, query, key = index
        place = query + self.offset
        slope = float(self._slopes.flatten()[head[0] if head else 0])
        return Product((Number(slope), Number(float(-abs(place - key)), f"-|{place} - {key}|")))


class WindowMask(Operation):
    """A mask (query, key), True where a query may look: query i stands at the place i + `offset`
    among the keys, and sees `left` keys before it, itself, and `right` keys after it; None is any
    number. Causal is `right` = 0: from the top left corner with no offset, from the bottom right
    one with n_keys − n_queries. The first `sinks` keys stay visible however far to the left.

    Raises ValueError for a side or sinks below 0, for sinks without a left side, and where there is
    no query or no key.

    Sources: Beltagy et al. 2020, Longformer, section 3.1; Xiao et al. 2023, Efficient Streaming
    Language Models with Attention Sinks, section 3.2.
    """

    n_queries: int
    n_keys: int
    left: int | None = None
    right: int | None = 0
    offset: int = 0
    sinks: int = 0

    def __post_init__(self) -> None:
        if min(self.n_queries, self.n_keys) < 1:
            raise ValueError("a mask needs at least one query and one key")
        for side, size in (("left", self.left), ("right", self.right)):
            if size is not None and size < 0:
                raise ValueError(f"a window of {size} keys to the {side}: choose 0 or more")
        if self.sinks < 0:
            raise ValueError(f"{self.sinks} sinks: choose 0 or more")
        if self.sinks and self.left is None:
            raise ValueError(
                "sinks are the first keys, which stay visible outside of a window: without a side "
                "to the left, nothing is outside"
            )

    def value(self) -> Tensor:
        mask = torch.ones(self.n_queries, self.n_keys, dtype=torch.bool)
        if self.left is not None:
            mask = mask.triu(self.offset - self.left)
        if self.sinks:
            mask = mask | (torch.arange(self.n_keys) < self.sinks)
        if self.right is not None:
            mask = mask.tril(self.offset + self.right)
        return mask

    def formula(self) -> str:
        rules = []
        if self.left is not None:
            first = rf"\text{{ or }} j < {self.sinks}" if self.sinks else ""
            rules.append(rf"j \ge i{_signed(self.offset - self.left)}{first}")
        if self.right is not None:
            rules.append(rf"j \le i{_signed(self.offset + self.right)}")
        return r",\ ".join(rules) or r"\text{always}"

    def code(self) -> str:
        code = f"torch.ones({self.n_queries}, {self.n_keys}, dtype=torch.bool)"
        right = "" if self.right is None else f".tril({self.offset + self.right})"
        if self.sinks:
            first = f"torch.arange({self.n_keys}) < {self.sinks}"
            return f"({code}.triu({self.offset - self.left}) | ({first})){right}"
        return code + right + ("" if self.left is None else f".triu({self.offset - self.left})")

    def arithmetic(self, index: tuple[int, ...]) -> Expression:
        query, key = index
        place = query + self.offset
        stands = rf"\text{{query }}{query}\text{{ stands at }}{place}"
        if self.right is not None and key > place + self.right:
            return _hidden(key, ">", place, self.right)
        if key < self.sinks:
            return Number(1.0, rf"{stands}\text{{, key {key} is a sink: may look}}")
        if self.left is not None and key < place - self.left:
            return _hidden(key, "<", place, -self.left)
        return Number(1.0, rf"{stands}\text{{, key {key} is near enough: may look}}")

    def words(self) -> str:
        or_sink = ", or a sink" if self.sinks else ""
        return f"True where the key is within the window around the query's place{or_sink}."


def _hidden(key: int, beyond: str, place: int, further: int) -> Number:
    """A key that stands beyond the last that may be seen, `further` from the query's place."""
    sum_of = f" = {place}{_signed(further)}" if further else ""
    return Number(0.0, rf"\text{{key }}{key} {beyond} {place + further}{sum_of}\text{{: hidden}}")


def _signed(number: int) -> str:
    return f" {'+' if number > 0 else '-'} {abs(number)}" if number else ""


class LengthMask(Operation):
    """A mask (batch, 1, …, key), True for the first keys of each text, as many as its length: the
    rest is padding. `ones` is how many axes of 1 stand between.

    Raises ValueError for a length that is below 0 or above the number of keys.
    """

    in_latex = "j < n_b"
    in_words = "True for the keys of the text, false for the padding behind them."

    lengths: tuple[int, ...]
    n_keys: int
    ones: int = 1

    def __post_init__(self) -> None:
        if not self.lengths:
            raise ValueError("there are no lengths: padding needs one for each text")
        for length in self.lengths:
            if not 0 <= length <= self.n_keys:
                raise ValueError(f"a length of {length}, but there are {self.n_keys} keys")

    def value(self) -> Tensor:
        lengths = torch.tensor(self.lengths).reshape(-1, *[1] * (self.ones + 1))
        return torch.arange(self.n_keys) < lengths

    def code(self) -> str:
        lengths, ones = f"torch.tensor({list(self.lengths)})", ", 1" * (self.ones + 1)
        return f"torch.arange({self.n_keys}) < {lengths}.reshape(-1{ones})"

    def arithmetic(self, index: tuple[int, ...]) -> Expression:
        text, key, length = index[0], index[-1], self.lengths[index[0]]
        if key < length:
            return Number(1.0, rf"\text{{key }}{key} < {length}\text{{: may look}}")
        reason = rf"\text{{text }}{text}\text{{ has }}{length}"
        return Number(0.0, rf"{reason}\text{{ keys, the rest is padding: hidden}}")


class LogicalAnd(Operation):
    """True where both masks are; axes that one of them has not are repeated. (…) (…) → (…)"""

    no_gradient = "true and false cannot be moved a little"
    takes = "(…) (…)"
    signs = ("", "∧", "=")
    in_latex = r"{0} \wedge {1}"
    in_torch = "{0} & {1}"
    in_words = "True where both masks let the query look: 1 times 1."
    value = computed(torch.bitwise_and)
    arithmetic = entrywise(multiplied)
