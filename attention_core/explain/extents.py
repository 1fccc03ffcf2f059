"""Which cells of its operands a cell is made of, by the arithmetic: blocks of places along axes."""

import itertools
import math
from collections import defaultdict
from collections.abc import Hashable, Iterable

import torch
from torch import Tensor

from ..expression import Expression
from ..trace import Step, listed
from ..utils.caching import cached_by_key, digest

FEW, PROBES, PRIMES = 64, 12, (31, 17, 13, 7)
"""More cells are told by one line along each axis, if the far corner and some between agree."""
NONE = -1


def extents(step: Step, operand: int) -> Tensor:
    """For each cell of a step, the blocks of one operand that its arithmetic names: the first and
    the last place along each axis of the operand, (…, block, axis of the operand, 2). All are -1
    for a block that there is not. A single number counts as a row of one.
    """
    return _extents(alike(step), step)[operand]


def alike(step: Step) -> Hashable:
    """The same for two steps that read alike: no slider, nor head, needs the arithmetic again."""
    shapes = tuple(tuple(each.value.shape) for each in step.inputs)
    chosen = digest(step.inputs[-1].value) if step.operation.chooses else None
    return step.operation, tuple(step.value.shape), shapes, chosen


@cached_by_key(512)
def _extents(step: Step) -> tuple[Tensor, ...]:
    shape = tuple(step.value.shape)
    if step.value.numel() > FEW and not step.operation.chooses:
        found = _from_lines(step, shape)
        if found is not None:
            return found
    blocks = _blocks(step, list(itertools.product(*map(range, shape))))
    return tuple(block.reshape(*shape, *block.shape[1:]) for block in blocks)


def _from_lines(step: Step, shape: tuple[int, ...]) -> tuple[Tensor, ...] | None:
    """The blocks, where a move along an axis moves them alike everywhere; else None."""
    near, far = (0,) * len(shape), [tuple(size - 1 for size in shape)]
    for at in range(1, PROBES):  # spread like this they also find what wraps around, as a reshape
        far.append(tuple(at * prime % size for prime, size in zip(itertools.cycle(PRIMES), shape)))
    start = _blocks(step, [near])
    found = [block[0].expand(*shape, *block.shape[1:]).clone() for block in start]
    for axis, size in enumerate(shape):
        line = [(*near[:axis], place, *near[axis + 1 :]) for place in range(size)]
        for block, first, along in zip(found, start, _blocks(step, line), strict=True):
            if len(first[0]) > 1 or len(along[0]) > 1 or (first == NONE).any():
                return None
            if (along == NONE).any():
                return None
            others = [1] * len(shape)
            others[axis] = size
            block += (along - first).reshape(*others, *along.shape[1:])
    for block, seen in zip(found, _blocks(step, far), strict=True):
        if seen.shape[1] != block.shape[len(shape)]:
            return None
        if any(not torch.equal(block[at], each) for at, each in zip(far, seen, strict=True)):
            return None
    return tuple(found)


def _blocks(step: Step, cells: Iterable[tuple[int, ...]]) -> list[Tensor]:
    """Of each operand the blocks that each of these cells reads, (cell, block, axis, 2)."""
    # Two operands may be one step, and are read apart: each by a name of its own.
    operands = [listed(operand, str(at)) for at, operand in enumerate(step.inputs)]
    read = [_read(step.operation.arithmetic(index, *operands)) for index in cells]
    found = []
    for operand in operands:
        n_axes = max(1, operand.value.ndim)
        blocks = [_apart(each[operand.name], n_axes) for each in read]
        most = max(map(len, blocks))
        none = [[(NONE, NONE)] * n_axes]
        padded = [each + none * (most - len(each)) for each in blocks]
        found.append(torch.tensor(padded, dtype=torch.int16).reshape(len(read), most, n_axes, 2))
    return found


def _read(expression: Expression) -> dict[str, set[tuple[int, ...]]]:
    """The cells that an arithmetic reads, by the name of their step."""
    found: dict[str, set[tuple[int, ...]]] = defaultdict(set)
    for cell in expression.cells():
        found[cell.step].add(cell.index)
    return found


def _apart(cells: set[tuple[int, ...]], n_axes: int) -> list[list[tuple[int, int]]]:
    """The cells as one block, or each as a block where they are none together."""
    if not cells:
        return [[(NONE, NONE)] * n_axes]
    if cells == {()}:
        return [[(0, 0)]]
    around = [(min(places), max(places)) for places in zip(*cells, strict=True)]
    if math.prod(last - first + 1 for first, last in around) == len(cells):
        return [around]
    return [[(place, place) for place in cell] for cell in sorted(cells)]
