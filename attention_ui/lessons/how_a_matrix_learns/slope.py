"""A curve beside matrices: the loss over one number that is moved, and its gradient."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ...picture.layout import BELOW, NARROW, Arrangement, Layout, Path, Word, move
from ...words import number

ACROSS, BETWEEN, LEFT = 330, 30, 52
TOP, SPACE, HEIGHT = 44, 26, 120
POINT = 5
Points = Sequence[tuple[float, float]]


def with_slope(
    layout: Layout,
    curve: Points,
    told: tuple[str, str],
    at: tuple[float, float],
    line: Points,
    ticks: Sequence[tuple[float, str]],
    most: float = math.inf,
) -> Layout:
    """The same layout with a curve at its left, and on a phone above it: its points, from left to
    right, what is `told` above it in two lines, the point that is looked at, and a `line` of what
    is expected, which ends where the picture does. `ticks` are the places below that have a word,
    one of them what is moved; what is higher than `most` is cut off.
    """
    wide, narrow = layout.wide, layout.narrow
    bottom = wide.height - BELOW
    move(wide, ACROSS + BETWEEN, 0.0)
    for kind in ("words", "marks"):  # the legend stays at the left, below the curve
        setattr(wide, kind, [
            replace(each, x=each.x - ACROSS - BETWEEN) if each.y > bottom else each
            for each in getattr(wide, kind)
        ])  # fmt: skip
    wide.width += ACROSS + BETWEEN
    _add(wide, ACROSS, wide.height - TOP - SPACE - BELOW, curve, told, at, line, ticks, most)
    move(narrow, 0.0, TOP + HEIGHT + SPACE)
    narrow.height += TOP + HEIGHT + SPACE
    narrow.width = NARROW
    _add(narrow, NARROW, HEIGHT, curve, told, at, line, ticks, most)
    return layout


def _add(
    made: Arrangement,
    room: float,
    tall: float,
    curve: Points,
    told: tuple[str, str],
    at: tuple[float, float],
    line: Points,
    ticks: Sequence[tuple[float, str]],
    most: float,
) -> None:
    """Last, so that all else keeps its place among the rows."""
    first, last = curve[0][0], curve[-1][0]
    heights = [min(y, most) for _, y in curve if math.isfinite(y)]
    low, high = min(heights), max(heights)
    edge = 0.08 * ((high - low) or 1.0)
    low, high = low - edge, high + edge

    def place(x: float, y: float) -> tuple[float, float]:
        right = (x - first) / ((last - first) or 1.0) * (room - LEFT - 8)
        return right, (high - y) / (high - low) * tall

    def drawn(points: Points) -> str:
        kept = [place(*each) for each in points if math.isfinite(each[1])]
        return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in kept or [(0.0, 0.0)])

    inside = _clipped(line, low, high)
    x, y = place(*at)
    y = min(max(y, 0.0), tall)
    diamond = f"M{x:.1f},{y - POINT:.1f}l{POINT},{POINT}l-{POINT},{POINT}l-{POINT},-{POINT}Z"
    made.paths.append(Path(LEFT, TOP, f"M0,{tall:.1f}H{room - LEFT - 8:.1f}", "muted", 0.6))
    made.paths.append(Path(LEFT, TOP, drawn(_clipped(curve, low, high)), "plus"))
    made.paths.append(Path(LEFT, TOP, drawn(inside), "loud"))
    made.paths.append(Path(LEFT, TOP, diamond, "loud"))
    for at_line, text in enumerate(told):
        made.words.append(Word(text, 0.0, 8.0 + 18 * at_line, "title", changes=True))
    for value, down in ((high - edge, edge), (low + edge, high - low - edge)):
        made.words.append(Word(number(value, 3), LEFT - 8, TOP + down / (high - low) * tall, "row"))
    made.words.append(Word("loss", LEFT - 8, TOP + tall / 2, "row"))
    for tick, text in ticks:
        made.words.append(Word(text, LEFT + place(tick, low)[0], TOP + tall + 14, "column"))


def _clipped(line: Points, low: float, high: float) -> Points:
    """The part of a polyline within these heights."""
    kept: list[tuple[float, float]] = []
    for (x0, y0), (x1, y1) in pairwise(line):
        if max(y0, y1) < low or min(y0, y1) > high:
            continue
        ends = []
        for x, y in ((x0, y0), (x1, y1)):
            wanted = min(max(y, low), high)
            share = (wanted - y0) / (y1 - y0) if y1 != y0 else None
            ends.append((x if share is None or wanted == y else x0 + share * (x1 - x0), wanted))
        kept += ends
    return kept or [line[0]] if line else []
