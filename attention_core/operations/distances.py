"""A bias on the scores that grows with the distance of query and key."""

import math

import torch
from torch import Tensor

from ..expression import Expression, Number, Product
from .base import Operation
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
