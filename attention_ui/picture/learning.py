"""Heads that learn: curves with a line at a moment, and the weights of all heads then."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from attention_core.operations import Given
from attention_core.operations.base import Meaning
from attention_core.trace import Trace

from .forbidden import outline
from .layout import NARROW, WIDE, Arrangement, Box, Layout, Mark, Path, Word
from .matrix import Matrix
from .numbers import text_width
from .palette import FED, POSITIVE

HEAD = 150
"""How high the weights of a head are."""
TALLEST, GAP, BESIDE, CURVES = 16.0, 10, 22, 156
NAMED, LABELLED = 31, 16
"""For a head's name and what stands under it; for the words about a layer, or a curve's name."""
PANEL, TITLE, AXIS, SPACE = 60, 20, 16, 12
COLOURS = (FED, POSITIVE)
"""Of what is about the first and the second layer."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A number at each moment. One with a `label` is explained below its panel."""

    values: Sequence[float]
    colour: str
    label: str = ""


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves that share an axis; `name` is that of their columns in the table: `name_0` …"""

    name: str
    title: str | Sequence[str]
    """What stands above, or what does at each moment."""
    ends: tuple[float, float]
    curves: Sequence[Curve]
    levels: Sequence[tuple[float, str]] = ()
    """Heights of quiet lines that no moment changes, each with what it is, for below the panel."""


@dataclass(frozen=True)
class Layer:
    """The words about the heads of a layer: above all of them, and above each at each moment."""

    title: str
    heads: Sequence[Sequence[str]]
    """(head, moment): its name."""
    below: Sequence[Sequence[str]]
    """(head, moment): what stands under its name, in small letters."""


@dataclass(frozen=True, eq=False)
class LearningRun:
    """A training to be watched, at its recorded moments."""

    steps: Sequence[int]
    panels: Sequence[Panel]
    layers: Sequence[Layer]
    tokens: Sequence[str]
    weights: Tensor
    """(moment, layer, head, query, key)"""
    targets: Tensor
    """(layer, head or 1, query, key): True where a head is expected to look: outlined."""
    appeared: int | None = None
    """A step to be marked on every panel."""
    ticks: Sequence[int] = ()
    """The steps written below the curves; none to let them be chosen."""
    crowded: float | None = None
    """Up to about this step each has as much room, later ones less; None: all the same."""


def learning(run: LearningRun, at: int) -> Layout:
    """A run at the moment at this place."""
    trace, matrices = _weights(run, at)
    wide, narrow = (_arranged(run, at, len(matrices), room) for room in (WIDE, NARROW))
    signs, ends = ("",) * len(matrices), [1.0] * len(matrices)
    return Layout(trace, tuple(matrices), signs, ends, 0.0, wide, narrow)


def _weights(run: LearningRun, at: int) -> tuple[Trace, list[Matrix]]:
    """The weights of each head, as they were recorded; what comes later is not drawn."""
    trace = Trace(query=run.tokens, key=run.tokens)
    later = torch.ones(len(run.tokens), len(run.tokens)).triu(1).bool()
    matrices = []
    for layer, weights in enumerate(run.weights[at]):
        name, axes = f"layer_{layer}_weights", ("head", "query", "key")
        step = trace.step(name, Given.of(weights), axes=axes, meaning=Meaning.SHARES)
        matrices += [Matrix(step, lead=(head,), left_out=later) for head in range(len(weights))]
    return trace, matrices


def _arranged(run: LearningRun, at: int, n_matrices: int, room: float) -> Arrangement:
    """The curves at the left, or above the heads where there is no room for that."""
    made = Arrangement(width=room)
    is_wide = room == WIDE
    y = 0.0
    for panel in run.panels:
        y = _add_panel(made, run, panel, at, y, CURVES if is_wide else room - BESIDE)
    left, top, n_across = (CURVES + BESIDE + GAP, 0.0, 4) if is_wide else (0.0, y, 2)
    n_tokens, n_heads = len(run.tokens), run.weights.shape[2]
    labels = 0.7 * max(map(text_width, run.tokens)) + 5
    across = (room - left - labels) / n_across - GAP
    width, height = min(across / n_tokens, TALLEST), min(HEAD / n_tokens, TALLEST)
    below = top
    for number in range(n_matrices):
        layer, head = divmod(number, n_heads)
        if head == 0:
            top = below
            made.lines.append(top)
            made.words.append(Word(run.layers[layer].title, left, top + 7, "legend"))
            made.marks.append(Mark(left, top + 14, room - left, 1.5, COLOURS[layer], 0.8))
            top += LABELLED + 4
        row, column = divmod(head, n_across)
        x = left + labels + column * (across + GAP)
        y = top + NAMED + row * (n_tokens * height + NAMED + SPACE)
        _add_head(made, run, number, at, Box(x, y, width, height, -1), column == 0)
        below = max(below, y + n_tokens * height + SPACE)
    made.height = max(below, y)
    return made


def _add_head(
    made: Arrangement, run: LearningRun, number: int, at: int, box: Box, is_first: bool
) -> None:
    """The weights of one head, its name at this moment, and where it is expected to look."""
    layer, head = divmod(number, run.weights.shape[2])
    made.boxes.append(box)
    words = run.layers[layer]
    made.words.append(Word(words.heads[head][at], box.x, box.y - 22, "title"))
    made.words.append(Word(words.below[head][at], box.x, box.y - 8, "shape"))
    if is_first:
        made.words += [
            Word(token, box.x - 3, box.y + (place + 0.5) * box.height, "tiny")
            for place, token in enumerate(run.tokens)
        ]
    if drawn := _outline(run, number, box.width, box.height):
        made.paths.append(Path(box.x - 0.5, box.y - 0.5, drawn, "loud"))


# What is the same at all moments of a run is written once for them.


@lru_cache(maxsize=32)
def _outline(run: LearningRun, number: int, width: float, height: float) -> str:
    layer, head = divmod(number, run.weights.shape[2])
    return outline(run.targets[layer].expand(run.weights.shape[2], -1, -1)[head], width, height)


@lru_cache(maxsize=64)
def _line(run: LearningRun, panel: Panel, curve: Curve, width: float) -> str:
    low, high = panel.ends
    places = [
        f"{_along(run, step, width):.1f},{-PANEL * _share(value, low, high):.1f}"
        for step, value in zip(run.steps, curve.values, strict=True)
    ]
    return "M" + "L".join(places)


def _along(run: LearningRun, step: float, width: float) -> float:
    last = max(run.steps[-1], 1)
    if run.crowded is None:
        return width * step / last
    return width * math.log1p(step / run.crowded) / math.log1p(last / run.crowded)


def _share(value: float, low: float, high: float) -> float:
    return (min(max(value, low), high) - low) / (high - low)


def _add_panel(
    made: Arrangement, run: LearningRun, panel: Panel, at: int, top: float, width: float
) -> float:
    """Curves over the steps, and a line at the moment; returns where the next thing begins."""
    low, high = panel.ends
    last = max(run.steps[-1], 1)

    def x_of(step: float) -> float:
        return BESIDE + _along(run, step, width)

    def y_of(value: float) -> float:
        return top + TITLE + PANEL * (1 - _share(value, low, high))

    title = panel.title if isinstance(panel.title, str) else panel.title[at]
    made.words.append(Word(title, 0.0, top + 7, "title"))
    floor, side = y_of(low), f"h{width:.0f}"
    made.paths.append(Path(BESIDE, floor, f"M0,0{side}", "muted", 0.5))
    made.words += [Word(f"{end:g}", BESIDE - 4, y_of(end), "tiny") for end in panel.ends]
    for step in run.ticks or (0, last):
        place = min(x_of(step), BESIDE + width - text_width(f"{step:,}") / 2)
        made.words.append(Word(f"{step:,}", place, floor + 9, "share"))
    for value, _ in panel.levels:
        made.paths.append(Path(BESIDE, y_of(value), f"M0,0{side}", "muted", 0.7))
    for curve in panel.curves:
        made.paths.append(Path(BESIDE, floor, _line(run, panel, curve, width), curve.colour))
    if run.appeared is not None:
        dashes = f"M0,{-PANEL}" + "v3m0,3" * (PANEL // 6)
        made.paths.append(Path(x_of(run.appeared), floor, dashes, "loud"))
    moment = f"M{x_of(run.steps[at]) - BESIDE:.1f},0v{-PANEL}"
    made.paths.append(Path(BESIDE, floor, moment, "ink"))
    y = floor + AXIS
    for curve in panel.curves:
        if curve.label:
            made.marks.append(Mark(BESIDE, y + 6, 12, 3, curve.colour))
            made.words.append(Word(curve.label, BESIDE + 17, y + 7, "shape"))
            y += 14
    for _, label in panel.levels:  # below the panel: on a line no word can be read
        made.words.append(Word(f"line at {label}", BESIDE, y + 7, "shape"))
        y += 14
    return y + SPACE
