"""Lights on vectors: what a token's output may depend on, what parameters and calls are like."""

from collections.abc import Iterator

import torch

from ...operations import DistanceBias, MatMul, MeanHeads, RotaryAngles
from ...rounding import largest
from ...trace import Step
from ..light import Light
from .again import (
    START,
    TABLE,
    TOKENS,
    computed_again,
    is_table,
    of_tokens,
    other_row,
    with_row,
)
from .seen import SAME, Seen, minus, moved_by, open_light, ordinary, token_axis

POSITIONS = RotaryAngles | DistanceBias
"""What attention has inside itself so that order counts."""


def no_leak(seen: Seen) -> Light:
    name = "no_leak"
    if START not in seen.needed or not seen.attentions:
        return open_light(name, "It has no embeddings to change.")
    if seen.may_look.all():
        return open_light(name, "Every token may see every other one.")
    farthest, out = 0.0, seen.trace[seen.output]
    at = token_axis(out)
    for place in reversed(seen.places):
        unseen = ~seen.may_look[:, place]
        unseen[place] = False
        moved = moved_by(seen, START, place, seen.output)
        rows = moved.movedim(at, 0)[unseen]
        if rows.numel() and rows.max() > SAME * max(largest(out.value), 1e-9):
            farthest = max(farthest, rows.max().item())
            evidence = (
                f"Change token {place}, and the output of tokens that may not see it moves by up "
                f"to {farthest:.4g}."
            )
            return Light(name, False, evidence, seen.output)
    return Light(name, True, "Change a token, and tokens that may not see it keep their output.")


def tokens_apart(seen: Seen) -> Light:
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
        return open_light(name, "Nothing is done to tokens outside attention.")
    return Light(name, True, f"True of all {measured} steps outside attention.")


def _far_from_own(step: Step, place: int) -> float:
    """How far rows of other tokens move when a token changes in all that a step is made from."""
    given = []
    for each in step.inputs:
        value = each.value
        if of_tokens(each):
            axis = token_axis(each)
            value = with_row(value, axis, place, other_row(value, axis, place))
        given.append(value)
    moved = (step.operation.value(*given) - step.value).abs().nan_to_num(torch.inf)
    others = moved.movedim(token_axis(step), 0).clone()
    others[place] = 0
    return float(others.max())


def order_free(seen: Seen) -> Light:
    name = "order_free"
    if START not in seen.needed or not seen.attentions:
        return open_light(name, "It has no embeddings to reorder.")
    out = seen.trace[seen.output]
    n_tokens = out.value.shape[token_axis(out)]
    if n_tokens < 2:
        return open_light(name, "There is one token only.")
    order = torch.arange(n_tokens).roll(1)
    vectors = seen.trace[START]
    given = {START: vectors.value.index_select(token_axis(vectors), order)}
    for step in seen.steps():  # whoever may see whom goes along
        if step.axes == TABLE and not step.value.is_floating_point() and not step.inputs:
            given[step.name] = step.value[order][:, order]
    along = "With the mask reordered too," if len(given) > 1 else "With the tokens reordered,"
    values = computed_again(seen.trace, given)
    expected = out.value.index_select(token_axis(out), order)
    far = (values[seen.output] - expected).abs().nan_to_num(torch.inf).max().item()
    if far > 1e-3 * max(largest(out.value), 1e-9):
        evidence = f"{along} other vectors come out, up to {far:.4g} away."
        if any(isinstance(step.operation, POSITIONS) for step in seen.steps()):
            meant = f"Not here, and that is meant: its positions tell places apart. {evidence}"
            return Light(name, None, meant, seen.output)
        return Light(name, False, evidence, seen.output)
    return Light(name, True, f"{along} the vectors differ by at most {far:.1g}.")


def any_length(seen: Seen) -> Light:
    name = "any_length"
    parameters = list(_parameters(seen)) if START in seen.needed else []
    if not parameters:
        return open_light(name, "It has no parameters.")
    for step in parameters:
        if any(axis in TOKENS for axis in step.axes):
            evidence = f"A matrix is {step.shape}: a sentence of another length does not fit."
            return Light(name, False, evidence, step.name)
    count = sum(step.value.numel() for step in parameters)
    evidence = f"{count:,} parameters go into this output, whatever the length of the sentence."
    return Light(name, True, evidence)


def _parameters(seen: Seen) -> Iterator[Step]:
    """The given or drawn numbers that vectors are multiplied with; of heads that were averaged, the
    mean, which is all that such a model has.
    """
    told: set[str] = set()
    for step in seen.steps():
        if not isinstance(step.operation, MatMul):  # `Linear` is one
            continue
        for operand in step.inputs:
            made_of = {operand.name, *operand.earlier()}
            means = [n for n in made_of if isinstance(seen.trace[n].operation, MeanHeads)]
            for name in made_of.difference(*(seen.trace[mean].earlier() for mean in means)):
                leaf = seen.trace[name]
                is_given = (name in means or not leaf.inputs) and leaf.value.is_floating_point()
                if START not in made_of and is_given and name not in told:
                    told.add(name)
                    yield leaf


def repeatable(seen: Seen) -> Light:
    name = "repeatable"
    if seen.second is None:
        return open_light(name, "It was called once only.")
    for step in seen.steps():
        other = seen.second.get(step.name)
        if other is None or other.value.shape != step.value.shape:
            return Light(name, False, "A second call has other steps.", step.name)
        far = (other.value.double() - step.value.double()).abs().nan_to_num(0.0)
        if far.numel() and far.max() > 0:
            evidence = f"A second call with the same input differs by up to {far.max():.4g}."
            return Light(name, False, evidence, step.name)
    return Light(name, True, "A second call with the same input gives exactly the same.")


def both_signs(seen: Seen) -> Light:
    name = "both_signs"
    if START not in seen.needed:
        return open_light(name, "It has no embeddings to change.")
    vectors = seen.trace[START].value
    lowest, highest = torch.inf, -torch.inf
    for sign in (1, -1):
        values = computed_again(seen.trace, {START: sign * ordinary(vectors)})[seen.output]
        lowest = min(lowest, values.min().item())
        highest = max(highest, values.max().item())
    tried = "For drawn inputs, and for the same with signs turned, the output"
    if lowest >= 0 or highest <= 0:
        evidence = f"{tried} lies between {minus(lowest)} and {minus(highest)}."
        return Light(name, False, evidence, seen.output)
    return Light(name, True, f"{tried} lies between {minus(lowest)} and {minus(highest)}.")
