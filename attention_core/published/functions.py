"""What recipes call: functions of tensors, and of steps where a value alone does not say enough."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from . import measures

if TYPE_CHECKING:
    from ..trace import Trace
    from .recipe import Place


def _numbers(values: list) -> Tensor:
    numbers = torch.tensor(values)
    return torch.tensor(values, dtype=torch.float64) if numbers.is_floating_point() else numbers


def _close(one: Tensor, other: Tensor, tolerance: float = 1e-8) -> bool:
    """Whether two parts are equal but for rounding, by torch's tolerance or a notebook's."""
    if one.shape != other.shape or one.dtype != other.dtype:
        raise ValueError("parts that cannot be compared")
    return one.allclose(other, atol=tolerance)


def _equal(one: Tensor, other: Tensor) -> Tensor:
    """Whether parts are equal but for the last bits, in which torch's own ways differ."""
    rounding = 1e-6 * other.double().abs().max() if other.numel() else 0.0
    return (one.double() - other.double()).abs() <= rounding


def _product(trace: Trace, place: Place) -> tuple[int, Tensor, Tensor]:
    """A row of a product, its weights (query, key) and the vectors (key, d) they are given to."""
    (row,) = place.index
    weights, vectors = (operand.value for operand in trace[place.step].inputs)
    if weights.ndim != 2 or vectors.ndim != 2 or weights.shape[1] != len(vectors):
        raise ValueError(f"{place.step} is no product of matrices")
    return row, weights, vectors


def _loops_equal(trace: Trace, place: Place) -> bool:
    """Whether one loop adds up a row of context vectors (d,) as one over all rows, to the bit."""
    row, weights, vectors = _product(trace, place)
    keys = range(len(vectors))
    one_row = sum(weights[row, key] * vectors[key] for key in keys)  # (d,)
    all_rows: Any = sum(weights[:, key, None] * vectors[key] for key in keys)  # (query, d)
    return bool((all_rows[row] == one_row).all())


def _added_up(trace: Trace, place: Place, n_terms: int | None = None) -> Tensor:
    """A row of a product, (d,), as a loop makes it: its first terms, added one after the other."""
    row, weights, vectors = _product(trace, place)
    total = trace[place.step].value[row] * 0
    for weight, vector in zip(weights[row, :n_terms], vectors, strict=False):
        total = total + weight * vector
    return total


def _start(trace: Trace, place: Place) -> Tensor:
    """A running sum (key, d) before its first term: its first row less that term, (d,)."""
    (terms,) = trace[place.step].inputs
    return trace[place.step].value[0] - terms.value[0]


def _labels(trace: Trace, place: Place) -> list[str]:
    return list(trace.labels(trace[place.step].axes[0]))


def _vocabulary(trace: Trace, place: Place) -> list[list[str]]:
    """The tokens and their ids (token,), each pair once, in the order of the ids."""
    ids, tokens = trace[place.step].value.tolist(), _labels(trace, place)
    return [[token, str(row)] for row, token in sorted(set(zip(ids, tokens, strict=True)))]


OF_STEPS = {
    "labels": _labels,
    "vocabulary": _vocabulary,
    "start": _start,
    "added_up": _added_up,
    "loops_equal": _loops_equal,
}
"""By name: of a trace, a place in it, and what else the recipe says."""
OF_TENSORS = (
    "abs all amax amin aminmax argmax diagonal double flatten flip float int isclose isnan max "
    "mean min nonzero norm numel relu softmax std sum t transpose tril triu unique var"
)
"""What torch calls so."""
FUNCTIONS = {
    **{name: getattr(Tensor, name) for name in OF_TENSORS.split()},
    "numbers": _numbers,
    "shape": lambda x: list(x.shape),
    "width": lambda x: x.shape[-1],
    "len": len,
    "place": lambda names, name: names.index(name),
    "zeros": torch.zeros,
    "layer_norm": torch.layer_norm,
    "entropy": lambda weights: torch.special.entr(weights).sum(),
    "largest_of": lambda name: torch.finfo(getattr(torch, name)).max,
    "are": lambda names, name: torch.tensor([each == name for each in names]),
    "flat": lambda *parts: torch.cat([each.flatten() for each in parts]),
    "close": _close,
    "equal": _equal,
    "apart": lambda one, other: (one - other).abs().max(),
    "sqrt": math.sqrt,
    "log": math.log,
    "exp": math.exp,
    "ceil": math.ceil,
    **{
        name: each
        for name, each in vars(measures).items()
        if getattr(each, "__module__", "") == measures.__name__
    },
}
"""By name: of what the recipe gives them."""
