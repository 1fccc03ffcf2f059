"""Training the layer on the sentence: the run, and the picture of one of its steps."""

import math

from attention_core.experiments.training import TrainingRecord, next_tokens, train
from attention_core.text.embedding import embed
from attention_core.trace import Trace

from ...controls.shared import inputs_of
from ...picture.curve import with_curve
from ...picture.layout import Layout, equation, frame_cells
from ...picture.matrix import Matrix
from ...reactive.control import Values
from ...reactive.long_run import Run, Steps, Work, run_so_far
from .lesson import recipe_of, steps_shown, trained, untrained

TALL, ROOM = 262, 590


def training(values: Values) -> Work:
    """The training of these values."""
    inputs, recipe = inputs_of(values), recipe_of(values)

    def pieces() -> Steps:
        vectors, records = embed(inputs)["embeddings"].value, list[TrainingRecord]()
        for record in train(vectors, next_tokens(inputs.tokens), recipe):
            records.append(record)
            yield 1.0 if record.diverged else record.step / recipe.steps, records

    cost = f"{values.steps:,} steps of gradient descent"
    return Work("training", (inputs, recipe), pieces, cost, "Train")


def watched_now(values: Values) -> "Watched":
    """The training as far as it has come."""
    return Watched(values, run_so_far("training"))


class Watched:
    """A run, finished or not, and the picture of each step that can be shown."""

    def __init__(self, values: Values, run: Run) -> None:
        self.values = values
        self.records: list[TrainingRecord] = run.result or [untrained(values)]
        self.finite = [each for each in self.records if not each.diverged]
        self.is_finished = run.result is not None and run.steps is None
        self.embedded = embed(inputs_of(values))

    @property
    def can_be_moved(self) -> bool:
        """Whether there is more than one step to be looked at."""
        return self.is_finished and len(self.finite) > 1

    def record(self, step: int | None = None) -> TrainingRecord:
        """The last record up to a step; of a run that is not finished, the last there is."""
        if step is None or not self.is_finished:
            return self.finite[-1]
        return next(each for each in reversed(self.finite) if each.step <= step)

    def trace(self, step: int | None = None) -> Trace:
        """The layer at a step, number by number."""
        return trained(self.embedded, self.record(step), self.values)

    def picture(self, step: int | None = None) -> Layout:
        """The loss so far, the weights at a step, and what each position expects next."""
        record, trace = self.record(step), self.trace(step)
        parts = (Matrix(trace["weights"]), "→", Matrix(trace["probabilities"]))
        layout = equation(trace, *parts, tall=TALL, room=ROOM)
        next_one = next_tokens(inputs_of(self.values).tokens).tolist()
        frame_cells(layout, 1, list(enumerate(next_one)))
        if len(self.records) < 2:
            return layout
        steps = [each.step for each in self.records]
        if not self.is_finished:
            steps += [each for each in steps_shown(self.values) if each > steps[-1]]
        loss = f"{record.loss:.4f}" if math.isfinite(record.loss) else "no number"
        told = f"after step {record.step:,}: loss {loss}" if record.step else f"loss {loss}"
        losses = [each.loss for each in self.records]
        return with_curve(layout, losses, steps, steps.index(record.step), told)
