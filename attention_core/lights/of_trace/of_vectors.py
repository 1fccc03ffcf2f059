"""Lights on vectors: what a token's output may depend on, what parameters and calls are like."""

from collections.abc import Iterator

import torch

from ...operations import DistanceBias, MatMul, MeanHeads, RotaryAngles
from ...rounding import largest, to_within
from ...trace import Step
from .again import START, TABLE, TOKENS, computed_again, is_table, of_tokens, ordinary
from .seen import (
    SAME,
    Measured,
    Seen,
    gap,
    minus,
    moved_by,
    others_moved,
    token_axis,
    with_other,
)

NOTHING_TO_CHANGE = "It has no embeddings to change."

POSITIONS = RotaryAngles | DistanceBias
"""What attention has inside itself so that order counts."""


def no_leak(seen: Seen) -> Measured:
    if START not in seen.needed or not seen.attentions:
        return None, NOTHING_TO_CHANGE
    if seen.may_look.all():
        return None, "Every token may see every other one."
    out = seen.trace[seen.output]
    for place in reversed(seen.places):
        unseen = ~seen.may_look[:, place]
        unseen[place] = False
        rows = moved_by(seen, START, place, seen.output).movedim(token_axis(out), 0)[unseen]
        if rows.numel() and rows.max() > SAME * max(largest(out.value), 1e-9):
            said = f"Change token {place}, and the output of tokens that may not see it moves by up"
            return False, f"{said} to {rows.max():.4g}.", seen.output
    return True, "Change a token, and tokens that may not see it keep their output."


def tokens_apart(seen: Seen) -> Measured:
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
                said = f"Change token {place} of what goes in, and other tokens' rows move by up to"
                return False, f"{said} {far:.4g}.", step.name
    if not measured:
        return None, "Nothing is done to tokens outside attention."
    steps = "the one step" if measured == 1 else f"all {measured} steps"
    return True, f"True of {steps} outside attention."


def _far_from_own(step: Step, place: int) -> float:
    """How far rows of other tokens move when a token changes in all that a step is made from."""
    operands = (with_other(each, place) if of_tokens(each) else each.value for each in step.inputs)
    moved = gap(step.operation.value(*operands), step.value)
    return others_moved(moved, token_axis(step), place)


def order_free(seen: Seen) -> Measured:
    if START not in seen.needed or not seen.attentions:
        return None, "It has no embeddings to reorder."
    out = seen.trace[seen.output]
    n_tokens = out.value.shape[token_axis(out)]
    if n_tokens < 2:
        return None, "There is one token only."
    order = torch.arange(n_tokens).roll(1)
    vectors = seen.trace[START]
    replaced = {START: vectors.value.index_select(token_axis(vectors), order)}
    for step in seen.steps():  # whoever may see whom goes along
        if step.axes == TABLE and not step.value.is_floating_point() and not step.inputs:
            replaced[step.name] = step.value[order][:, order]
    along = "With the mask reordered too," if len(replaced) > 1 else "With the tokens reordered,"
    made = computed_again(seen.trace, replaced, seen.output)
    far = gap(made, out.value.index_select(token_axis(out), order)).max().item()
    if far > 1e-3 * max(largest(out.value), 1e-9):
        said = f"{along} other vectors come out, up to {far:.4g} away."
        if any(isinstance(step.operation, POSITIONS) for step in seen.steps()):
            meant = f"Not here, and that is meant: its positions tell places apart. {said}"
            return None, meant, seen.output
        return False, said, seen.output
    return True, f"{along} the same vectors come out, {to_within(far)}."


def any_length(seen: Seen) -> Measured:
    parameters = list(_parameters(seen)) if START in seen.needed else []
    if not parameters:
        return None, "It has no parameters."
    for step in parameters:
        if any(axis in TOKENS for axis in step.axes):
            said = f"A matrix is {step.shape}: a sentence of another length does not fit."
            return False, said, step.name
    count = sum(step.value.numel() for step in parameters)
    said = f"{count:,} parameters go into this output, whatever the length of the sentence."
    return True, said


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


def repeatable(seen: Seen) -> Measured:
    if seen.second is None:
        return None, "It was called once only."
    for step in seen.steps():
        other = seen.second.get(step.name)
        if other is None or other.value.shape != step.value.shape:
            return False, "A second call has other steps.", step.name
        far = (other.value.double() - step.value.double()).abs().nan_to_num(0.0)
        if far.numel() and far.max() > 0:
            said = f"A second call with the same input differs by up to {far.max():.4g}."
            return False, said, step.name
    return True, "A second call with the same input gives exactly the same."


def both_signs(seen: Seen) -> Measured:
    if START not in seen.needed:
        return None, NOTHING_TO_CHANGE
    drawn = ordinary(seen.trace[START].value)
    made = [computed_again(seen.trace, {START: each}, seen.output) for each in (drawn, -drawn)]
    lowest = min(each.min().item() for each in made)
    highest = max(each.max().item() for each in made)
    tried = "For drawn inputs, and for the same with signs turned, the output lies between"
    said = f"{tried} {minus(lowest)} and {minus(highest)}."
    if lowest >= 0 or highest <= 0:
        return False, said, seen.output
    return True, said


OF_VECTORS = (no_leak, tokens_apart, order_free, any_length, repeatable, both_signs)
