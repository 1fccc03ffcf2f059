"""Sentences whose queries, keys and values are chosen, so that weights can be read from outside.

A token's vector has a part that W_q alone reads, one for W_k, one for W_v, and one that nothing
reads. Where the values are rows of an identity matrix, what comes out of attention *is* the
weights.
"""

from typing import NamedTuple

import torch
from torch import Tensor

N_TOKENS = 7
SCORED, VALUED, UNREAD = 5, 11, 2
"""How many numbers make a query or key, a value, and what nothing reads, where there is room."""
WHOLE = 2 * SCORED + VALUED + UNREAD


class Sizes(NamedTuple):
    """The sizes of the three matrices."""

    n_heads: int
    d_head: int
    """Columns of W_q and W_k for one head: the width of a query."""
    d_value: int
    """Columns of W_v for one head."""
    d_in: int
    """Rows of each matrix."""
    n_shared: int = 0
    """How many heads of keys and values there are, where several heads of queries share one."""
    n_alike: int = 1
    """How many parts of a vector the same matrices are used on, a head each: all get the same."""

    @property
    def parts(self) -> tuple[int, int, int]:
        """How many numbers of a vector W_q, W_k and W_v read."""
        scored = max(1, min(SCORED, self.d_head, (self.d_in - 1) // 3))
        unread = min(UNREAD, self.d_in - 2 * scored - 1)
        return scored, scored, min(VALUED, self.d_value, self.d_in - 2 * scored - unread)

    @property
    def heads(self) -> tuple[int, int, int]:
        """How many heads of queries, keys and values there are."""
        shared = self.n_shared or self.n_heads
        return self.n_heads, shared, shared

    @property
    def widths(self) -> tuple[int, int, int]:
        """The width of a query, a key and a value."""
        return self.d_head, self.d_head, self.d_value


def all_sizes(n_heads: int) -> list[Sizes]:
    """Sizes to try, those that differ most first: a function may want some of them to be equal.
    No two have a width in common that scores could be divided by.
    """
    return [
        Sizes(n_heads, SCORED, VALUED, WHOLE),
        Sizes(n_heads, VALUED, VALUED, WHOLE + VALUED),
        Sizes(n_heads, WHOLE, WHOLE, WHOLE * n_heads),
    ]


def even_sizes(n_heads: int) -> Sizes:
    """Sizes for code that takes vectors in two halves; neither can be cut into more equal parts."""
    return Sizes(n_heads, 2 * VALUED, 2 * VALUED, 2 * WHOLE)


class Sentence(NamedTuple):
    """What the tokens of a sentence ask, are found by, and bring, in every head alike."""

    queries: Tensor
    """(token, scored), as the next."""
    keys: Tensor
    values: Tensor
    unread: Tensor
    """Read by no matrix."""

    @classmethod
    def drawn(cls, sizes: Sizes, n_tokens: int = N_TOKENS, seed: int = 0) -> "Sentence":
        """A sentence at random."""
        generator = torch.Generator().manual_seed(seed)
        widths = (*sizes.parts, sizes.d_in - sum(sizes.parts))
        return cls(*(torch.randn(n_tokens, width, generator=generator) for width in widths))

    def with_token(self, token: int, **parts: Tensor | float) -> "Sentence":
        """The same with other parts of one token: `queries=…`, `keys=…` and so on."""
        changed = {}
        for name, numbers in parts.items():
            changed[name] = getattr(self, name).clone()
            changed[name][token] = numbers
        return self._replace(**changed)

    def scores(self, sizes: Sizes) -> Tensor:
        """q·k, not divided by anything: (head, query, key), in float64."""
        made = self.queries.double() @ self.keys.double().mT
        return strengths(sizes.n_heads)[:, None, None] * made


def strengths(n_heads: int) -> Tensor:
    """What each head multiplies the queries by, (head,): no two neighbours are alike."""
    at = torch.arange(n_heads, dtype=torch.float64)
    return (1 + at % 4 / 4) * (1 - 2 * (at % 2))


def matrices(sizes: Sizes) -> list[Tensor]:
    """W_q, W_k and W_v: each picks its own part of every vector, for each head."""
    made, row = [], 0
    for at, (read, n_heads, width) in enumerate(
        zip(sizes.parts, sizes.heads, sizes.widths, strict=True)
    ):
        matrix = torch.zeros(sizes.d_in, n_heads, width)
        times = strengths(n_heads).float() if at == 0 else torch.ones(n_heads)
        for column in range(read):
            matrix[row + column, :, column] = times
        made.append(matrix.flatten(1))
        row += read
    return made


def drawn_at_random(sizes: Sizes, n_tokens: int, seed: int = 3) -> list[Tensor]:
    """Vectors and three matrices, none of them chosen to be read from outside."""
    generator = torch.Generator().manual_seed(seed)
    shapes = [(n_tokens, sizes.d_in)]
    shapes += [(sizes.d_in, n * width) for n, width in zip(sizes.heads, sizes.widths, strict=True)]
    vectors, *drawn = (torch.randn(shape, generator=generator) for shape in shapes)
    return [vectors, *(each / sizes.d_in**0.5 for each in drawn)]
