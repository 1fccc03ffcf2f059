"""The wrong lines that learners really write in a step, each with what to do about it.

They belong to operations: whatever trace has the operation, its exercise asks for its steps and can
name them. What any step may be instead (another tensor as it is, the result transposed, a multiple)
the checks see without a list.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .. import operations as ops
from ..symbols import GRADIENT
from ..trace import Step
from .base import is_mistake

MOST_ALIKE = 8
"""So many earlier tensors of the same shape are looked at, the nearest."""
LINES: dict[str, str] = {}
"""By the name of an operation that exercises ask for: `line  # name of the mistake`, most likely
first. What to do about them stands above the first that it is true of."""


class Mistake(NamedTuple):
    """A mistake of one step."""

    name: str
    words: str
    """What to do about it, in one sentence. Never holds a person's text."""
    line: str
    """The PyTorch expression that makes it, from the names of the operands."""


def asked(text: str) -> None:
    """Have exercises ask for the steps of operations: paragraphs, each the name of one, and below
    it the wrong lines. In one `{0}` is the first operand, `{self.width}` a setting, and `{code}`
    the line done right.
    """
    for paragraph in text.strip().split("\n\n"):
        name, _, lines = paragraph.partition("\n")
        LINES[name] = lines


def is_asked(operation: ops.Operation) -> bool:
    """Whether exercises ask for steps of this operation: not for one that only prepares something,
    and not for a mistake.
    """
    prepares = any(getattr(operation, name, False) for name in ("in_batch", "one", "rates"))
    is_known = any(name in LINES for name in _kinds(operation))
    return is_known and not prepares and not is_mistake(operation)


def _kinds(operation: ops.Operation) -> list[str]:
    names = [kind.__name__ for kind in type(operation).__mro__]
    turned = ["MatMul, transposed"] if getattr(operation, "transpose", False) else []
    return [] if "MaskGradient" in names else turned or names


def mistakes(operation: ops.Operation, *names: str) -> tuple[Mistake, ...]:
    """What may go wrong where this operation is applied to the tensors of these names; none for one
    that exercises do not ask for.
    """
    if not is_asked(operation):
        return ()
    fields = {"self": operation, "code": operation.code(*names), "plus": ""}
    fields["plus"] = "".join(f" + {each}" for each in names[2:])
    if isinstance(operation, ops.Softmax):
        fields["columns"], fields["heads"] = (type(operation)(d).code(*names) for d in (-2, -3))
    text = "\n".join(LINES.get(name, "") for name in _kinds(operation))
    return tuple(_read(text.format(*names, **fields)))


def _read(text: str) -> Iterator[Mistake]:
    words = ""
    for row in text.splitlines():
        line, _, name = (" ".join(part.split()) for part in row.partition("  # "))
        if name:
            yield Mistake(name, words, line)
        else:
            words = line or words


def around(step: Step, steps: Sequence[Step]) -> list[Mistake]:
    """All mistakes of a step among the steps of its exercise, most likely first."""
    names = [each.name for each in step.inputs]
    earlier = steps[: steps.index(step)]
    relations = (_before_softmax, _of_product, _at_once, _of_softmax_back)
    found = [each for made in relations for each in _read(made(step))]
    return [*found, *mistakes(step.operation, *names), *_mixed_up(step, earlier)]


def _mixed_up(step: Step, earlier: Sequence[Step]) -> list[Mistake]:
    """One operand taken for another of its shape."""
    found = []
    for at, operand in enumerate(step.inputs):
        for other in earlier:
            if other is not operand and other.value.shape == operand.value.shape:
                names = [each.name for each in step.inputs]
                names[at] = other.name
                words = f"this is what {other.name} gives; {operand.name} belongs there."
                found.append(Mistake("the wrong tensor", words, step.operation.code(*names)))
    return found[-MOST_ALIKE:]


def _before_softmax(step: Step) -> str:
    """A mask after softmax that nothing makes up for."""
    if not isinstance(step.operation, ops.Softmax) or is_mistake(step.operation):
        return ""
    masked = step.inputs[0]
    if not isinstance(masked.operation, ops.MaskedFill):
        return ""
    scores, mask = masked.inputs
    return f"""
    what is left of a row no longer sums to 1: put −∞ in place of the hidden scores first, then \
    take softmax.
        {scores.name}.softmax(dim=-1) * {mask.name}  # hidden after softmax, and not renormalised"""


