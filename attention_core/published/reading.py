"""What stands at a place of a trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .places import Place

if TYPE_CHECKING:
    from torch import Tensor

    from ..trace import Trace


def read(place: Place, trace: Trace) -> Tensor | list | int | bool | None:
    """What stands at a place, or None where the trace has no such place.

    Never raises, whatever the shapes of the trace are.
    """
    part = _part(trace, place.step, place.index)
    return None if part is None else READINGS[place.what](part, trace, place)


def _part(trace: Trace, step: str, index: tuple[int, ...]) -> Tensor | None:
    """A step's value under its leading places, or None."""
    if step not in trace:
        return None
    value = trace[step].value
    there = len(index) <= value.ndim and all(
        -size <= at < size for at, size in zip(index, value.shape, strict=False)
    )
    return value[index] if there else None


def _agrees(part: Tensor, trace: Trace, place: Place) -> bool | None:
    """Whether two parts are equal but for rounding, by the notebook's own tolerance."""
    other = None if place.against is None else _part(trace, *place.against)
    if other is None or other.shape != part.shape or other.dtype != part.dtype:
        return None
    return part.allclose(other, atol=1e-6)


def _loops_equal(part: Tensor, trace: Trace, place: Place) -> bool | None:
    """Whether a row of the context vectors, (d,), comes out the same to the last bit when one
    loop over the keys adds up this row alone, and another adds up all rows.
    """
    operands = [given.value for given in trace[place.step].inputs]
    if part.ndim != 1 or [operand.ndim for operand in operands] != [2, 2]:
        return None
    weights, vectors = operands  # (query, key), (key, d)
    if weights.shape[1] != len(vectors) or not len(vectors):
        return None
    (row,) = place.index
    keys = range(len(vectors))
    one_row = sum(weights[row, key] * vectors[key] for key in keys)  # (d,)
    all_rows = sum(weights[:, key, None] * vectors[key] for key in keys)  # (query, d)
    return bool((all_rows[row] == one_row).all())


def _equal(part: Tensor, trace: Trace, place: Place) -> Tensor | None:
    """Whether two parts are equal, entry by entry, but for the last bits: whether torch's two ways
    to a product agree in those depends on the processor.
    """
    other = None if place.against is None else _part(trace, *place.against)
    if other is None or other.shape != part.shape:
        return None
    rounding = 1e-6 * other.double().abs().max() if other.numel() else 0.0
    return (part.double() - other.double()).abs() <= rounding


def _same_shape(part: Tensor, trace: Trace, place: Place) -> bool | None:
    """Whether two parts have one shape."""
    other = None if place.against is None else _part(trace, *place.against)
    return None if other is None else other.shape == part.shape


def _added_up(
    part: Tensor, trace: Trace, place: Place, n_terms: int | None = None
) -> Tensor | None:
    """A row of a product, (d,), as a loop makes it: its first terms, added one after the other."""
    operands = [given.value for given in trace[place.step].inputs]
    if part.ndim != 1 or [operand.ndim for operand in operands] != [2, 2]:
        return None
    weights, vectors = operands  # (query, key), (key, d)
    if vectors.shape[1:] != part.shape:
        return None
    (row,) = place.index
    total = part * 0
    for weight, vector in zip(weights[row, :n_terms], vectors, strict=False):
        total = total + weight * vector
    return total


def _added_up_agrees(part: Tensor, trace: Trace, place: Place) -> bool | None:
    """Whether a row of a product is what a loop makes of it, by torch's own tolerance."""
    return _close(_added_up(part, trace, place), part)


def _needs_no_later(part: Tensor, trace: Trace, place: Place) -> bool | None:
    """Whether the terms up to the row's own already give it, by torch's own tolerance."""
    return _close(_added_up(part, trace, place, place.index[-1] + 1), part)


def _close(total: Tensor | None, part: Tensor) -> bool | None:
    """Whether a sum and a part are equal by torch's own tolerance; None where they are not alike,
    as a sum of booleans, which is a number.
    """
    return None if total is None or total.dtype != part.dtype else total.allclose(part)


def _start(part: Tensor, trace: Trace, place: Place) -> Tensor | None:
    """A running sum (key, d) before its first term: its first row less that term, (d,)."""
    terms = [given.value for given in trace[place.step].inputs]
    if len(terms) != 1 or terms[0].shape != part.shape or part.ndim == 0 or len(part) == 0:
        return None
    return part[0] - terms[0][0]


def _labels(_: Tensor, trace: Trace, place: Place) -> list[str] | None:
    """The names of a step's rows, for example the tokens."""
    axes = trace[place.step].axes
    return list(trace.labels(axes[0])) if axes else None


def _vocabulary(ids: Tensor, trace: Trace, place: Place) -> list[list[str]] | None:
    """The tokens and their ids (token,), each pair once, in the order of the ids."""
    if ids.ndim != 1:
        return None
    tokens = trace.labels(trace[place.step].axes[0])
    pairs = sorted(set(zip(ids.tolist(), tokens, strict=True)))
    return [[token, str(row)] for row, token in pairs]


Reading = Callable[["Tensor", "Trace", Place], "Tensor | list | int | bool | None"]
READINGS: dict[str, Reading] = {
    "values": lambda part, *_: part,
    "shape": lambda part, *_: list(part.shape),
    "size": lambda part, *_: part.numel(),
    "sum": lambda part, *_: part.sum(),
    "row_sums": lambda part, *_: part.sum(dim=-1),
    "distinct": lambda part, *_: sorted(set(part.flatten().tolist())),
    "labels": _labels,
    "vocabulary": _vocabulary,
    "agrees": _agrees,
    "loops_equal": _loops_equal,
    "start": _start,
    "hidden": lambda part, *_: part == 0,
    "equal": _equal,
    "same_shape": _same_shape,
    "added_up": _added_up,
    "added_up_agrees": _added_up_agrees,
    "needs_no_later": _needs_no_later,
}
"""How the part at a place is read, by name. A further way to read one is a further entry."""
