"""A trace as its lights ask it: what it is meant to do, and what is found in it."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache

import torch
from torch import Tensor

from ...operations import Columns, DistanceBias, MatMul, MeanHeads, RotaryAngles, ScaleRow
from ...rounding import largest, to_within
from ...trace import Step, Trace
from ..light import OF_WEIGHTS
from ..measures import LARGE, Measured, Moved, Subject, gap, rows_of
from .again import (
    START,
    TABLE,
    TOKENS,
    FoundAttention,
    attentions,
    computed_again,
    is_table,
    of_tokens,
    ordinary,
    other_row,
    with_row,
)

SPREAD = (0.6, 1.6)
"""How far the variance of scores may be from 1: 2 is √2 wide vectors undivided."""
TRIALS = 2_000
"""How many queries are drawn to measure it."""
POSITIONS = RotaryAngles | DistanceBias
"""What attention has inside itself so that order counts."""
NO_WEIGHTS = "There are no weights in it."
_OF_ATTENTION = ("finite", *OF_WEIGHTS, "own_row", "variance")


class Seen(Subject):
    """A trace, what it is meant to do, and the attentions that were found in it."""

    def __init__(
        self, trace: Trace, step: str, may_look: Tensor | None, second: Callable[[], Trace] | None
    ) -> None:
        self.trace, self.step, self.second = trace, step, second
        self.needed = {step, *trace[step].earlier()}
        if START in self.needed:  # what comes before the embeddings is not looked at
            self.needed -= trace[START].earlier()
        self.attentions = [each for each in attentions(trace) if each.context.name in self.needed]
        self.has_sink = any(isinstance(e.weights.operation, Columns) for e in self.attentions)
        self.output = _tokens_first(trace[step].value, trace[step])
        n_tokens = len(self.output)
        tables = [each.weights.value.shape[-2:] for each in self.attentions]
        everything = torch.ones(tables[0] if tables else (n_tokens, n_tokens), dtype=torch.bool)
        self.seen = everything if may_look is None else may_look
        self.places = sorted({0, n_tokens // 2, n_tokens - 1})
        if any(isinstance(each.operation, POSITIONS) for each in self._steps()):
            self.keeps_order = "Not here, and that is meant: its positions tell places apart."

    def within(self, gap: float) -> str:
        return to_within(gap)

    def why_not(self, name: str) -> str:
        return NO_WEIGHTS if name in _OF_ATTENTION and not self.attentions else ""

    def tables(self) -> Iterator[tuple[Tensor, str, str]]:
        """The weights as they are, and then with scores of ordinary size, where mistakes show."""
        for found in self.attentions:
            yield found.weights.value, "with these scores", found.weights.name
        for weights, name in self.ordinary():
            yield weights, "with scores drawn around 0", name

    def ordinary(self) -> list[tuple[Tensor, str]]:
        return self._ordinary

    @cached_property
    def _ordinary(self) -> list[tuple[Tensor, str]]:
        return [
            (found.weights_of(self.trace, ordinary(found.before.value)), found.weights.name)
            for found in self.attentions
        ]

    def large(self) -> Iterator[tuple[Tensor, str, str, str]]:
        for found in self.attentions:
            scores = found.before.value
            weights = found.weights_of(self.trace, scores * (LARGE / max(largest(scores), 1e-9)))
            yield weights, "weight", f"With scores up to {LARGE:,.0f}", found.weights.name

    def of_other_token(self, place: int) -> Moved | None:
        if START not in self.needed or not self.attentions:
            return None
        return self._moved(START, place, self.step)

    def of_other_query(self, place: int) -> Iterator[Moved]:
        for found in self.attentions:
            if found.asks is not found.answers and "query" in found.asks.axes:
                yield self._moved(found.asks.name, place, found.weights.name)

    def _moved(self, changed: str, place: int, watched: str) -> Moved:
        """How far the rows of a step move when one token's vector of another step changes."""
        replaced = {changed: _with_other(self.trace[changed], place)}
        step = self.trace[watched]
        moved = gap(computed_again(self.trace, replaced, watched), step.value)
        return Moved(rows_of(moved, _token_axis(step)), step.value, watched)

    def outside_attention(self, place: int) -> Iterator[Moved]:
        for step in self._steps():
            inputs = [each for each in step.inputs if of_tokens(each)]
            mixes = any(is_table(each) for each in step.inputs)
            is_number = all(each.value.is_floating_point() for each in step.inputs)
            if not (inputs and of_tokens(step) and is_number) or mixes:
                continue
            yield _moved_alone(step, place)

    def reordered(self, order: Tensor) -> tuple[Tensor, str] | None:
        if START not in self.needed or not self.attentions:
            return None
        vectors = self.trace[START]
        stretched = (e for e in self._steps() if isinstance(e.operation, ScaleRow))
        of_vectors = [vectors, *(each for each in stretched if each.inputs[0] is vectors)]
        replaced = {e.name: e.value.index_select(_token_axis(e), order) for e in of_vectors}
        for step in self._steps():  # whoever may see whom goes along
            if step.axes == TABLE and not step.value.is_floating_point() and not step.inputs:
                replaced[step.name] = step.value[order][:, order]
        has_mask = len(replaced) > len(of_vectors)
        along = "With the mask reordered too," if has_mask else "With the tokens reordered,"
        made = computed_again(self.trace, replaced, self.step)
        return _tokens_first(made, self.trace[self.step]), along

    def any_length(self) -> Measured:
        parameters = list(self._parameters()) if START in self.needed else []
        if not parameters:
            return None, "It has no parameters."
        for step in parameters:
            if any(axis in TOKENS for axis in step.axes):
                said = f"A matrix is {step.shape}: a sentence of another length does not fit."
                return False, said, step.name
        count = sum(step.value.numel() for step in parameters)
        return True, (
            f"{count:,} parameters go into this output, whatever the length of the sentence."
        )

    def _parameters(self) -> Iterator[Step]:
        """The numbers that vectors are multiplied with: given, drawn, or the mean of heads."""
        told: set[str] = set()
        for step in self._steps():
            if not isinstance(step.operation, MatMul):  # `Linear` is one
                continue
            for operand in step.inputs:
                made_of = {operand.name, *operand.earlier()}
                means = [n for n in made_of if isinstance(self.trace[n].operation, MeanHeads)]
                for name in made_of.difference(*(self.trace[mean].earlier() for mean in means)):
                    leaf = self.trace[name]
                    is_given = (name in means or not leaf.inputs) and leaf.value.is_floating_point()
                    begins = leaf.value.ndim > 1 and not leaf.value.any()
                    if START not in made_of and is_given and not begins and name not in told:
                        told.add(name)
                        yield leaf

    def twice(self) -> Iterable[tuple[str, Tensor, Tensor | None]] | None:
        if self.second is None:
            return None
        made = self.second()
        others = ((each, made.get(each.name)) for each in self._steps())
        return ((each.name, each.value, other and other.value) for each, other in others)

    def of_drawn(self) -> list[Tensor]:
        if START not in self.needed:
            return []
        drawn = ordinary(self.trace[START].value)
        return [computed_again(self.trace, {START: each}, self.step) for each in (drawn, -drawn)]

    def variance(self) -> Measured:
        said = []
        for found in self.attentions:
            width, spread = found.asks.value.shape[-1], _score_variance(self.trace, found)
            drawn = f"Queries and keys of variance 1, {width} wide,"
            said.append(f"{drawn} give scores of variance {spread:.3g}")
            if not SPREAD[0] < spread < SPREAD[1]:
                if found.asks is found.answers and found.before is found.scores:
                    meant = "Not asked here: tokens are compared as they are, and scores are not"
                    return None, f"{meant} divided. {said[-1]}.", found.before.name
                return False, f"{said[-1]}, not near 1.", found.before.name
        return True, f"{said[0]}, near 1."

    def _steps(self) -> Iterator[Step]:
        return (step for name, step in self.trace.items() if name in self.needed)