def _of_product(step: Step) -> str:
    """`.T` in place of `.mT`, where heads stand in front; the rectifier after the second linear
    layer, in place of before it.
    """
    operation = step.operation
    if type(operation) is not ops.MatMul:
        return ""
    left, right, *others = step.inputs
    if operation.transpose and right.value.ndim == 3:
        alike = right.value.shape[0] == right.value.shape[2]  # both stop with the same error
        return f"""
    rows meet rows here, so write {right.name}.mT: .T turns all axes round, .mT only the last two.
        {left.name} @ {right.name}.permute(2, 1, 0) \
            # .T in place of .mT{", or no transpose" if alike else ""}"""
    if isinstance(left.operation, ops.ReLU):
        inner = operation.code(left.inputs[0].name, right.name, *(each.name for each in others))
        return f"""
    it belongs between the two linear layers: take {left.name} as it is.
        torch.relu({inner})  # ReLU after the product"""
    return ""


def _at_once(step: Step) -> str:
    """`scaled_dot_product_attention` without the scale or the mask of the lesson, or with the mask
    upside down.
    """
    weights, *values = step.inputs or (step,)
    if type(step.operation) is not ops.MatMul or not isinstance(weights.operation, ops.Softmax):
        return ""
    made, mask, is_scaled = weights.inputs[0], "", False
    while isinstance(made.operation, ops.MaskedFill | ops.Scale):
        mask = made.inputs[1].name if isinstance(made.operation, ops.MaskedFill) else mask
        is_scaled = is_scaled or isinstance(made.operation, ops.Scale)
        made = made.inputs[0]
    if not getattr(made.operation, "transpose", False):
        return ""
    at_once = "scaled_dot_product_attention"
    operands = ", ".join(each.name for each in (*made.inputs[:2], values[0]))
    call = f"torch.nn.functional.{at_once}({operands}"
    if not mask:
        words = "left alone it divides by √d: here it needs scale=1."
        return "" if is_scaled else f"{words}\n{call})  # {at_once} without scale"
    return f"""
    True means that a query may look: give attn_mask={mask}.
        {call}, attn_mask=~{mask})  # {at_once} with the mask upside down
        {call})  # {at_once} without the mask"""


def _of_softmax_back(step: Step) -> str:
    """What goes wrong where a gradient p (g − Σ p g) is worked out."""
    of = [each.operation for each in step.inputs]
    if type(step.operation) is ops.Subtract and isinstance(of[1], ops.RowSum):
        g = step.inputs[0].name
        return f"""
    the mean counts each gradient by its weight: take {step.inputs[1].name} away.
        {g} - {g}.mean(dim=-1, keepdim=True)  # the plain mean of the row"""
    is_product = type(step.operation) is ops.Multiply and GRADIENT in step.name
    at = [isinstance(each, ops.Softmax) for each in of]
    if not (is_product and any(at)):
        return ""
    weights, other = step.inputs[at.index(True)], step.inputs[at.index(False)]
    p, masked = weights.name, weights.inputs[0]
    if isinstance(other.operation, ops.Subtract):
        g = other.inputs[0].name
        return f"""
    raising a score lowers the other weights of its row: first take the row's mean, Σ p g, away.
        {p} * (1 - {p}) * {g}  # each entry by itself, p (1 − p) g
        {p} * {g}  # Σ p g is not taken away"""
    if not isinstance(masked.operation, ops.MaskedFill):
        return ""
    return f"""
    the weights are those after the mask: take {p}.
        {masked.inputs[0].name}.softmax(dim=-1) * {other.name} \
            # softmax again, and the mask forgotten"""


for _name in (
    *("DistanceBias", "Divide", "Exp", "ExpDifference", "GELU", "L2Normalize", "MatVec"),
    *("Mean", "MeanHeads", "Multiply", "ReLU", "RotaryAngles", "RowLargest", "RowMean"),
    *("RowsOfHeads", "RunningMaximum", "ScaleShift", "Sinusoid", "SoftCap", "Square"),
    *("Subtract", "SumFirst", "SumHeads", "Total"),
):
    LINES[_name] = ""  # asked for, and nothing is to be said beside the evidence
