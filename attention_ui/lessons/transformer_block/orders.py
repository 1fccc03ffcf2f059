"""Norms before each part, or after: what is left of a token's vector in the output."""

from torch import Tensor

from attention_core.rounding import SHARE, largest, to_within
from attention_core.trace import Trace

from ...controls.control import Values
from ...words import number
from .lesson import without_dropout
from .stream import CALLED, parts_of

ORDERS = ("before", "after")
PARTS = ("attention", "cross", "feed_forward")


def both_orders(values: Values) -> tuple[Trace, Trace]:
    """The same matrices with the norms before each part, and after it."""
    before, after = (without_dropout(values, norm=norm) for norm in ORDERS)
    return before, after


def size(vector: Tensor) -> float:
    """The root mean square of the entries."""
    return vector.double().square().mean().sqrt().item()


def sizes_table(before: Trace, after: Trace, place: int) -> str:
    """How large each part is in the output of a token, in both orders, as a table."""
    found = [parts_of(trace, place) for trace in (before, after)]
    rows = [
        [CALLED[part][0], *(number(size(each[part]), 2) for each in found)] for part in found[0]
    ]
    outputs = [number(size(trace["output"].value[place]), 2) for trace in (before, after)]
    rows.append(["**what goes out**", *(f"**{each}**" for each in outputs)])
    lines = [f"| {' | '.join(row)} |" for row in rows]
    head = "| Size of what is in the output | Norms before | Norms after |\n|---|---|---|\n"
    return head + "\n".join(lines)


def stream_is_untouched(before: Trace) -> tuple[bool, str]:
    """Whether the embeddings of every token are left where what the parts added is taken away."""
    came, output = (before[name].value.double() for name in ("embeddings", "output"))
    added = [
        before[f"{part}_output"].value.double() for part in PARTS if f"{part}_output" in before
    ]
    off = (output - sum(added) - came).abs().max().item()
    return off <= SHARE * max(1.0, largest(output), largest(came)), (
        "With norms before, subtract what the parts added from the output, and the embeddings "
        f"remain, for every token, {to_within(off)}."
    )
