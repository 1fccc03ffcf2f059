"""A trace computed again with some of its steps replaced: what would have come out instead."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from ...operations import MatMul, Scale, ScaleBy
from ...operations.base import Meaning
from ...trace import Step, Trace

TOKENS = ("token", "query", "key")
"""Axes that have a place for each token."""
TABLE = ("query", "key")
START = "embeddings"
"""The vectors that a layer starts from."""


def computed_again(trace: Trace, replaced: Mapping[str, Tensor], wanted: str) -> Tensor:
    """The value of a step where those of `replaced` have these numbers instead."""
    changed = dict(replaced)
    needed = {wanted, *trace[wanted].earlier()} - changed.keys()
    for name, step in trace.items():
        if name in needed and any(each.name in changed for each in step.inputs):
            operands = (changed.get(each.name, each.value) for each in step.inputs)
            changed[name] = step.operation.value(*operands)
    return changed.get(wanted, trace[wanted].value)


@dataclass(frozen=True)
class FoundAttention:
    """An attention found by shape and operations: scores of a product, weights that average."""

    scores: Step
    before: Step
    """The scores as they were divided, before anything is hidden or normalised."""
    weights: Step
    context: Step

    @property
    def asks(self) -> Step:
        """The operand that has the axis of queries; the first where none has."""
        asking = (each for each in self.scores.inputs if "query" in each.axes)
        return next(asking, self.scores.inputs[0])

    @property
    def answers(self) -> Step:
        """The other operand; the same step where tokens are compared as they are."""
        others = [each for each in self.scores.inputs if "query" not in each.axes]
        return others[0] if others else self.scores.inputs[1]

    def weights_of(self, trace: Trace, scores: Tensor) -> Tensor:
        """The weights that other scores give, divided as these are."""
        return computed_again(trace, {self.before.name: scores}, self.weights.name)


def attentions(trace: Trace) -> list[FoundAttention]:
    """Every attention of a trace, in its order."""
    steps = list(trace.values())
    found = []
    for step in steps:
        if not (isinstance(step.operation, MatMul) and is_table(step.inputs[0])):
            continue
        weights = step.inputs[0]
        needed = weights.earlier()  # the nearest, where layers lie below
        tables = (s for s in reversed(steps) if s.name in needed and is_table(s))
        products = (s for s in tables if isinstance(s.operation, MatMul) and s.operation.transpose)
        scores = next(products, None)
        if scores is not None:
            found.append(FoundAttention(scores, _divided(scores, steps), weights, step))
    return found


def is_table(step: Step) -> bool:
    """Whether it has a number for each query and key that was worked out, and not given."""
    return bool(step.inputs) and step.axes[-2:] == TABLE and step.value.is_floating_point()


def of_tokens(step: Step) -> bool:
    """Whether it has a vector (or more, or a number) for each token, and is no table."""
    return sum(axis in TOKENS for axis in step.axes) == 1


def last_of_tokens(trace: Trace) -> str:
    """The last step of vectors of tokens, gradients aside. Raises ValueError for none."""
    for name in reversed(list(trace)):
        step = trace[name]
        is_forward = step.meaning is not Meaning.GRADIENT
        if is_forward and of_tokens(step) and step.value.is_floating_point():
            return name
    raise ValueError("this trace has no vectors of tokens")


def _divided(scores: Step, steps: Iterable[Step]) -> Step:
    """The last of the scores' multiples: divided, tempered."""
    last = scores
    for step in steps:
        if step.inputs[:1] == (last,) and isinstance(step.operation, Scale | ScaleBy):
            last = step
    return last


def ordinary(numbers: Tensor) -> Tensor:
    """As many numbers, drawn around 0."""
    return _drawn(0, numbers.shape).to(numbers.dtype)


def with_row(value: Tensor, axis: int, place: int, row: Tensor) -> Tensor:
    """A copy in which one place of an axis has other numbers."""
    changed = value.clone()
    changed.select(axis, place).copy_(row)
    return changed


def other_row(value: Tensor, axis: int, place: int) -> Tensor:
    """Numbers for one place of an axis unlike those there: drawn, as large as the rest."""
    here = value.select(axis, place)
    size = value.abs().max().clamp(min=1.0) if value.numel() else torch.tensor(1.0)
    return here + size * _drawn(place, here.shape).to(here.dtype)


@lru_cache(maxsize=128)
def _drawn(seed: int, shape: torch.Size) -> Tensor:
    """Numbers drawn around 0, which nobody changes."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))
