"""Lights on a backward pass: gradients that are what they say, and what they add up to."""

import torch
from torch import Tensor

from ...operations import MaskedFill, MaskGradient, Softmax
from ...rounding import to_within
from ...trace import Step, Trace
from ..measures import Measured, minus
from .again import computed_again
from .seen import Seen

NONE = "Nothing was sent back through it."
N_TRIED = 3
"""Entries of each matrix that are moved: those with the largest gradients."""
STEP = 1e-4
OFF = 1e-2
"""A gradient off by this share of the largest is wrong: float32 is a thousand times as exact."""


def slopes(seen: Seen) -> Measured:
    trace, loss = seen.trace, _loss(seen.trace)
    doubled = {
        name: step.value.double()
        for name, step in trace.items()
        if not step.inputs and step.value.is_floating_point()
    }
    right, wrong = [], []
    for name in _moved(trace):
        made = _measured(trace, loss, name, doubled)
        found = _gradient(trace, name).value
        at, slope, gap = max(made, key=lambda each: each[2])
        if gap <= OFF * max(1e-6, *(abs(each) for _, each, _ in made)):
            right.append(name)
        else:
            wrong.append(name)
            place = ", ".join(map(str, at))
            said = (
                f"Move {name}[{place}] a little: the loss moves {minus(slope)} times as far, and "
                f"its gradient says {minus(found[at].item())}."
            )
    if not wrong:
        return True, f"Moved a little, the loss moves as the gradient says: {', '.join(right)}."
    told = f" Right: {', '.join(right)}." if right else ""
    return False, f"{said} Wrong: {', '.join(wrong)}.{told}", trace.gradients[wrong[-1]]


def gradient_rows(seen: Seen) -> Measured:
    for step in seen.trace.values():
        if isinstance(step.operation, Softmax) and step.operation.dim == -1:
            gradient = _gradient(seen.trace, step.inputs[0].name)
            if gradient is None:
                continue
            sums = gradient.value.double().sum(dim=-1).flatten()
            far = sums.abs().max().item()
            largest = gradient.value.abs().max().item()
            if far > 1e-4 * max(largest, 1e-9):
                worst = sums[sums.abs().argmax()].item()
                return False, f"A row sums to {minus(worst)}.", gradient.name
            return True, f"Every row sums to 0, {to_within(far)}."
    return None, NONE


def hidden_learn_nothing(seen: Seen) -> Measured:
    for step in seen.trace.values():
        if not isinstance(step.operation, MaskedFill) or isinstance(step.operation, MaskGradient):
            continue
        scores, mask = step.inputs
        found = (_gradient(seen.trace, name) for name in (scores.name, *scores.earlier()))
        fit = [e for e in found if e is not None and e.axes[-2:] == mask.axes[-2:]]
        for gradient in fit:
            hidden = gradient.value.masked_select(~mask.value)
            if hidden.numel() and (most := hidden.abs().max().item()) > 0:
                return False, f"A hidden score gets a gradient of {minus(most)}.", gradient.name
        if fit:
            return True, f"All {int((~mask.value).sum())} hidden scores of a head get exactly 0."
    return None, NONE


def _gradient(trace: Trace, name: str) -> Step | None:
    return trace.get(trace.gradients.get(name, ""))


def _loss(trace: Trace) -> str:
    return next(iter(trace.gradients))


def _moved(trace: Trace) -> list[str]:
    """What learns: matrices and vectors that have a gradient, and nothing before them has one."""
    moved, loss = trace.gradients.keys(), _loss(trace)
    behind = [name for name in trace if name in moved and name != loss]
    return [name for name in behind if not moved & trace[name].earlier()]


def _measured(
    trace: Trace, loss: str, name: str, doubled: dict[str, Tensor]
) -> list[tuple[tuple[int, ...], float, float]]:
    """Some entries of a step: how the loss moves in float64, how far the gradient is off."""
    gradient = _gradient(trace, name).value
    before = computed_again(trace, doubled, name).double()
    found = []
    largest = gradient.abs().flatten().argsort(descending=True)[:N_TRIED]
    for place in map(tuple, torch.ones_like(gradient).nonzero()[largest].tolist()):
        ends = []
        for side in (STEP, -STEP):
            changed = before.clone()
            changed[place] += side
            ends.append(computed_again(trace, doubled | {name: changed}, loss).item())
        slope = (ends[0] - ends[1]) / (2 * STEP)
        found.append((place, slope, abs(slope - gradient[place].item())))
    return found
