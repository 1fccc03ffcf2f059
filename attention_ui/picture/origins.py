"""The token and head that each moved cell came from, by moving places in place of numbers."""

import torch
from torch import Tensor

from .matrix import Matrix


def origins(matrix: Matrix) -> tuple[Tensor, Tensor]:
    """The token and the head (rows, columns) of a (token, columns) matrix dealt to heads."""
    step = matrix.step
    (joined,) = step.inputs
    n_columns = joined.value.shape[-1]
    places = torch.arange(joined.value.numel()).reshape(joined.value.shape)
    moved = step.operation.value(places)[matrix.lead]
    return moved // n_columns, moved % n_columns // (n_columns // len(step.value))