def _token_axis(step: Step) -> int:
    return next(at for at, axis in enumerate(step.axes) if axis in TOKENS)


def _tokens_first(value: Tensor, step: Step) -> Tensor:
    return value.movedim(_token_axis(step), 0)


@lru_cache(maxsize=128)  # one layer with each of its mistakes shares most steps
def _moved_alone(step: Step, place: int) -> Moved:
    """How far the rows of a step move when one token's vectors of its operands change."""
    operands = (_with_other(e, place) if of_tokens(e) else e.value for e in step.inputs)
    moved = gap(step.operation.value(*operands), step.value)
    return Moved(rows_of(moved, _token_axis(step)), step.value, step.name)


def _with_other(step: Step, place: int) -> Tensor:
    """Its numbers, with others for one token: drawn, as large as the rest."""
    axis = _token_axis(step)
    return with_row(step.value, axis, place, other_row(step.value, axis, place))


def _score_variance(trace: Trace, attention: FoundAttention) -> float:
    """The variance of the scores as softmax gets them, of drawn queries and keys."""
    generator = torch.Generator().manual_seed(0)
    shapes = [each.value.shape for each in attention.scores.inputs[:2]]
    n_times = max(1, TRIALS // shapes[0][-2])
    drawn = [torch.randn(n_times, *shape, generator=generator) for shape in shapes]
    made = attention.scores
    scores = made.operation.value(*drawn, *(each.value for each in made.inputs[2:]))
    values = {attention.scores.name: scores}
    before = {attention.before.name, *attention.before.earlier()}
    for step in trace.values():
        alone = len(step.inputs) == 1 and step.inputs[0].name in values
        if alone and step.name in before:
            values[step.name] = step.operation.value(values[step.inputs[0].name])
    return float(values[attention.before.name].var())
