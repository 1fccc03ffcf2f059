"""Other ways to the same heads, and what a wrong split mixes up: to be compared with a trace."""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from ..operations.base import Operation
from ..operations.masks import check_mask
from ..recipes import ROLES
from ..trace import Trace
from .attention import divisor_of


def heads_one_by_one(
    embeddings: Tensor,
    W_query: Tensor,
    W_key: Tensor,
    W_value: Tensor,
    divisor: float = 1.0,
    mask: Tensor | None = None,
) -> Tensor:
    """The context vectors (head, query, d_value) of single heads, computed one by one, of
    embeddings (token, d_in) and matrices (head, d_in, width). `mask` is (query, key), True where a
    query may look. Raises ValueError for one of another kind or shape.
    """
    contexts = []
    for W_q, W_k, W_v in zip(W_query, W_key, W_value, strict=True):
        queries, keys, values = embeddings @ W_q, embeddings @ W_k, embeddings @ W_v
        scores = queries @ keys.T / divisor
        if mask is not None:
            check_mask(mask, scores)
            scores = scores.masked_fill(~mask, float("-inf"))
        contexts.append(scores.softmax(dim=-1) @ values)
    return torch.stack(contexts)


def stack_of_heads(trace: Trace) -> Tensor:
    """`heads_one_by_one` with the matrices, the divisor and the mask of a trace of heads."""
    return heads_one_by_one(
        trace["embeddings"].value,
        **{f"W_{role}": trace[f"head_W_{role}"].value for role in ROLES},
        divisor=divisor_of(trace, "head_"),
        mask=trace["mask"].value if "mask" in trace else None,
    )


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
