"""Two traces of one lesson, step by step: what changed, how far, and what changed first."""

from dataclasses import dataclass

import torch
from torch import Tensor

from .operations import Edit, Given, Subtract
from .operations.heads import Move
from .trace import Step, Trace


@dataclass(frozen=True)
class Change:
    """How a step differs from the step of that name in an earlier trace."""

    name: str
    is_input: bool
    """Whether it was drawn, given or typed, or only moves what was."""
    largest: float | None
    """The largest difference; None where the earlier trace has no such step, or another shape."""
    n_changed: int
    n_cells: int
    was: str
    """The earlier shape, where it is another one; else ''."""

    @property
    def changed(self) -> bool:
        """Whether anything differs."""
        return self.largest is None or self.n_changed > 0


def changes(before: Trace, now: Trace) -> list[Change]:
    """What became of every step of `now` since `before`, in its order."""
    return [_change(before.get(step.name), step) for step in now.values()]


def first_changed(changes: list[Change]) -> Change | None:
    """The first computed step that changed: inputs are what was changed, not what changed."""
    return next((each for each in changes if each.changed and not each.is_input), None)


def difference(before: Step, now: Step, labels: Trace) -> Trace:
    """A trace of two values and their `difference`, 0 for equal infinities; axes as in `labels`."""
    trace = Trace(**{axis: labels.labels(axis) for axis in now.axes})
    old, new = _finite(before.value, now.value)
    then = trace.step("before", Given.of(old), axes=now.axes)
    later = trace.step("now", Given.of(new), axes=now.axes)
    trace.step("difference", Subtract(), later, then, axes=now.axes)
    return trace


def is_input(step: Step) -> bool:
    """Whether a step has no inputs, or only moves or overtypes those of such a step."""
    if not step.inputs:
        return True
    return isinstance(step.operation, Move | Edit) and all(map(is_input, step.inputs))


def _change(before: Step | None, now: Step) -> Change:
    known, n_cells = is_input(now), now.value.numel()
    if before is None or before.value.shape != now.value.shape:
        return Change(now.name, known, None, n_cells, n_cells, before.shape if before else "")
    old, new = _finite(before.value, now.value)
    apart = (new - old).abs()
    largest = float(apart.max()) if n_cells else 0.0
    return Change(now.name, known, largest, int((apart != 0).sum()), n_cells, "")


def _finite(old: Tensor, new: Tensor) -> tuple[Tensor, Tensor]:
    """Both as float, with 0 where both are infinite alike."""
    old, new = old.float(), new.float()
    alike = (old == new) & old.isinf()
    return torch.where(alike, 0.0, old), torch.where(alike, 0.0, new)
