"""A trace as its lights look at it: what it is meant to do, and what is found in it."""

from collections.abc import Iterable, Iterator
from functools import cached_property

import torch
from torch import Tensor

from ...trace import Step, Trace
from .again import START, TOKENS, attentions, computed_again, ordinary, other_row, with_row

Measured = tuple[bool | None, str] | tuple[bool | None, str, str]
"""Whether a light holds, what was measured, and the step in which it shows first, if any."""
SAME = 1e-5
"""Numbers that differ by less than this share of the largest are the same."""


class Seen:
    """A trace, what it is meant to do, and the attentions that were found in it."""

    def __init__(
        self, trace: Trace, output: str, may_look: Tensor | None, second: Trace | None
    ) -> None:
        self.trace = trace
        self.output = output
        self.second = second
        self.needed = {output, *trace[output].earlier()}
        if START in self.needed:  # what comes before the embeddings is not looked at
            self.needed -= trace[START].earlier()
        self.attentions = [each for each in attentions(trace) if each.context.name in self.needed]
        n_tokens = trace[output].value.shape[token_axis(trace[output])]
        tables = [each.weights.value.shape[-2:] for each in self.attentions]
        everything = torch.ones(tables[0] if tables else (n_tokens, n_tokens), dtype=torch.bool)
        self.may_look = everything if may_look is None else may_look
        self.places = sorted({0, n_tokens // 2, n_tokens - 1})

    def steps(self) -> Iterator[Step]:
        return (step for name, step in self.trace.items() if name in self.needed)

    def tables(self) -> Iterator[tuple[Step, Tensor, str]]:
        """The weights of every attention as they are, and then with scores of ordinary size: where
        some scores are far larger than others, a mistake is there and too small to be seen.
        """
        for found in self.attentions:
            yield found.weights, found.weights.value, "with these scores"
        for found, weights in zip(self.attentions, self.ordinary_weights, strict=True):
            yield found.weights, weights, "with scores drawn around 0"

    @cached_property
    def ordinary_weights(self) -> list[Tensor]:
        """The weights that scores of ordinary size give, of every attention."""
        return [
            found.weights_of(self.trace, ordinary(found.before.value)) for found in self.attentions
        ]


def token_axis(step: Step) -> int:
    return next(at for at, axis in enumerate(step.axes) if axis in TOKENS)


def moved_by(seen: Seen, changed: str, place: int, watched: str) -> Tensor:
    """How far each number of a step moves when one token's vector of another step changes."""
    replaced = {changed: with_other(seen.trace[changed], place)}
    return gap(computed_again(seen.trace, replaced, watched), seen.trace[watched].value)


def with_other(step: Step, place: int) -> Tensor:
    """Its numbers, with others for one token: drawn, as large as the rest."""
    axis = token_axis(step)
    return with_row(step.value, axis, place, other_row(step.value, axis, place))


def gap(one: Tensor, other: Tensor) -> Tensor:
    """How far each number is from the other: infinitely where one of both is nan; 0 where both are
    nan or infinite, which `unless_lost` looks for.
    """
    both = ~(one.isfinite() | other.isfinite())
    return (one - other).abs().nan_to_num(torch.inf, torch.inf).masked_fill(both, 0.0)


def unless_lost(values: Iterable[Tensor], said: str) -> Measured:
    """Green with these words; grey where some of the values that were compared are nan or infinite:
    they came so from the weights, and nothing can be read off them.
    """
    counts = [(int((~each.isfinite()).sum()), each.numel()) for each in values]
    lost, of_all = (sum(each) for each in zip(*counts, strict=True))
    if lost:
        return None, f"Not judged: of {of_all:,} numbers compared, {lost:,} are nan or ∞ already."
    return True, said


def others_moved(moved: Tensor, axis: int, place: int) -> float:
    """How far the numbers move that belong to no such place."""
    others = moved.movedim(axis, 0).clone()
    others[place] = 0
    return float(others.max())


def minus(value: float) -> str:
    """A number in a sentence, with the minus that the charts have."""
    return f"{value:.4g}".replace("-", "−")
