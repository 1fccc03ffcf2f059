"""Mistakes on the way back: in the operations that only a backward pass has, and in that of a
softmax, which the steps around it tell.
"""

from collections.abc import Iterator

from .. import operations as ops
from ..symbols import GRADIENT
from ..trace import Step
from .base import wrong_lines


@wrong_lines.register
def _(_: ops.MaskGradient, gradient: str, mask: str) -> str:  # noqa: ARG001
    """Not asked for: a weight of 0 has let nothing through already."""
    return ""


@wrong_lines.register
def _(_: ops.TransposedMatMul, left: str, right: str) -> str:
    return f"""
    each row of {left} meets the same row of {right}: write {left}.mT @ {right}.
        ({left}.mT @ {right}).mT  # the result is transposed
        {left} @ {right}  # the transpose is missing
    the gradients of all rows are added, and not averaged.
        {left}.mT @ {right} / {left}.shape[-2]  # a mean over the rows in place of a sum"""


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


@wrong_lines.register
def _(_: ops.SumFirst, rows: str) -> str:
    return f"""
    add, and do not average.
        {rows}.mean(dim=0)  # a mean in place of a sum
    add over the first axis: dim=0.
        {rows}.sum(dim=-1)  # added over the wrong axis"""


@wrong_lines.register
def _(_: ops.CrossEntropy, logits: str, targets: str) -> str:
    shares = f"{logits}.softmax(dim=-1)"
    rows = f"torch.arange(len({targets}))"
    return f"""
    take the logarithm of the probability of the target, with a minus.
        {shares}[{rows}, {targets}]  # the probability itself
        {shares}.log()[{rows}, {targets}]  # the minus is missing
        -{logits}[{rows}, {targets}]  # the logit in place of the logarithm of its share"""


@wrong_lines.register
def _(_: ops.Mean, losses: str) -> str:
    return f"""
    divide by how many there are.
        {losses}.sum()  # a sum in place of a mean"""


def of_softmax(step: Step) -> Iterator[str]:
    """What goes wrong where a gradient p (g − Σ p g) is worked out: in the product p g, in what is
    taken away from g, and in the end.
    """
    if type(step.operation) is ops.Multiply and not step.operation.by_row:
        yield from _with_weights(step)
    if type(step.operation) is ops.Subtract and isinstance(step.inputs[1].operation, ops.RowSum):
        g = step.inputs[0].name
        yield f"""
    the mean counts each gradient by its weight: take {step.inputs[1].name} away.
        {g} - {g}.mean(dim=-1, keepdim=True)  # the plain mean of the row
        {g} - {g}.sum(dim=-1, keepdim=True)  # the weights are left out of the sum"""


def _with_weights(step: Step) -> Iterator[str]:
    weights = next((each for each in step.inputs if isinstance(each.operation, ops.Softmax)), None)
    if weights is None or GRADIENT not in step.name:
        return
    (other,) = (each for each in step.inputs if each is not weights)
    p = weights.name
    if isinstance(masked := weights.inputs[0].operation, ops.MaskedFill) and masked.fill < 0:
        scores = weights.inputs[0].inputs[0].name
        yield f"""
    the weights are those after the mask: take {p}.
        {scores}.softmax(dim=-1) * {other.name}  # softmax again, and the mask forgotten"""
    if isinstance(other.operation, ops.Subtract):
        g = other.inputs[0].name
        yield f"""
    raising a score lowers the other weights of its row: first take the row's mean, Σ p g, away.
        {p} * (1 - {p}) * {g}  # each entry by itself, p (1 − p) g
        {p} * {g}  # Σ p g is not taken away
    the sum runs along the row: dim=-1.
        {p} * ({g} - ({p} * {g}).sum(dim=-2, keepdim=True))  # the mean of the column"""
