"""Sentences whose queries, keys and values are chosen, so that weights can be read from outside.

A token's vector has a part that W_q alone reads, one for W_k, one for W_v, and one that nothing
reads. The values of the tokens are the rows of an identity matrix: what comes out of attention then
*is* the matrix of weights."""

from typing import NamedTuple

import torch
from torch import Tensor

N_TOKENS = 7
SCORED, VALUED, UNREAD = 5, 11, 2
"""How many numbers make a query or key, a value, and what nothing reads."""


class Widths(NamedTuple):
    """The sizes of the three matrices."""

    n_heads: int
    d_head: int
    """Columns of W_q and W_k for one head: the width of a query."""
    d_value: int
    """Columns of W_v for one head."""
    d_in: int
    """Rows of each matrix."""


def all_widths(n_heads: int) -> list[Widths]:
    """Sizes to try, those that differ most first: a function may want some of them to be equal."""
    d_in = (2 * SCORED + VALUED) * n_heads + UNREAD
    one_width = 2 * SCORED + VALUED + UNREAD
    return [
        Widths(n_heads, SCORED, VALUED, d_in),
        Widths(n_heads, VALUED, VALUED, d_in),
        Widths(n_heads, one_width, one_width, one_width * n_heads),
    ]


class Sentence(NamedTuple):
    """What the tokens of a sentence ask, are found by, and bring."""

    queries: Tensor
    """(head, token, 5), as the next."""
    keys: Tensor
    values: Tensor
    """(head, token, 11): the first columns hold the identity, the others numbers of both signs."""
    unread: Tensor
    """(token, 2): read by no matrix."""

    @classmethod
    def drawn(cls, n_heads: int, n_tokens: int = N_TOKENS, seed: int = 0) -> "Sentence":
        """A sentence at random."""
        generator = torch.Generator().manual_seed(seed)

        def draw(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator)

        values = draw(n_heads, n_tokens, VALUED)
        values[:, :, :N_TOKENS] = torch.eye(N_TOKENS)[:n_tokens]
        return cls(
            draw(n_heads, n_tokens, SCORED),
            draw(n_heads, n_tokens, SCORED),
            values,
            draw(n_tokens, UNREAD),
        )

    def with_token(self, token: int, **parts: Tensor | float) -> "Sentence":
        """The same with other parts of one token: `queries=…`, `keys=…` and so on."""
        changed = {}
        for name, numbers in parts.items():
            changed[name] = getattr(self, name).clone()
            changed[name][..., token, :] = numbers
        return self._replace(**changed)

    def ordered(self, order: Tensor) -> "Sentence":
        """The same tokens in another order."""
        return Sentence(*(part[..., order, :] for part in self))

    def scores(self) -> Tensor:
        """q·k, not divided by anything: (head, query, key), in float64."""
        return self.queries.double() @ self.keys.double().mT

    def vectors(self, widths: Widths) -> Tensor:
        """What the function gets as x: (token, d_in)."""
        parts = [part.transpose(0, 1).flatten(1) for part in self[:3]]
        vectors = torch.cat([*parts, self.unread], dim=1)
        return torch.nn.functional.pad(vectors, (0, widths.d_in - vectors.shape[1]))


def matrices(widths: Widths) -> list[Tensor]:
    """W_q, W_k and W_v: each picks its own part of every vector, head by head."""
    made, row = [], 0
    for read, width in ((SCORED, widths.d_head),) * 2 + ((VALUED, widths.d_value),):
        matrix = torch.zeros(widths.d_in, widths.n_heads * width)
        for head in range(widths.n_heads):
            columns = torch.arange(read)
            matrix[row + columns, head * width + columns] = 1.0
            row += read
        made.append(matrix)
    return made
