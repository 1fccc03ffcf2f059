"""How far apart two right ways to the same float32 numbers may be."""

import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, Context

import torch
from torch import Tensor

from .trace import Trace

SHARE = 1e-5
"""Two ways agree that differ by less than this share of the largest number."""


def largest(value: Tensor) -> float:
    """The largest size of a finite entry; 0 for none."""
    sizes = value.double().abs()
    sizes = sizes[sizes.isfinite()]
    return float(sizes.max()) if len(sizes) else 0.0


def rounding(trace: Trace) -> dict[str, float]:
    """How far another machine, or another way to write a step, may be from each step's numbers.

    Eight times what float32 loses in the trace, which is worked out again in float64. A score of
    400 is only known to 0.00002, and a softmax hands that on. It is worked out again in float32
    too, and the values that stand in the trace are not asked: a wrong one allows itself nothing.
    """
    exact: dict[str, Tensor] = {}
    again: dict[str, Tensor] = {}
    apart = {}
    for name, step in trace.items():
        made = wide = step.value
        if step.inputs:
            made = step.operation.value(*(again[operand.name] for operand in step.inputs))
            try:
                wide = step.operation.value(*(exact[operand.name] for operand in step.inputs))
            except ValueError:  # an operation for float32 alone, such as an edit
                wide = made
        again[name] = made
        exact[name] = wide.double() if wide.is_floating_point() else wide
        apart[name] = 8 * largest(exact[name].double() - made.double())
    return apart


def difference(pairs: Iterable[tuple[Tensor, Tensor]]) -> float:
    """The largest difference between the two tensors of any pair; nan where one is nan."""
    return torch.stack([(one - other).abs().max() for one, other in pairs]).max().item()


def to_within(gap: float) -> str:
    """How closely two ways agree, as the end of a sentence, such as `exactly`."""
    if math.isnan(gap):
        return "but for what is nan (not a number)"
    if gap == 0:
        return "exactly"
    # Up, after what is rounding of the gap itself: it is no larger than what is said.
    written = f"{Context(prec=1, rounding=ROUND_CEILING).create_decimal(f'{gap:.3g}'):f}"
    if gap <= SHARE:
        return f"to within {written}, the rounding of 32-bit numbers"
    return f"but for differences of up to {written}"


def agree(pairs: list[tuple[Tensor, Tensor]], *made: tuple[Trace, str]) -> bool:
    """Whether the two tensors of each pair are the same, but for what float32 loses. `made` are the
    steps, each a trace and a name, whose own rounding counts where numbers are too large for that.
    """
    gap, allowed = difference(pairs), SHARE * max(largest(other) for _, other in pairs)
    return gap <= allowed or gap <= allowed + sum(rounding(trace)[name] for trace, name in made)
