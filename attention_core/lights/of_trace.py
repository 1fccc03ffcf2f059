"""The lights of a trace: each property measured on its own numbers, or by computing it again."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from ..operations import MatMul
from ..operations.given import Draw, Encode
from ..rounding import largest
from ..trace import Step, Trace
from .again import (
    START,
    TABLE,
    TOKENS,
    Found,
    attentions,
    computed_again,
    is_table,
    last_of_tokens,
    made_from,
    of_tokens,
    other_row,
    with_row,
)
from .light import TITLES, Light

SAME = 1e-5
"""Numbers that differ by less than this share of the largest are the same."""
SPREAD = (0.6, 1.6)
"""How far the variance of scores may be from 1: 2 is √2 wide vectors undivided."""
TRIALS = 2_000
"""How many queries are drawn to measure it."""
LARGE = 1e4
"""How large scores are made to see whether the weights stay finite."""


def lights(
    trace: Trace,
    may_look: Tensor | None = None,
    second: Trace | None = None,
    output: str = "",
) -> tuple[Light, ...]:
    """What of all that attention should do a trace does, in the order of `TITLES`.

    `may_look` (query, key) says which keys a query is meant to see, whatever mask the trace has;
    None where all are. `second` is what a second call with the same input made, if there was one.
    Only the steps that `output` is made from are looked at; "" for the last vectors of tokens.
    Raises ValueError for a trace without vectors of tokens.
    """
    seen = _Seen(trace, output or last_of_tokens(trace), may_look, second)
    return tuple(_OF[name](seen) for name in TITLES if name in _OF)


def one_light(trace: Trace, name: str, may_look: Tensor | None = None, output: str = "") -> Light:
    """One of the lights of a trace, as in `lights`. Raises KeyError for one that there is not."""
    return _OF[name](_Seen(trace, output or last_of_tokens(trace), may_look, None))


def first_red(found: tuple[Light, ...]) -> Light | None:
    """The first property that does not hold."""
    return next((each for each in found if each.holds is False), None)


class _Seen:
    """A trace, what it is meant to do, and the attentions that were found in it."""

    def __init__(
        self, trace: Trace, output: str, may_look: Tensor | None, second: Trace | None
    ) -> None:
        self.trace = trace
        self.output = output
        self.second = second
        self.needed = made_from(trace[output])
        if START in self.needed:  # what comes before the embeddings is not looked at
            self.needed -= made_from(trace[START]) - {START}
        self.attentions = [each for each in attentions(trace) if each.context.name in self.needed]
        n_tokens = trace[output].value.shape[_token_axis(trace[output])]
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
            values = computed_again(self.trace, {found.before.name: _ordinary(found.before.value)})
            yield found.weights, values[found.weights.name], "with scores drawn around 0"


def _ordinary(scores: Tensor) -> Tensor:
    return torch.randn(scores.shape, generator=torch.Generator().manual_seed(0)).to(scores.dtype)


def _token_axis(step: Step) -> int:
    return next(at for at, axis in enumerate(step.axes) if axis in TOKENS)


def _none(name: str, why: str) -> Light:
    return Light(name, None, why)


NO_ATTENTION = "There are no weights in it."


def _finite(seen: _Seen) -> Light:
    name = "finite"
    if not seen.attentions:
        return _none(name, NO_ATTENTION)
    for found in seen.attentions:
        scores = found.before.value
        factor = LARGE / max(largest(scores), 1e-9)
        values = computed_again(seen.trace, {found.before.name: scores * factor})
        weights = values[found.weights.name]
        n_bad = int((~weights.isfinite()).sum())
        if n_bad:
            evidence = f"With scores up to {LARGE:,.0f}, {n_bad} of {weights.numel()} weights are "
            return Light(name, False, evidence + "not numbers.", found.weights.name)
    return Light(name, True, f"With scores up to {LARGE:,.0f}, every weight is a number.")


def _rows_sum_to_1(seen: _Seen) -> Light:
    name = "rows_sum_to_1"
    if not seen.attentions:
        return _none(name, NO_ATTENTION)
    sees_some = seen.may_look.any(dim=-1)
    worst = 0.0
    for step, weights, where in seen.tables():
        sums = weights.sum(dim=-1)[..., sees_some]
        off = (sums - 1).abs().nan_to_num(torch.inf)
        if off.numel() and off.max() > 1e-4:
            low, high = sums.min().item(), sums.max().item()
            evidence = f"Rows sum to between {low:.4f} and {high:.4f} {where}."
            if sums.isnan().any():
                evidence = f"Some rows sum to nan (not a number) {where}."
            return Light(name, False, evidence, step.name)
        worst = max(worst, off.max().item()) if off.numel() else worst
    return Light(name, True, f"The largest deviation is {worst:.1g}.")


def _not_negative(seen: _Seen) -> Light:
    name = "not_negative"
    if not seen.attentions:
        return _none(name, NO_ATTENTION)
    for step, weights, where in seen.tables():
        n_below = int((weights < 0).sum())
        if n_below:
            evidence = f"{n_below} of {weights.numel()} weights are below 0 {where}, the lowest "
            return Light(name, False, f"{evidence}{_minus(float(weights.min()))}.", step.name)
    lowest = min(float(found.weights.value.min()) for found in seen.attentions)
    return Light(name, True, f"The smallest weight is {lowest:.1g}.")


def _hidden_is_zero(seen: _Seen) -> Light:
    name = "hidden_is_zero"
    if not seen.attentions:
        return _none(name, NO_ATTENTION)
    if seen.may_look.all():
        return _none(name, "No key is meant to be hidden.")
    for step, weights, where in seen.tables():
        hidden = weights.masked_fill(seen.may_look, 0.0).abs().nan_to_num()
        most = hidden.sum(dim=-1).max().item()
        if most > 0:
            evidence = f"A query gives up to {most:.4f} of its weight to hidden keys {where}"
            alike = _alike(weights, ~seen.may_look)
            evidence += ": the same on each of them, as if its score were 0." if alike else "."
            return Light(name, False, evidence, step.name)
    return Light(name, True, "Exactly 0 on every hidden key.")


def _alike(weights: Tensor, among: Tensor) -> bool:
    """Whether these keys have equal weights in every row that has several of them."""
    rows = [row for row, keys in enumerate(among) if keys.sum() > 1]
    spread = [
        (weights[..., row, among[row]].amax(-1) - weights[..., row, among[row]].amin(-1)).max()
        for row in rows
    ]
    return bool(spread) and float(torch.stack(spread).max()) < SAME


def _seen_has_weight(seen: _Seen) -> Light:
    name = "seen_has_weight"
    if not seen.attentions:
        return _none(name, NO_ATTENTION)
    for found in seen.attentions:
        values = computed_again(seen.trace, {found.before.name: _ordinary(found.before.value)})
        nothing = (values[found.weights.name] == 0) & seen.may_look
        if nothing.any():
            evidence = (
                f"{int(nothing.sum())} of {nothing.numel()} weights are exactly 0 though the key "
                "may be seen."
            )
            return Light(name, False, evidence, found.weights.name)
    return Light(name, True, "With scores drawn around 0, no key that may be seen gets exactly 0.")


def _no_leak(seen: _Seen) -> Light:
    name = "no_leak"
    if START not in seen.needed or not seen.attentions:
        return _none(name, "It has no embeddings to change.")
    if seen.may_look.all():
        return _none(name, "Every token may see every other one.")
    farthest, out = 0.0, seen.trace[seen.output]
    at = _token_axis(out)
    for place in reversed(seen.places):
        unseen = ~seen.may_look[:, place]
        unseen[place] = False
        moved = _moved(seen, START, place, seen.output)
        rows = moved.movedim(at, 0)[unseen]
        if rows.numel() and rows.max() > SAME * max(largest(out.value), 1e-9):
            farthest = max(farthest, rows.max().item())
            evidence = (
                f"Change token {place}, and the output of tokens that may not see it moves by up "
                f"to {farthest:.4g}."
            )
            return Light(name, False, evidence, seen.output)
    return Light(name, True, "Change a token, and tokens that may not see it keep their output.")


def _moved(seen: _Seen, changed: str, place: int, watched: str) -> Tensor:
    """How far each number of a step moves when one token's vector of another step changes."""
    step = seen.trace[changed]
    axis = _token_axis(step)
    row = other_row(step.value, axis, place)
    values = computed_again(seen.trace, {changed: with_row(step.value, axis, place, row)})
    return (values[watched] - seen.trace[watched].value).abs().nan_to_num(torch.inf)