asked(
    """
MatMul
    take {1} as it is.
        {0} @ {1}.mT{plus}  # one transpose too many
    the rows of the result are those of {0}, so {0} stands first.
        {1} @ {0}{plus}  # the wrong order
        {0}.mT @ {1}{plus}  # one transpose too many, on {0}
    add what else is added to every row.
        {0} @ {1}  # the bias is missing

MatMul, transposed
    rows meet rows here, so write {1}.mT.
        {0} @ {1}{plus}  # the transpose is missing
    the rows of the result are those of {0}, so {0} stands first.
        {1} @ {0}.mT{plus}  # the wrong order
        {0}.mT @ {1}{plus}  # the transpose is on the wrong side

TransposedMatMul
    each row of {0} meets the same row of {1}: write {0}.mT @ {1}.
        {0} @ {1}  # the transpose is missing
    the gradients of all rows are added, and not averaged.
        {0}.mT @ {1} / {0}.shape[-2]  # a mean over the rows in place of a sum

Lookup
    row i is the row of the table that {1}[i] points at.
        {0}[:len({1})]  # the first rows of the table
    row 0 is the first: take {1} as they are.
        {0}[{1} - 1]  # the ids are counted from 1

Add
    add both: a part adds to the stream, and does not replace it.
        {1}  # {0} is missing
        {0}  # {1} is missing

Scale
    divide by the square root of the width, {self.width} ** 0.5.
        {0}  # √d is missing
        {0} / {self.width}  # d in place of √d, or divided by √d twice
        {0} * {self.width} ** 0.5  # multiplied by √d

AttentionMask
    queries are rows and keys are columns, so the future lies right of the diagonal.
        ({code}).mT  # the mask is on the wrong side
    True means that the query may look, as in scaled_dot_product_attention.
        ~({code})  # the opposite convention
    keep the diagonal.
        torch.ones({self.n_queries}, {self.n_keys}).bool().tril(-1)  # a token cannot see itself
    tril() keeps the diagonal and what lies left of it, tril(1) one key more.
        torch.ones({self.n_queries}, {self.n_keys}).bool().tril(1)  # one key of the future is seen
    hide what the rule hides.
        torch.ones({self.n_queries}, {self.n_keys}).bool()  # nothing is hidden

WindowMask
    True means that the query may look, as in scaled_dot_product_attention.
        ~({code})  # the opposite convention
    a query sees its own key and those before it, and none of the future.
        ({code}).mT  # the mask is on the wrong side
    hide what the rule hides.
        torch.ones({self.n_queries}, {self.n_keys}).bool()  # nothing is hidden

MaskedFill
    softmax gives a score of 0 some weight, and only float("-inf") none.
        {0}.masked_fill(~{1}, 0.0)  # 0 in place of −∞
    {1} is True where a query may look, so hide where it is not: ~{1}.
        {0}.masked_fill({1}, float("-inf"))  # the opposite convention
        {0}.masked_fill(~{1}.mT, float("-inf"))  # the mask is on the wrong side
        {0}  # nothing is hidden
    a token may see itself: triu(1) begins right of the diagonal, triu() on it.
        {0}.masked_fill(~{1} | torch.eye(len({1})).bool(), float("-inf")) \
            # the diagonal is hidden too
    softmax turns plus infinity into nan: write float("-inf"), with a minus.
        {0}.masked_fill(~{1}, float("inf"))  # +∞ in place of −∞
    that moves a score by 1 and hides nothing: hide where {1} is False.
        {0} + {1}.float()  # the mask is added as 1 and 0
    where {1} is True this multiplies 0 by ∞: choose with masked_fill or torch.where.
        {0} - float("inf") * ~{1}  # 0 · ∞ is nan
    it leaves no weight only while the scores are small: write float("-inf").
        {0}.masked_fill(~{1}, -1e9)  # a finite number, -1e9, in place of −∞

Softmax
    the weights of a row sum to 1: write dim=-1.
        {columns}  # softmax over the wrong axis
        {heads}  # softmax over the wrong axis, the heads
        {0}.flatten().softmax(dim=0).view_as({0})  # softmax over all entries
        {0}.flatten(-2).softmax(dim=-1).view_as({0})  # softmax over all entries of a head
    a softmax takes e to each score first.
        {0} / {0}.sum(dim=-1, keepdim=True)  # divided by the sum, without exponentials
    divide each by the sum of its row, or write softmax.
        {0}.exp()  # the exponentials are not divided by their sum
    each row has a sum of its own: write sum(dim=-1, keepdim=True).
        {0}.exp() / {0}.exp().sum(dim=-1)  # the sum has lost its axis
    the largest score gets the largest weight: take {0} as they are.
        (-{0}).softmax(dim=-1)  # one minus sign too many
    take the row's largest score away from each first, or write softmax.
        {0}.exp() / {0}.exp().sum(dim=-1, keepdim=True)  # e to large scores overflows

MaskedSoftmax
    the weights of a row sum to 1: write dim=-1.
        {0}.softmax(dim=-2)  # softmax over the wrong axis
    where every key is hidden, softmax gives nan; the lesson has 0 there.
        {0}.softmax(dim=-1)  # 0/0 in a row that sees nothing

SumNormalise
    each row has a sum of its own: write sum(dim=-1, keepdim=True).
        {0} / {0}.sum(dim=-2, keepdim=True)  # divided by the sum over the wrong axis
        {0} / {0}.sum(dim=-1)  # divided by the sum over the wrong axis
    no exponentials here.
        {0}.softmax(dim=-1)  # a softmax

SplitHeads
    unflatten the columns first, then bring the heads to the front with transpose(0, 1).
        {0}.reshape({self.n_heads}, {0}.shape[0], -1) \
            # a reshape without a transpose mixes the rows
        {0}.unflatten(-1, ({self.n_heads}, -1))  # the heads are not in front
    head 0 takes the first columns, side by side.
        {0}.unflatten(-1, (-1, {self.n_heads})).permute(2, 0, 1) \
            # the columns are dealt out in turn
    each head takes the columns after those of the one before.
        {code}[:1].repeat({self.n_heads}, 1, 1)  # head 0 stands in the place of every head

JoinHeads
    bring the tokens to the front with transpose(0, 1), then flatten the rest.
        {0}.reshape({0}.shape[1], -1)  # a reshape without a transpose mixes the rows
        {0}.flatten(1)  # the tokens are not in front

RepeatHeads
    query heads that follow each other share one: repeat_interleave({self.times}, dim=-3).
        torch.cat([{0}] * {self.times}, dim=-3)  # repeat in place of repeat_interleave

Rotate
    pair k is columns k and k + d/2 here, as the Llama models have it. The paper has neighbours: \
    both are right, but not together.
        torch.stack(({0}[..., ::2] * {1}.cos() - {0}[..., 1::2] * {1}.sin(), {0}[..., 1::2] * \
        {1}.cos() + {0}[..., ::2] * {1}.sin()), dim=-1).flatten(-2) \
            # neighbours are pairs, in place of halves

SumLast
    add the entries of each row: sum(dim=-1).
        {0}.sum(dim=0)  # added over the wrong axis

RowSum
    add.
        {0}.mean(dim=-1, keepdim=True)  # a mean in place of a sum

CrossEntropy
    take the logarithm of the probability of the target, with a minus.
        {0}.softmax(dim=-1)[torch.arange(len({1})), {1}]  # the probability itself
        {0}.softmax(dim=-1).log()[torch.arange(len({1})), {1}]  # the minus is missing

RowVariance
    layer norm divides by d, all entries: correction=0.
        {0}.var(dim=-1, keepdim=True)  # divided by d − 1
    each row by itself: dim=-1, keepdim=True.
        {0}.var(correction=0)  # one variance of the whole matrix

Standardise
    divide by its root.
        ({0} - {1}) / {2}  # divided by the variance
    each row is normalised alone. layer_norm takes the lengths of the last axes: {0}.shape[-1:].
        torch.nn.functional.layer_norm({0}, {0}.shape, eps={self.epsilon}) \
            # the whole matrix at once
    add ε to {2}, so that equal numbers do not divide by 0.
        ({0} - {1}) / {2}.sqrt()  # ε is forgotten

LayerNorm
    each row is normalised alone.
        torch.nn.functional.layer_norm({0}, {0}.shape)  # the whole matrix at once

Rescale
    it is e to the old maximum, {0}, less the new one, {1}: at most 1.
        ({1} - {0}).exp()  # the shrink factor is upside down

RescaleAndAdd
    {0} was measured from the old maximum: multiply it by {1} first.
        {0} + {2}  # {0} is not shrunk"""
)
