"""Where a mask forbids a query to look: that region is outlined, and what leaks through it is loud,
on a scale of its own.

Found from the steps: a mask that comes before scores or weights forbids there too, also where it
was applied in a way that does not hide.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from operator import ne

import torch
from torch import Tensor

from attention_core.operations import AttentionMask, MaskedFill
from attention_core.trace import Step, is_shares

from .matrix import Matrix
from .scale import FAINTEST_LEAK

SEEN_ON = 0.8
"""The share of the strongest colour that a leak gets at most: white numbers are read on it too."""


def mask_before(step: Step) -> Step | None:
    """The mask that a step of scores or weights has been through, or is; None for none."""
    if step.axes[-1:] != ("key",):
        return None
    while step.axes[-2:] in (("query", "key"), ("query", "key_or_sink")):
        if isinstance(step.operation, AttentionMask):
            return step
        if isinstance(step.operation, MaskedFill):
            return step.inputs[1]
        if not step.inputs:
            break
        step = step.inputs[0]
    return None


def with_masks(matrices: Sequence[Matrix]) -> list[Matrix]:
    """The matrices of an equation, each knowing what it may hold by this equation's masks."""
    applied = {
        matrix.step.inputs[0].name: matrix.step.inputs[1]
        for matrix in matrices
        if isinstance(matrix.step.operation, MaskedFill)
    }
    found = []
    for matrix in matrices:
        mask = mask_before(matrix.step) or applied.get(matrix.step.name)
        if mask is not None and matrix.allowed is None:
            most = torch.inf if not is_shares(matrix.step) else 0.0
            allowed = torch.where(mask.value, torch.nan, most)
            matrix = replace(matrix, allowed=allowed.expand(matrix.step.value.shape))
        found.append(matrix)
    return found


def forbidden(matrix: Matrix) -> Tensor | None:
    """Which cells (rows, columns) are forbidden; None where no mask has to do with it."""
    allowed = _allowed(matrix)
    return None if allowed is None else ~allowed.isnan()


def leaks(matrix: Matrix) -> Tensor | None:
    """Which cells hold more than they may."""
    allowed = _allowed(matrix)
    return None if allowed is None else matrix.seen.float().abs() > allowed


def _allowed(matrix: Matrix) -> Tensor | None:
    if matrix.allowed is None or matrix.covered or matrix.values.ndim != 2:
        return None
    return matrix.picked(matrix.allowed[matrix.lead])


def leak_limit(matrices: Sequence[Matrix]) -> float:
    """The value of the full colour of leaks: the largest of an equation; 0 where nothing leaks."""
    found = [
        matrix.drawn[leaking].abs().max().item()
        for matrix in matrices
        if (leaking := leaks(matrix)) is not None and leaking.any()
    ]
    return max(FAINTEST_LEAK, *found) if found else 0.0


def outline(region: Tensor, width: float, height: float) -> str:
    """The edge of a region (rows, columns) of cells so large as an SVG path; '' for none."""
    across, down = _edges(tuple(map(tuple, region.tolist())))
    lines = [f"M{a * width:.5g},{at * height:.5g}H{b * width:.5g}" for at, a, b in across]
    lines += [f"M{at * width:.5g},{a * height:.5g}V{b * height:.5g}" for at, a, b in down]
    return "".join(lines)


@lru_cache(maxsize=256)
def _edges(rows: tuple[tuple[bool, ...], ...]) -> tuple[list, list]:
    """The lines around what is True, across and down: of each its place, beginning and end."""

    def between(lines: Sequence[tuple[bool, ...]]) -> list[tuple[int, int, int]]:
        outside = (False,) * len(lines[0])
        edges = (map(ne, *pair) for pair in pairwise((outside, *lines, outside)))
        return [(at, *run) for at, edge in enumerate(edges) for run in _runs([*edge])]

    return between(rows), between([*zip(*rows, strict=True)])


def _runs(line: list[bool]) -> list[tuple[int, int]]:
    """The first place of each run of True, and the place after its last."""
    padded = [False, *line, False]
    edges = [at for at in range(len(line) + 1) if padded[at] != padded[at + 1]]
    return list(zip(edges[::2], edges[1::2], strict=True))
