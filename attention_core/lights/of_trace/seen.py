"""A trace as its lights look at it: what it is meant to do, and what is found in it."""

from collections.abc import Iterator

import torch
from torch import Tensor

from ...trace import Step, Trace
from ..light import Light
from .again import START, TOKENS, attentions, computed_again, other_row, with_row

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
        for found in self.attentions:
            values = computed_again(self.trace, {found.before.name: ordinary(found.before.value)})
            yield found.weights, values[found.weights.name], "with scores drawn around 0"


def ordinary(scores: Tensor) -> Tensor:
    return torch.randn(scores.shape, generator=torch.Generator().manual_seed(0)).to(scores.dtype)


def token_axis(step: Step) -> int:
    return next(at for at, axis in enumerate(step.axes) if axis in TOKENS)


def moved_by(seen: Seen, changed: str, place: int, watched: str) -> Tensor:
    """How far each number of a step moves when one token's vector of another step changes."""
    step = seen.trace[changed]
    axis = token_axis(step)
    row = other_row(step.value, axis, place)
    values = computed_again(seen.trace, {changed: with_row(step.value, axis, place, row)})
    return (values[watched] - seen.trace[watched].value).abs().nan_to_num(torch.inf)


def open_light(name: str, why: str) -> Light:
    return Light(name, None, why)


def minus(value: float) -> str:
    """A number in a sentence, with the minus that the charts have."""
    return f"{value:.4g}".replace("-", "−")