def _own_row(seen: _Seen) -> Light:
    name = "own_row"
    if not seen.attentions:
        return _none(name, NO_ATTENTION)
    measured = False
    for found in seen.attentions:
        if found.asks is found.answers or "query" not in found.asks.axes:
            continue
        measured = True
        for place in seen.places:
            moved = _moved(seen, found.asks.name, place, found.weights.name)
            others = moved.movedim(-2, 0).clone()
            others[place] = 0
            if others.max() > SAME:
                evidence = (
                    f"Change query {place} alone, and weights in other rows move by up to "
                    f"{others.max():.4f}."
                )
                return Light(name, False, evidence, found.weights.name)
    if not measured:
        return _none(name, "Queries and keys are the same vectors here.")
    return Light(name, True, "Change one query, and only its own row of weights moves.")


def _variance(seen: _Seen) -> Light:
    name = "variance"
    if not seen.attentions:
        return _none(name, NO_ATTENTION)
    said = []
    for found in seen.attentions:
        width = found.asks.value.shape[-1]
        variance = _score_variance(seen.trace, found)
        said.append(
            f"Queries and keys of variance 1, {width} wide, give scores of variance {variance:.3g}"
        )
        if not SPREAD[0] < variance < SPREAD[1]:
            return Light(name, False, f"{said[-1]}, not near 1.", found.before.name)
    return Light(name, True, f"{said[0]}, near 1.")


