"""Σ in the margin of a matrix of weights: what each row sums to."""

import torch
from torch import Tensor

from attention_core.trace import is_shares

from .matrix import Matrix


def is_grid(matrix: Matrix) -> bool:
    """Whether it is a matrix of weights: a row a query, one number a key."""
    return is_shares(matrix.step) and matrix.axes == ("query", "key")


def is_one_row(matrix: Matrix) -> bool:
    """Whether it is the weights of one query, drawn upright: one number a key."""
    return is_shares(matrix.step) and matrix.axes == ("key", "")


def has_sums(matrix: Matrix) -> bool:
    """Whether the sums of its rows, or of its only one, stand beside it."""
    return (is_grid(matrix) or is_one_row(matrix)) and not matrix.covered


def row_sums(matrix: Matrix) -> Tensor:
    """The sum of each drawn query's weights, over all its keys, drawn or not."""
    if matrix.values.ndim == 1:
        return matrix.drawn.float().sum().reshape(1)
    values = matrix.values if matrix.rows is None else matrix.values[list(matrix.rows)]
    return values.float().sum(dim=1)


def is_one(total: float, kind: torch.dtype) -> bool:
    """Whether the sum of a row is 1, but for the rounding of numbers of this kind."""
    return abs(total - 1) <= max(1e-3, torch.finfo(kind).eps)
