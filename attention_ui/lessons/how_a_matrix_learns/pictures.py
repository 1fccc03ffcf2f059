"""What the lesson draws: a loss over one number, a softmax's row, an update, depths."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from attention_core.mistakes.rewriting import rewritten_each
from attention_core.operations import Given
from attention_core.recipes import PLURAL
from attention_core.trace import Trace

from ...cards.elements import Along
from ...picture.layout import (
    BELOW,
    NARROW,
    Arrangement,
    Layout,
    Path,
    Word,
    equation,
    frame_cells,
    make_room,
)
from ...picture.matrix import Matrix
from ...reactive.control import Values
from ...words import number, true_minus
from . import lesson
from .flow import lying
from .layer import after_each, losses_along

ACROSS, BETWEEN, LEFT = 330, 30, 52
TOP, SPACE, HEIGHT = 44, 26, 120
POINT = 5
Points = Sequence[tuple[float, float]]
TALL, ROOM = 240, 530
N_POINTS = 31
CHANGES = tuple(
    round(-lesson.CHANGE + 2 * lesson.CHANGE * at / (N_POINTS - 1), 9) for at in range(N_POINTS)
)


def along_an_entry(values: Values) -> Along:
    """The loss over one entry of a matrix, from real passes, as a picture at each change of it:
    the curve, the tangent that the gradient says, the matrix and the weights.
    """
    layer, (name, cell) = lesson.layer_of(values), lesson.entry_of(values)
    start = getattr(layer.matrices, name)[cell].item()
    entries = [start + each for each in CHANGES]
    curve = [*zip(entries, losses_along(layer, name, cell, CHANGES), strict=True)]
    ticks = [(end, number(end, 1)) for end in (entries[0], start, entries[-1])]
    ticks.append(((start + entries[-1]) / 2, "the entry"))

    def traces(changes: Sequence[float]) -> list[Trace]:
        each = (getattr(layer.with_entry(name, cell, change), name) for change in changes)
        return rewritten_each(layer.trace(), [name], map(Given.of, each))

    def drawn(trace: Trace) -> Layout:
        x, loss = trace[name].value[cell].item(), trace["loss"].value.item()
        slope = trace[f"grad_{name}"].value[cell].item()
        tangent = [(end, loss + slope * (end - x)) for end in (entries[0], entries[-1])]
        parts = lying(trace[name], name), "→", Matrix(trace["weights"])
        layout = equation(trace, *parts, tall=TALL, room=ROOM)
        told = (
            f"{name}[{cell[0]}, {cell[1]}] = {number(x, 2)}: loss {number(loss, 4)}",
            f"gradient {number(slope, 4)}: the slope here",
        )
        frame_cells(layout, 0, [cell])
        if layer.goal.loss == "weight":
            frame_cells(layout, 1, [(layer.goal.query, layer.goal.key)])
        return with_slope(layout, Curve(curve, told, (x, loss), tangent, ticks))

    return Along(traces, drawn)


def softmax_row(trace: Trace) -> tuple[Matrix | str, ...]:
    """One row: its weights p, the gradient g by each, and step by step that by the scores."""
    p, g, scores = (
        trace[name] for name in ("query_weights", "grad_query_weights", "grad_query_scores")
    )
    products, mean, centred = (
        trace[f"{name}_grad_query_weights"] for name in ("weighed", "mean", "centred")
    )
    first = Matrix(p, title="p"), "×", Matrix(g, title="g"), "=", Matrix(products, title="p g")
    then = "Σ", Matrix(mean, title="Σ p g"), "→", Matrix(centred, title="g − Σ p g")
    return (*first, *then, "×", Matrix(p, title="p"), "=", Matrix(scores, title="p (g − Σ p g)"))


def three_ways(trace: Trace) -> Layout:
    """What comes back to the vectors as queries, as keys and as values, and the sum."""
    parts: list[Matrix | str] = []
    for role, plural in PLURAL.items():
        parts += ["+", Matrix(trace[f"grad_embeddings_by_{plural}"], title=f"as a {role}")]
    return equation(trace, *parts[1:], "=", Matrix(trace["grad_embeddings"], title="together"))


def short(value: float) -> str:
    """A number of any size in few letters."""
    return number(value, 4) if abs(value) < 10_000 else true_minus(f"{value:.3g}")


def way(trace: Trace, which: str, tells_scores: bool = True) -> Layout:
    """What comes back through a mask, dropout, a residual or several heads. Through a mask, what
    scores get, only where that may be told.
    """
    drawn = partial(equation, trace, tall=TALL + 20)
    if which == "mask":
        hidden = ("→", Matrix(trace["grad_masked_scores"])) if tells_scores else ()
        return drawn(Matrix(trace["weights"]), "", Matrix(trace["grad_weights"]), *hidden)
    if which == "dropout":
        names = ("dropped_weights", "grad_dropped_weights", "grad_weights")
        first, *rest = (Matrix(trace[name]) for name in names)
        return drawn(first, "", rest[0], "→", rest[1])
    if which == "residual":
        unchanged = Matrix(trace["grad_after_attention"], title="through x, as it is")
        through = Matrix(trace["grad_through_attention"], title="through attention")
        return drawn(unchanged, "+", through, "=", Matrix(trace["grad_embeddings"]))
    of_each = [Matrix(trace["grad_head_scaled_scores"], lead=(head,)) for head in range(2)]
    return drawn(*of_each, "→", Matrix(trace["grad_W_query"]))


class Update:
    """The loss after one update, over the learning rate: as the gradient expects it, and real."""

    def __init__(self, values: Values) -> None:
        self.layer, self.name = lesson.layer_of(values), values.entry_matrix
        self.before, self.falls = self.layer.before, self.layer.falls
        self.start = self.layer.forward(self.layer.matrices)
        self.each = after_each(self.layer, lesson.RATES, self.name)
        self.losses = {rate: loss for rate, (loss, _) in self.each.items()}

    def expected(self, rate: float) -> float:
        """The loss after an update, if it went on as steep as it is."""
        return self.before - rate * self.falls

    def at(self, rate: float) -> Layout:
        """The two curves, and the matrix before and after."""
        trace = self.start.emptied()
        after = lying(trace.again(self.each[rate][1]), f"{self.name} after")
        parts = lying(self.start[self.name], f"{self.name} before"), "→", after
        layout = equation(trace, *parts, tall=TALL, room=ROOM)
        at, loss = lesson.RATES.index(rate), self.losses[rate]
        told = (
            f"rate {rate:,g}: loss {short(self.before)} → {short(loss)}",
            f"promised by the slope: {short(self.expected(rate))}",
        )
        curve = [(float(place), each) for place, each in enumerate(self.losses.values())]
        line = [(float(place), self.expected(each)) for place, each in enumerate(lesson.RATES)]
        ticks = [(float(place), f"{lesson.RATES[place]:,g}") for place in range(0, len(curve), 3)]
        ticks[0] = (0.0, f"rate {ticks[0][1]}")
        # Far too large a rate may raise the loss without end: what it falls to is to be seen.
        lowest = min(filter(math.isfinite, self.losses.values()), default=self.before)
        most = self.before + 1.5 * (self.before - lowest)
        return with_slope(layout, Curve(curve, told, (float(at), loss), line, ticks, most))


# --- a curve beside matrices ---------------------------------------------------------------------


@dataclass(frozen=True)
class Curve:
    """A curve by its points, from left to right, what is `told` above it in two lines, the point
    that is looked `at`, and a `line` of what is expected, which ends where the picture does.
    `ticks` are the places below that have a word; what is higher than `most` is cut off.
    """

    points: Points
    told: tuple[str, str]
    at: tuple[float, float]
    line: Points
    ticks: Sequence[tuple[float, str]]
    most: float = math.inf


def with_slope(layout: Layout, curve: Curve) -> Layout:
    """The same layout with a curve at its left, and on a phone above it."""
    wide, narrow = layout.wide, layout.narrow
    bottom = wide.height - BELOW
    make_room(layout, ACROSS + BETWEEN, TOP + HEIGHT + SPACE)
    for kind in ("words", "marks"):  # the legend stays at the left, below the curve
        setattr(wide, kind, [
            replace(each, x=each.x - ACROSS - BETWEEN) if each.y > bottom else each
            for each in getattr(wide, kind)
        ])  # fmt: skip
    _add(wide, ACROSS, wide.height - TOP - SPACE - BELOW, curve)
    _add(narrow, NARROW, HEIGHT, curve)
    return layout


def _add(made: Arrangement, room: float, tall: float, curve: Curve) -> None:
    """Last, so that all else keeps its place among the rows."""
    first, last = curve.points[0][0], curve.points[-1][0]
    heights = [min(y, curve.most) for _, y in curve.points if math.isfinite(y)]
    low, high = min(heights), max(heights)
    is_flat = high - low < 1e-6  # an entry that no score depends on, but for rounding
    edge = 0.08 * (1.0 if is_flat else high - low)
    low, high = low - edge, high + edge

    def place(x: float, y: float) -> tuple[float, float]:
        right = (x - first) / ((last - first) or 1.0) * (room - LEFT - 8)
        return right, (high - y) / (high - low) * tall

    def drawn(points: Points) -> str:
        kept = [place(*each) for each in points if math.isfinite(each[1])]
        return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in kept or [(0.0, 0.0)])

    inside = _clipped(curve.line, low, high)
    x, y = place(*curve.at)
    is_above, y = y < 0, min(max(y, 0.0), tall)
    rest = f"h-{2 * POINT}Z" if is_above else f"l-{POINT},{POINT}l-{POINT},-{POINT}Z"  # ▲ or ◆
    point = f"M{x:.1f},{y - POINT:.1f}l{POINT},{POINT}{rest}"
    made.paths.append(Path(LEFT, TOP, f"M0,{tall:.1f}H{room - LEFT - 8:.1f}", "muted", 0.6))
    made.paths.append(Path(LEFT, TOP, drawn(_clipped(curve.points, low, high)), "plus"))
    made.paths.append(Path(LEFT, TOP, drawn(inside), "loud"))
    made.paths.append(Path(LEFT, TOP, point, "loud"))
    for at_line, text in enumerate(curve.told):
        made.words.append(Word(text, 0.0, 8.0 + 18 * at_line, "title", changes=True))
    for value, down in ((high - edge, edge), (low + edge, high - low - edge))[is_flat:]:
        made.words.append(Word(number(value, 3), LEFT - 8, TOP + down / (high - low) * tall, "row"))
    made.words.append(Word("loss", LEFT - 8, TOP + tall / 2 - 18 * is_flat, "row"))
    for tick, text in curve.ticks:
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
