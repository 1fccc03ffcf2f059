"""What the first sheet says: what this is, what to try, and where a sheet differs from torch."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch

from ...operations import Drop
from ...trace import Step, Trace
from .layout import Layout


class Line(NamedTuple):
    """A row of the sheet."""

    texts: tuple[str, ...] = ()
    style: Mapping[str, Any] = {}
    goes_to: str = ""
    """The cell that the first text links to."""


def lines(trace: Trace, layout: Layout, title: str, as_values: list[str]) -> Iterator[Line]:
    """The rows of the sheet "Read me"."""
    yield Line((title,), {"bold": True, "font_size": 16})
    yield Line()
    yield _line("The sheet Trace is live: change a number, and all that is made from it follows.")
    yield Line()
    yield Line(("Try this",), HEADING)
    yield from _to_try(trace, layout)
    yield Line()
    yield Line(("Good to know",), HEADING)
    yield from map(_line, _notes(trace, layout, as_values))
    yield Line()
    yield Line(("Step", "Shape", "Made by"), HEADING)
    for block in layout.blocks.values():
        step = block.step
        style = {} if step.inputs else {"font_color": TO_CHANGE}
        yield Line((step.name, step.shape, made_by(step)), style, block.start.written)


HEADING = {"bold": True, "font_size": 12}
TO_CHANGE = "#B36B00"
"""The ink of what says which cells are the reader's to change; their edges are orange too."""


def made_by(step: Step) -> str:
    """The step as a line of code; what is given only says so."""
    return step.code if step.inputs else "given: yours to change"


def _line(text: str) -> Line:
    return Line((text,))


def _to_try(trace: Trace, layout: Layout) -> Iterator[Line]:
    if (given := _to_change(trace)) is not None:
        first = layout.blocks[given.name].corners(0)[0].written
        follow = [step.name for step in trace.values() if given.name in step.earlier()]
        words = f"Type another number in {first}, the first cell of {given.name}. {_those(follow)}"
        yield Line((words,), {}, first)
    yield _line(
        "Click a number and press F2: you see its formula, and coloured frames around the cells "
        "it reads."
    )
    for mask in trace.values():
        if mask.inputs or mask.value.dtype != torch.bool:
            continue
        first, last = (corner.written for corner in layout.blocks[mask.name].corners(0))
        words = (
            f"In {mask.name} ({first}:{last}), 1 lets a query see "
            "a key and 0 hides it. Flip one, and see where its weight goes."
        )
        yield Line((words,), {}, first)
    settings = [
        f"{setting} of {name} ({block.setting(at).written})"
        for name, block in layout.blocks.items()
        for at, setting in enumerate(block.settings)
    ]
    if settings:
        yield _line(f"Change what a step was set to: {', '.join(settings)}.")


def _to_change(trace: Trace) -> Step | None:
    """The matrix whose change is worth a look: W_query, else the first that others are made of."""
    used = {each.name for step in trace.values() for each in step.inputs}
    given = [
        step
        for step in trace.values()
        if not step.inputs and step.name in used and step.value.is_floating_point()
    ]
    return min(given, key=lambda step: step.name != "W_query", default=None)


def _those(follow: list[str]) -> str:
    if len(follow) > 5:
        return f"Watch {', '.join(follow[:4])} and the {len(follow) - 4} steps after them."
    *others, last = follow
    return f"Watch {', '.join(others)} and {last}." if others else f"Watch {last}."


def _notes(trace: Trace, layout: Layout, as_values: list[str]) -> Iterator[str]:
    yield (
        "A sheet calculates with 15 digits, torch with 7: the last digits here can differ from "
        "those in the app."
    )
    if any(step.value.isneginf().any() for step in trace.values()):
        yield (
            "A sheet has no infinity. Where you read −∞, the cell holds -1E+300, and e to that "
            "is exactly 0."
        )
    for step in trace.values():
        if isinstance(step.operation, Drop):
            yield (
                f"The random numbers of {step.inputs[1].name} are values: torch drew them once, "
                "and they stay as they are until you change them."
            )
    for name in as_values:
        yield (
            f"Numbers of {name} are values that do not follow: a sheet has no function for it. "
            f"torch says: {trace[name].code}"
        )
    for name, block in layout.blocks.items():
        if block.rows is not None:
            yield (
                f"Of the {len(block.step.value):,} rows of {name} only the {block.n_rows} that "
                "are looked up stand here, under their own numbers. The other rows are left out."
            )
