"""A right computation and a wrong one as one trace, with their difference."""

from ..operations import Subtract
from ..trace import Step, Trace
from .base import WRONG
from .rewriting import rewritten


def side_by_side(right: Trace, wrong: Trace, step: str, wrong_step: str = "") -> Trace:
    """Both as one trace: the steps of the right one, those of the wrong one that differ, with
    `wrong_` before their names, as far as `wrong_step` is made from them, and `difference`, wrong
    less right.

    `wrong_step` is what takes the place of `step`, "" for that of the same name; both have the same
    axes. Raises KeyError for a step that there is not.
    """
    trace = rewritten(right, {})
    last = wrong[wrong_step or step]
    became: dict[str, Step] = {}
    for name, each in wrong.items():
        inputs = tuple(became[operand.name] for operand in each.inputs)
        own = right.get(name)
        names = [operand.name for operand in inputs]
        is_same = own is not None and [operand.name for operand in own.inputs] == names
        if is_same and own.operation == each.operation:
            became[name] = trace[name]
        else:
            axes = tuple(_axis(trace, wrong, axis) for axis in each.axes)
            symbol = rf"{{{each.symbol}}}_{{\text{{wrong}}}}"
            became[name] = trace.step(
                f"{WRONG}{name}", each.operation, *inputs, axes=axes, symbol=symbol
            )
        if each is last:
            break
    trace.step("difference", Subtract(), became[last.name], trace[step], axes=trace[step].axes)
    return trace


def _axis(trace: Trace, wrong: Trace, axis: str) -> str:
    """The axis, by another name where it has another length in the right computation."""
    if not trace.has_axis(axis) or trace.size(axis) == wrong.size(axis):
        return axis
    other = f"{WRONG}{axis}"
    if not trace.has_axis(other):
        trace.label(other, wrong.labels(axis))
    return other
