"""What the strongest colour of a matrix means, and which matrices of an equation share it."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from attention_core.operations import Lookup, MaskedFill, Row, ScaleBy, Standardise, SumHeads
from attention_core.operations import Scale as Divided
from attention_core.operations.base import Meaning
from attention_core.operations.heads import Move
from attention_core.trace import Step

from .matrix import Matrix

COMPARED = (Move, MaskedFill, Lookup, Row, SumHeads, Divided, ScaleBy)
"""Operations whose result is compared with what they are given, to be seen beside it."""
ADDED = ("+", "−")
FAINTEST_LEAK = 1e-6
"""A leak below this never gets the full colour: it is too little to be seen elsewhere."""


def is_signed(matrix: Matrix) -> bool:
    """Whether its colours go from minus the largest number to the largest."""
    is_named = matrix.step.meaning in (Meaning.SHARES, Meaning.CHOICE)
    return matrix.step.value.is_floating_point() and not is_named


def limit(matrix: Matrix) -> float:
    """The strongest colour's value: 1 for weights, 1/4 for derivatives, else the largest."""
    step = matrix.step
    if step.value.dtype == torch.bool:
        return 3.0  # a light shade for True
    if not step.value.is_floating_point():
        return math.inf
    if not is_signed(matrix):
        return 1.0
    if step.meaning is Meaning.SLOPES:
        return 0.25
    return float(_largest(_of_all_heads(matrix)[None])[0])


def _largest(each: Tensor) -> Tensor:
    """Of each of many tensors, its largest finite number by size; 1 where it has none."""
    flat = each.reshape(len(each), -1)
    size = torch.where(flat.isfinite(), flat.abs(), -1.0).amax(dim=1) if flat.numel() else None
    return torch.ones(len(each)) if size is None else torch.where(size < 0, 1.0, size)


def _of_all_heads(matrix: Matrix) -> Tensor:
    if not matrix.lead:
        return matrix.seen
    value = matrix.step.value
    if matrix.hidden is not None:
        value = value.masked_fill(matrix.hidden, math.nan)
    return (
        value
        if matrix.rows is None
        else value[(*[slice(None)] * len(matrix.lead), list(matrix.rows))]
    )


def limits(matrices: Sequence[Matrix], operators: Sequence[str]) -> list[float]:
    """The limit of each matrix; those added, copied or compared share the largest."""
    own = [limit(matrix) for matrix in matrices]
    group = _groups(matrices, operators)
    return [max(own[at] for at, each in enumerate(group) if each == mine) for mine in group]


def limits_each(each_there: Sequence[Sequence[Matrix]], operators: Sequence[str]) -> np.ndarray:
    """The same at each position of a control (position, matrix), for all of them at once."""
    columns = [*zip(*each_there, strict=True)]
    own = np.array([*map(_own_limits, columns)]).reshape(-1, len(each_there)).T
    moves = [at for at, each in enumerate(columns) if len({id(one.step) for one in each}) > 1]
    alike: dict[tuple, list[int]] = {}
    for at, matrices in enumerate(each_there):
        # What a matrix is decides with whom it shares, and that seldom changes.
        kind = tuple(
            (type(one.operation), one.name, one.meaning, *(given.name for given in one.inputs))
            for one in (matrices[each].step for each in moves)
        )
        alike.setdefault(kind, []).append(at)
    for places in alike.values():
        group = np.array(_groups(each_there[places[0]], operators))
        for each in {*group.tolist()}:
            shares = np.ix_(places, np.flatnonzero(group == each))
            own[shares] = own[shares].max(axis=1, keepdims=True)
    return own


def _own_limits(there: Sequence[Matrix]) -> list[float]:
    """The limit of one matrix at each position."""
    first = there[0]
    if all(one is first for one in there):
        return [limit(first)] * len(there)
    parts = {one.part: one for one in there}
    is_plain = is_signed(first) and first.step.meaning is not Meaning.SLOPES
    each = [*map(_of_all_heads, parts.values())] if is_plain else []
    kinds = {(values.dtype, values.shape) for values in each}
    if len(kinds) == 1 and len({one.step.meaning for one in there}) == 1:
        found = dict(zip(parts, _largest(torch.stack(each)).tolist(), strict=True))
    else:
        found = {part: limit(one) for part, one in parts.items()}
    return [found[one.part] for one in there]


def _groups(matrices: Sequence[Matrix], operators: Sequence[str]) -> list[int]:
    """Of each matrix a number that those have which share its scale."""
    group = list(range(len(matrices)))
    names = {matrix.step.name for matrix in matrices}

    def join(one: int, other: int) -> None:
        if is_signed(matrices[one]) and is_signed(matrices[other]):
            old, new = group[one], group[other]
            group[:] = [new if each == old else each for each in group]

    for at, (matrix, sign) in enumerate(zip(matrices, operators, strict=True)):
        same_size = _same_size(matrix.step)
        given = [other for other, each in enumerate(matrices) if each.step.name in same_size]
        # What is standardised has a size of its own, whatever the size of what it is made of.
        to = given[0] if given and isinstance(matrix.step.operation, Standardise) else at
        for other in given:
            if other != to:
                join(other, to)
        is_compared = sign == "=" and names.isdisjoint(given.name for given in matrix.step.inputs)
        if at and (sign in (*ADDED, "≠") or is_compared):
            join(at - 1, at)
    return group


def _same_size(step: Step) -> set[str]:
    """The inputs of a step that are added to each other, or copied into it."""
    if isinstance(step.operation, COMPARED):
        return {given.name for given in step.inputs}
    *before, _ = step.operation.signs
    return {
        given.name
        for given, sign, following in zip(step.inputs, before, [*before[1:], None], strict=False)
        if sign in ADDED or (sign == "" and following in ADDED)
    }
