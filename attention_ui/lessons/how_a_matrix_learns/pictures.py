"""What the lesson draws: a loss over one number, a row of a softmax, an update, and what ways of
building a layer do to gradients.
"""

import math
from functools import partial

from attention_core.experiments.learning import gradients_of, reach_at, squared_norm
from attention_core.operations import Given, Total
from attention_core.trace import Trace

from ...controls.control import Values
from ...picture.layout import Layout, equation
from ...picture.matrix import Matrix
from ...words import number
from . import lesson
from .slope import with_frame, with_slope

TALL, ROOM = 240, 530
N_POINTS = 31
DIVISORS = {"nothing": "nothing", "sqrt_d": "√d", "d": "d"}


class Slope:
    """The loss over one entry of a matrix, from real passes, and the picture at each change."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.name, self.cell = lesson.entry_of(values)
        matrices = lesson.matrices_of(values)
        self.start = getattr(matrices, self.name)[self.cell].item()
        changes = [
            -lesson.CHANGE + 2 * lesson.CHANGE * at / (N_POINTS - 1) for at in range(N_POINTS)
        ]
        self.curve = [
            (self.start + each, lesson.loss_of(values, lesson.with_entry(values, each)))
            for each in changes
        ]

    def at(self, change: float) -> Layout:
        """The curve, the tangent that the gradient says, the matrix and the weights."""
        trace = lesson.learning(self.values, lesson.with_entry(self.values, change))
        x, loss = self.start + change, trace["loss"].value.item()
        slope = trace[f"grad_{self.name}"].value[self.cell].item()
        ends = (self.curve[0][0], self.curve[-1][0])
        tangent = [(end, loss + slope * (end - x)) for end in ends]
        matrix = trace[self.name]
        lies = matrix.value.shape[0] > max(12, matrix.value.shape[1])
        parts = (Matrix(matrix, transposed=lies), "→", Matrix(trace["weights"]))
        layout = equation(trace, *parts, tall=TALL, room=ROOM)
        told = (
            f"{self.name}[{self.cell[0]}, {self.cell[1]}] = {number(x, 2)}: loss {number(loss, 4)}",
            f"gradient {number(slope, 4)}: the slope here",
        )
        ticks = [(end, number(end, 1)) for end in (ends[0], self.start, ends[1])]
        framed = with_frame(layout, 0, self.cell)
        return with_slope(framed, self.curve, told, (x, loss), tangent, ticks)


def softmax_row(values: Values, temperature: float) -> tuple[Matrix | str, ...]:
    """One row as bars: its weights p, the gradient by each, and by the scores before them."""
    trace = row_trace(values, temperature)
    p, g, scores = (
        trace[name] for name in ("query_weights", "grad_query_weights", "grad_query_scores")
    )
    return (
        Matrix(p, as_bars=True, title="p, the weights"),
        "",
        Matrix(g, as_bars=True, both_ways=True, title="g, gradient by p", row_labels=False),
        "→",
        Matrix(scores, as_bars=True, both_ways=True, title="p (g − Σ p g)", row_labels=False),
    )


def row_trace(values: Values, temperature: float) -> Trace:
    """The trace at a temperature, with one row of its softmax."""
    made = lesson.learning(values, lesson.matrices_of(values), temperature)
    return lesson.one_row(made, values.learning_query)


def reach(d: int) -> Layout:
    """By what scores are divided: the middle draw's weights, and the gradient of W_query."""
    found = reach_at(int(d))
    most = max(each.gradient for each in found.values())
    n_keys = len(found["d"].weights)
    trace = Trace(
        divisor=[DIVISORS[name] for name in found], rank=[f"#{at + 1}" for at in range(n_keys)]
    )
    weights = Given(tuple(each.weights for each in found.values()))
    sizes = Given(tuple(each.gradient / most for each in found.values()))
    shown = (
        Matrix(
            trace.step("weights", weights, axes=("divisor", "rank")),
            title="weights of the middle draw, largest first",
        ),
        "",
        Matrix(
            trace.step("gradient", sizes, axes=("divisor",)),
            title="gradient of W_query, the largest = 1",
            as_bars=True,
            row_labels=False,
        ),
    )
    return equation(trace, *shown)


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
        ways = trace["grad_embeddings"].inputs
        parts: list[Matrix | str] = [Matrix(ways[0], title="through x, as it is")]
        parts += ["+", Matrix(_through(trace), title="through attention"), "="]
        return drawn(*parts, Matrix(trace["grad_embeddings"]))
    of_each = [Matrix(trace["grad_head_scaled_scores"], lead=(head,)) for head in range(2)]
    return drawn(*of_each, "→", Matrix(trace["grad_W_query"]))


class Update:
    """The loss after one update, over the learning rate: as the gradient expects it, and real."""

    def __init__(self, values: Values, trace: Trace) -> None:
        self.values, self.trace = values, trace
        self.before = trace["loss"].value.item()
        self.falls = squared_norm(gradients_of(trace))
        self.losses = [self.loss(rate) for rate in lesson.RATES]

    def loss(self, rate: float) -> float:
        """After an update with this rate, of one real pass."""
        return lesson.loss_of(self.values, lesson.after(self.values, self.trace, rate))

    def expected(self, rate: float) -> float:
        """The same, if the loss went on as steep as it is."""
        return self.before - rate * self.falls

    def at(self, rate: float) -> Layout:
        """The two curves, and the matrix before and after."""
        updated = lesson.learning(self.values, lesson.after(self.values, self.trace, rate))
        name = self.values.entry_matrix
        before, now = self.trace[name], updated[name]
        lies = before.value.shape[0] > max(12, before.value.shape[1])
        parts = (
            Matrix(before, transposed=lies, title=f"{name} before"),
            "→",
            Matrix(now, transposed=lies, title=f"{name} after"),
        )
        layout = equation(updated, *parts, tall=TALL, room=ROOM)
        at, loss = lesson.RATES.index(rate), self.loss(rate)
        told = (
            f"rate {rate:,g}: loss {number(self.before, 4)} → {number(loss, 4)}",
            f"expected: {number(self.expected(rate), 4)}",
        )
        curve = [(float(place), each) for place, each in enumerate(self.losses)]
        line = [(float(place), self.expected(each)) for place, each in enumerate(lesson.RATES)]
        ticks = [(float(place), f"{lesson.RATES[place]:,g}") for place in range(0, len(curve), 3)]
        # Far too large a rate may raise the loss without end: what it falls to is to be seen.
        most = self.before + 1.5 * (self.before - min(filter(math.isfinite, self.losses)))
        return with_slope(layout, curve, told, (float(at), loss), line, ticks, most)


def _through(trace: Trace):
    """All that comes back through attention, added up: the ways that are not the residual."""
    _, *ways = trace["grad_embeddings"].inputs
    made = trace.branch()
    return made.step("grad_through_attention", Total(len(ways)), *ways, axes=ways[0].axes)