def _score_variance(trace: Trace, found: Found) -> float:
    """The variance of the scores as softmax gets them, of drawn queries and keys."""
    generator = torch.Generator().manual_seed(0)
    shapes = [each.value.shape for each in found.scores.inputs[:2]]
    n_times = max(1, TRIALS // shapes[0][-2])
    drawn = [torch.randn(n_times, *shape, generator=generator) for shape in shapes]
    scores = found.scores.operation.value(*drawn, *(e.value for e in found.scores.inputs[2:]))
    values = {found.scores.name: scores}
    for step in trace.values():
        alone = len(step.inputs) == 1 and step.inputs[0].name in values
        if alone and step.name in made_from(found.before):
            values[step.name] = step.operation.value(values[step.inputs[0].name])
    return float(values[found.before.name].var())


def _tokens_apart(seen: _Seen) -> Light:
    name = "tokens_apart"
    measured = 0
    for step in seen.steps():
        inputs = [each for each in step.inputs if of_tokens(each)]
        mixes = any(is_table(each) for each in step.inputs)
        is_number = all(each.value.is_floating_point() for each in step.inputs)
        if not (inputs and of_tokens(step) and is_number) or mixes:
            continue
        measured += 1
        for place in seen.places:
            far = _far_from_own(step, place)
            if far > SAME * max(largest(step.value), 1e-9):
                evidence = (
                    f"Change token {place} of what goes in, and other tokens' rows move by up to "
                    f"{far:.4g}."
                )
                return Light(name, False, evidence, step.name)
    if not measured:
        return _none(name, "Nothing is done to tokens outside attention.")
    return Light(name, True, f"True of all {measured} steps outside attention.")


def _far_from_own(step: Step, place: int) -> float:
    """How far rows of other tokens move when a token changes in all that a step is made from."""
    given = []
    for each in step.inputs:
        value = each.value
        if of_tokens(each):
            axis = _token_axis(each)
            value = with_row(value, axis, place, other_row(value, axis, place))
        given.append(value)
    moved = (step.operation.value(*given) - step.value).abs().nan_to_num(torch.inf)
    others = moved.movedim(_token_axis(step), 0).clone()
    others[place] = 0
    return float(others.max())


def _order_free(seen: _Seen) -> Light:
    name = "order_free"
    if START not in seen.needed or not seen.attentions:
        return _none(name, "It has no embeddings to reorder.")
    out = seen.trace[seen.output]
    n_tokens = out.value.shape[_token_axis(out)]
    if n_tokens < 2:
        return _none(name, "There is one token only.")
    order = torch.arange(n_tokens).roll(1)
    vectors = seen.trace[START]
    given = {START: vectors.value.index_select(_token_axis(vectors), order)}
    for step in seen.steps():  # whoever may see whom goes along
        if step.axes == TABLE and not step.value.is_floating_point() and not step.inputs:
            given[step.name] = step.value[order][:, order]
    along = "With the mask reordered too," if len(given) > 1 else "With the tokens reordered,"
    values = computed_again(seen.trace, given)
    expected = out.value.index_select(_token_axis(out), order)
    far = (values[seen.output] - expected).abs().nan_to_num(torch.inf).max().item()
    if far > 1e-3 * max(largest(out.value), 1e-9):
        evidence = f"{along} other vectors come out, up to {far:.4g} away."
        return Light(name, False, evidence, seen.output)
    return Light(name, True, f"{along} the vectors differ by at most {far:.1g}.")


def _any_length(seen: _Seen) -> Light:
    name = "any_length"
    parameters = list(_parameters(seen)) if START in seen.needed else []
    if not parameters:
        return _none(name, "It has no parameters.")
    for step in parameters:
        if any(axis in TOKENS for axis in step.axes):
            evidence = f"A matrix is {step.shape}: a sentence of another length does not fit."
            return Light(name, False, evidence, step.name)
    count = sum(step.value.numel() for step in parameters)
    return Light(name, True, f"{count:,} parameters, whatever the length of the sentence.")


def _parameters(seen: _Seen) -> Iterator[Step]:
    """The given or drawn numbers that vectors are multiplied with."""
    told: set[str] = set()
    for step in seen.steps():
        if not isinstance(step.operation, MatMul):  # `Linear` is one
            continue
        for operand in step.inputs:
            for name in made_from(operand):
                leaf = seen.trace[name]
                is_given = not leaf.inputs and leaf.value.is_floating_point()
                if START not in made_from(operand) and is_given and name not in told:
                    told.add(name)
                    yield leaf


def _repeatable(seen: _Seen) -> Light:
    name = "repeatable"
    if seen.second is None:
        return _none(name, "It was called once only.")
    for step in seen.steps():
        other = seen.second.get(step.name)
        if other is None or other.value.shape != step.value.shape:
            return Light(name, False, "A second call has other steps.", step.name)
        far = (other.value.double() - step.value.double()).abs().nan_to_num(0.0)
        if far.numel() and far.max() > 0:
            evidence = f"A second call with the same input differs by up to {far.max():.4g}."
            return Light(name, False, evidence, step.name)
    return Light(name, True, "A second call with the same input gives exactly the same.")


def _both_signs(seen: _Seen) -> Light:
    name = "both_signs"
    if START not in seen.needed:
        return _none(name, "It has no embeddings to change.")
    vectors = seen.trace[START].value
    lowest, highest = torch.inf, -torch.inf
    for sign in (1, -1):
        values = computed_again(seen.trace, {START: sign * _ordinary(vectors)})[seen.output]
        lowest = min(lowest, values.min().item())
        highest = max(highest, values.max().item())
    tried = "For drawn inputs, and for the same with signs turned, the output"
    if lowest >= 0 or highest <= 0:
        evidence = f"{tried} lies between {_minus(lowest)} and {_minus(highest)}."
        return Light(name, False, evidence, seen.output)
    return Light(name, True, f"{tried} lies between {_minus(lowest)} and {_minus(highest)}.")


def _minus(value: float) -> str:
    """A number in a sentence, with the minus that the charts have."""
    return f"{value:.4g}".replace("-", "−")


def _ids(seen: _Seen) -> Light:
    name = "ids"
    step = seen.trace.get("token_ids")
    if step is None:
        return _none(name, "No ids stand before these vectors.")
    texts, ids = seen.trace.labels("token"), step.value.tolist()
    by_text: dict[str, set[int]] = {}
    for text, number in zip(texts, ids, strict=True):
        by_text.setdefault(text, set()).add(number)
    n_torn = sum(len(each) > 1 for each in by_text.values())
    if n_torn:
        evidence = f"{n_torn} of the words that repeat {'has' if n_torn == 1 else 'have'} several "
        return Light(name, False, evidence + "ids.", step.name)
    if isinstance(step.operation, Draw):
        return Light(name, False, "The ids are drawn, so they say nothing of the words.", step.name)
    if len({min(each) for each in by_text.values()}) < len(by_text):
        return Light(name, False, "Two words share an id.", step.name)
    if isinstance(step.operation, Encode) and _skips(seen.trace):
        return Light(
            name, False, f"{_skips(seen.trace)} rows of the table belong to nobody.", step.name
        )
    return Light(name, True, f"{len(by_text)} different words have {len(by_text)} ids.")


def _skips(trace: Trace) -> int:
    """How many rows of the table belong to no token and are reserved for nothing."""
    from ..text.vocabulary import UNUSED

    table = next((s for s in trace.values() if s.axes[:1] == ("vocabulary",)), None)
    return trace.labels("vocabulary").count(UNUSED) if table is not None else 0


_OF: dict[str, Callable[[_Seen], Light]] = {
    "finite": _finite,
    "rows_sum_to_1": _rows_sum_to_1,
    "not_negative": _not_negative,
    "hidden_is_zero": _hidden_is_zero,
    "seen_has_weight": _seen_has_weight,
    "no_leak": _no_leak,
    "own_row": _own_row,
    "variance": _variance,
    "tokens_apart": _tokens_apart,
    "order_free": _order_free,
    "any_length": _any_length,
    "repeatable": _repeatable,
    "both_signs": _both_signs,
    "ids": _ids,
}
