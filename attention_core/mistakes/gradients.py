"""Mistakes on the way back: where gradients are added up, and in that of a softmax, which the steps
around it tell.
"""

from .. import operations as ops
from ..symbols import GRADIENT
from ..trace import Step
from .base import wrong_lines


@wrong_lines.register
def _(_: ops.Total, *ways: str) -> str:
    lines = [
        f"{' + '.join(each for each in ways if each != left)}  # {left} is left out"
        for left in ways[:: len(ways) - 1]
    ]
    return f"""
    the number was used {len(ways)} times, and each use sends something back: add all of them.
        {ways[0]}  # one use alone
        {lines[0]}
        {lines[1]}
    add them, and do not average.
        ({" + ".join(ways)}) / {len(ways)}  # a mean in place of a sum"""


def of_softmax(step: Step) -> str:
    """What goes wrong where a gradient p (g − Σ p g) is worked out: in the product p g, in what is
    taken away from g, and in the end.
    """
    if type(step.operation) is ops.Multiply and not step.operation.by_row:
        return _with_weights(step)
    of_row = step.inputs[1].operation if type(step.operation) is ops.Subtract else None
    if not isinstance(of_row, ops.RowSum):
        return ""
    g = step.inputs[0].name
    return f"""
    the mean counts each gradient by its weight: take {step.inputs[1].name} away.
        {g} - {g}.mean(dim=-1, keepdim=True)  # the plain mean of the row
        {g} - {g}.sum(dim=-1, keepdim=True)  # the weights are left out of the sum"""


def _with_weights(step: Step) -> str:
    weights = next((each for each in step.inputs if isinstance(each.operation, ops.Softmax)), None)
    if weights is None or GRADIENT not in step.name:
        return ""
    (other,) = (each for each in step.inputs if each is not weights)
    p, found = weights.name, ""
    if isinstance(masked := weights.inputs[0].operation, ops.MaskedFill) and masked.fill < 0:
        scores = weights.inputs[0].inputs[0].name
        found = f"""
    the weights are those after the mask: take {p}.
        {scores}.softmax(dim=-1) * {other.name}  # softmax again, and the mask forgotten"""
    if not isinstance(other.operation, ops.Subtract):
        return found
    g = other.inputs[0].name
    return f"""{found}
    raising a score lowers the other weights of its row: first take the row's mean, Σ p g, away.
        {p} * (1 - {p}) * {g}  # each entry by itself, p (1 − p) g
        {p} * {g}  # Σ p g is not taken away
    the sum runs along the row: dim=-1.
        {p} * ({g} - ({p} * {g}).sum(dim=-2, keepdim=True))  # the mean of the column"""
