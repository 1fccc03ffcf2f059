"""What the lesson draws: a loss over one number, a softmax's row, an update, depths."""

import math
from functools import partial

from attention_core.recipes import PLURAL
from attention_core.trace import Step, Trace

from ...controls.control import Values
from ...picture.equation_parts import NEW_LINE
from ...picture.layout import Layout, equation, frame_cells
from ...picture.matrix import Matrix
from ...words import number, true_minus
from . import lesson
from .flow import MOST_ROWS
from .layer import losses_after, losses_along
from .slope import with_slope

TALL, ROOM = 240, 530
N_POINTS = 31
CHANGES = tuple(
    round(-lesson.CHANGE + 2 * lesson.CHANGE * at / (N_POINTS - 1), 9) for at in range(N_POINTS)
)


class Slope:
    """The loss over one entry of a matrix, from real passes, and the picture at each change."""

    def __init__(self, values: Values) -> None:
        self.layer = lesson.layer_of(values)
        self.name, self.cell = lesson.entry_of(values)
        self.start = getattr(self.layer.matrices, self.name)[self.cell].item()
        losses = losses_along(self.layer, self.name, self.cell, CHANGES)
        entries = [self.start + each for each in CHANGES]
        self.curve = [*zip(entries, losses, strict=True)]

    def at(self, change: float) -> Layout:
        """The curve, the tangent that the gradient says, the matrix and the weights."""
        trace = self.layer.trace(self.layer.with_entry(self.name, self.cell, change))
        x, loss = self.start + change, trace["loss"].value.item()
        slope = trace[f"grad_{self.name}"].value[self.cell].item()
        ends = (self.curve[0][0], self.curve[-1][0])
        tangent = [(end, loss + slope * (end - x)) for end in ends]
        matrix = _lying(trace[self.name])
        layout = equation(trace, matrix, "→", Matrix(trace["weights"]), tall=TALL, room=ROOM)
        place = f"{self.name}[{self.cell[0]}, {self.cell[1]}]"
        told = (
            f"{place} = {number(x, 2)}: loss {number(loss, 4)}",
            f"gradient {number(slope, 4)}: the slope here",
        )
        ticks = [(end, number(end, 1)) for end in (ends[0], self.start, ends[1])]
        ticks.append(((self.start + ends[1]) / 2, "the entry"))
        frame_cells(layout, 0, [self.cell])
        if (goal := self.layer.goal).loss == "weight":
            frame_cells(layout, 1, [(goal.query, goal.key)])
        return with_slope(layout, self.curve, told, (x, loss), tangent, ticks)


def _lying(step: Step, title: str | None = None) -> Matrix:
    """A matrix that is taller than it is wide and would not fit a card lies down."""
    n_rows, n_columns = step.value.shape
    return Matrix(step, transposed=n_rows > max(MOST_ROWS, n_columns), title=title)


def softmax_row(trace: Trace) -> tuple[Matrix | str, ...]:
    """One row: its weights p, the gradient g by each, and step by step that by the scores."""
    p, g, scores = (
        trace[name] for name in ("query_weights", "grad_query_weights", "grad_query_scores")
    )
    products, mean, centred = (
        trace[f"{name}_grad_query_weights"] for name in ("weighed", "mean", "centred")
    )
    first = Matrix(p, title="p"), "×", Matrix(g, title="g"), "=", Matrix(products, title="p g")
    then = Matrix(mean, title="Σ p g"), "=", Matrix(centred, title="g − Σ p g")
    last = Matrix(p, title="p"), "=", Matrix(scores, title="p (g − Σ p g)")
    total = "Σ", Matrix(mean, title="Σ p g")
    return (*first, *total, NEW_LINE, Matrix(g, title="g"), "−", *then, "×", *last)


def three_ways(trace: Trace) -> Layout:
    """What comes back to the vectors as queries, as keys and as values, and the sum."""
    parts: list[Matrix | str] = []
    for role, plural in PLURAL.items():
        parts += ["+", Matrix(trace[f"grad_embeddings_by_{plural}"], title=f"as a {role}")]
    return equation(trace, *parts[1:], "=", Matrix(trace["grad_embeddings"], title="together"))


def short(value: float) -> str:
    """A number of any size in few letters."""
    return number(value, 4) if abs(value) < 10_000 else true_minus(f"{value:.3g}")


def way(trace: Trace, which: str) -> Layout:
    """What comes back through a mask, dropout, a residual or several heads."""
    drawn = partial(equation, trace, tall=TALL + 20)
    if which == "mask":
        hidden = Matrix(trace["grad_masked_scores"])
        return drawn(Matrix(trace["weights"]), "", Matrix(trace["grad_weights"]), "→", hidden)
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
        self.losses = dict(zip(lesson.RATES, losses_after(self.layer, lesson.RATES), strict=True))

    def expected(self, rate: float) -> float:
        """The loss after an update, if it went on as steep as it is."""
        return self.before - rate * self.falls

    def at(self, rate: float) -> Layout:
        """The two curves, and the matrix before and after."""
        trace = self.layer.forward(self.layer.after(rate))
        before = self.layer.forward(self.layer.matrices)[self.name]
        parts = (
            _lying(before, f"{self.name} before"),
            "→",
            _lying(trace[self.name], f"{self.name} after"),
        )
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
        return with_slope(layout, curve, told, (float(at), loss), line, ticks, most)
