"""Other ways to the same heads, and what a wrong split mixes up: to be compared with a trace."""

from dataclasses import dataclass
from functools import lru_cache

import torch

from ..operations.base import Operation


@dataclass(frozen=True)
class Piece:
    """What a row of a split holds: the columns from `first` to `last` of one token's row."""

    token: int
    first: int
    last: int


@lru_cache(maxsize=4)
def pieces(split: Operation, n_tokens: int, n_columns: int) -> list[list[list[Piece]]]:
    """Each row of a split's pieces, by head and row in order: told by moving numbered cells."""
    numbered = torch.arange(n_tokens * n_columns).reshape(n_tokens, n_columns)
    return [[_pieces(row, n_columns) for row in head] for head in split.value(numbered).tolist()]


def _pieces(places: list[int], n_columns: int) -> list[Piece]:
    """The runs of a row that come from one token."""
    found: list[Piece] = []
    for place in places:
        token, column = divmod(place, n_columns)
        if found and found[-1].token == token and found[-1].last + 1 == column:
            found[-1] = Piece(token, found[-1].first, column)
        else:
            found.append(Piece(token, column, column))
    return found
