"""What a picture's table depends on, in a few bytes: layouts of the same bytes have the same table,
so that it is not made again at a rerun that changes another card, or for somebody else.
"""

import hashlib
import io
import pickle

from torch import Tensor

from attention_core.kept import digest
from attention_core.trace import Step, Trace

from .layout import Layout


def content(layout: Layout, *more: object) -> bytes:
    """A digest of all that a layout draws and tells, and of `more`."""
    number = {step: at for at, step in enumerate(_steps(layout))}
    drawn = {each.step for each in layout.matrices}
    seen = drawn.union(*(each.inputs for each in drawn))
    axes = {axis for each in drawn for axis in each.axes} | {"query", "key", "head"}
    written = io.BytesIO()
    pickler = pickle.Pickler(written, protocol=pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = {
        Tensor: lambda tensor: (tuple, (digest(tensor),)),
        Step: lambda step: (int, (number[step],)),
    }
    pickler.dump((layout.wide, layout.narrow, layout.sentence, layout.matrices))
    pickler.dump((layout.signs, layout.limits, layout.leaks, more))
    pickler.dump([_told(each, each in seen) for each in number])
    pickler.dump([_places(layout.trace, axis) for axis in sorted(axes)])
    return hashlib.blake2b(written.getbuffer(), digest_size=16).digest()


def _steps(layout: Layout) -> list[Step]:
    """All that is drawn, and all that it is made from."""
    found: dict[Step, None] = {}
    waiting = [each.step for each in layout.matrices]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found[each] = None
            waiting += each.inputs
    return [*found]


def _told(step: Step, is_seen: bool) -> tuple:
    """What is known of a step: its numbers where a cell or its arithmetic shows them, else how many
    there are.
    """
    operation = step.operation if step.inputs else type(step.operation).__name__
    numbers = step.value if is_seen else tuple(step.value.shape)
    return step.name, step.axes, operation, step.inputs, numbers


def _places(trace: Trace, axis: str) -> tuple | None:
    """What the places of an axis are called, by head too."""
    if not trace.has_axis(axis):
        return None
    heads = range(trace.size("head")) if trace.has_axis("head") else ()
    return axis, trace.labels(axis), [trace.labels(axis, head) for head in heads]
