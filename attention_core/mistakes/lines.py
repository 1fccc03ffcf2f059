"""The wrong lines that learners really write in a step, each with what to do about it. They belong
to operations, whatever the trace; what any step may be instead (another tensor, the result
transposed, a multiple) the checks see without a list.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .. import operations as ops
from ..operations.base import Meaning
from ..trace import Step
from ..utils.toml_file import read_toml
from .base import is_mistake

MOST_ALIKE = 8
"""So many earlier tensors of the same shape are looked at, the nearest."""
LINES = read_toml(__package__, "lines.toml")
"""By an operation's name: what to do, and true lines by the names of mistakes, likeliest first."""
LINES |= dict.fromkeys(LINES.pop("without_words").split(), ())


class Mistake(NamedTuple):
    """A mistake of one step."""

    name: str
    words: str
    """What to do about it, in one sentence. Never holds a person's text."""
    line: str
    """The PyTorch expression that makes it, from the names of the operands."""


def is_asked(operation: ops.Operation) -> bool:
    """Whether exercises ask for it: not for what only prepares something, nor for a mistake."""
    prepares = any(getattr(operation, name, False) for name in ("in_batch", "one", "rates"))
    is_known = any(name in LINES for name in _kinds(operation))
    return is_known and not prepares and not is_mistake(operation)


def _kinds(operation: ops.Operation) -> list[str]:
    names = [kind.__name__ for kind in type(operation).__mro__]
    turned = ["MatMul, transposed"] if getattr(operation, "transpose", False) else []
    return [] if "MaskGradient" in names else turned or names


def mistakes(operation: ops.Operation, *names: str) -> tuple[Mistake, ...]:
    """What may go wrong where an operation takes these tensors; none for one not asked for."""
    if not is_asked(operation):
        return ()
    fields = {"self": operation, "code": operation.code(*names), "plus": ""}
    fields["plus"] = "".join(f" + {each}" for each in names[2:])
    if isinstance(operation, ops.Softmax):
        fields["columns"], fields["heads"] = (type(operation)(d).code(*names) for d in (-2, -3))
    return tuple(
        Mistake(*(text.format(*names, **fields) for text in (name, group["do"], line)))
        for kind in _kinds(operation)
        for group in LINES.get(kind, ())
        for name, line in group.items()
        if name != "do"
    )


def around(step: Step, steps: Sequence[Step]) -> list[Mistake]:
    """All mistakes of a step among the steps of its exercise, most likely first."""
    names = [each.name for each in step.inputs]
    earlier = steps[: steps.index(step)]
    relations = (_before_softmax, _of_product, _at_once, _of_softmax_back)
    found = [each for made in relations for each in made(step)]
    return [*found, *mistakes(step.operation, *names), *_mixed_up(step, earlier)]


def _mixed_up(step: Step, earlier: Sequence[Step]) -> list[Mistake]:
    found = []
    for at, operand in enumerate(step.inputs):
        for other in earlier:
            if other is not operand and other.value.shape == operand.value.shape:
                names = [each.name for each in step.inputs]
                names[at] = other.name
                words = f"this is what {other.name} gives; {operand.name} belongs there."
                found.append(Mistake("the wrong tensor", words, step.operation.code(*names)))
    return found[-MOST_ALIKE:]


def _before_softmax(step: Step) -> Iterator[Mistake]:
    """A mask after softmax that nothing makes up for."""
    if not isinstance(step.operation, ops.Softmax):
        return
    masked = step.inputs[0]
    if isinstance(masked.operation, ops.MaskedFill):
        scores, mask = masked.inputs
        yield Mistake(
            "hidden after softmax, and not renormalised",
            "what is left of a row no longer sums to 1: put −∞ in place of the hidden scores "
            "first, then take softmax.",
            f"{scores.name}.softmax(dim=-1) * {mask.name}",
        )


def _of_product(step: Step) -> Iterator[Mistake]:
    """`.T` in place of `.mT` where heads stand in front; the rectifier after the second layer."""
    operation = step.operation
    if type(operation) is not ops.MatMul:
        return
    left, right, *others = step.inputs
    if operation.transpose and right.value.ndim == 3:
        alike = right.value.shape[0] == right.value.shape[2]  # both stop with the same error
        yield Mistake(
            f".T in place of .mT{', or no transpose' if alike else ''}",
            f"rows meet rows here, so write {right.name}.mT: .T turns all axes round, .mT only the "
            "last two.",
            f"{left.name} @ {right.name}.permute(2, 1, 0)",
        )
    elif isinstance(left.operation, ops.ReLU):
        inner = operation.code(left.inputs[0].name, right.name, *(each.name for each in others))
        words = f"it belongs between the two linear layers: take {left.name} as it is."
        yield Mistake("ReLU after the product", words, f"torch.relu({inner})")


def _at_once(step: Step) -> Iterator[Mistake]:
    """`scaled_dot_product_attention` without scale or mask, or with the mask upside down."""
    weights, *values = step.inputs or (step,)
    if type(step.operation) is not ops.MatMul or not isinstance(weights.operation, ops.Softmax):
        return
    made, mask, is_scaled = weights.inputs[0], "", False
    while isinstance(made.operation, ops.MaskedFill | ops.Scale):
        mask = made.inputs[1].name if isinstance(made.operation, ops.MaskedFill) else mask
        is_scaled = is_scaled or isinstance(made.operation, ops.Scale)
        made = made.inputs[0]
    if not getattr(made.operation, "transpose", False):
        return
    at_once = "scaled_dot_product_attention"
    operands = ", ".join(each.name for each in (*made.inputs[:2], values[0]))
    call = f"torch.nn.functional.{at_once}({operands}"
    words = f"True means that a query may look: give attn_mask={mask}."
    if mask:
        yield Mistake(f"{at_once} with the mask upside down", words, f"{call}, attn_mask=~{mask})")
        yield Mistake(f"{at_once} without the mask", words, f"{call})")
    elif not is_scaled:
        words = "left alone it divides by √d: here it needs scale=1."
        yield Mistake(f"{at_once} without scale", words, f"{call})")


def _of_softmax_back(step: Step) -> Iterator[Mistake]:
    """What goes wrong where a gradient p (g − Σ p g) is worked out."""
    of = [each.operation for each in step.inputs]
    if type(step.operation) is ops.Subtract and isinstance(of[1], ops.RowSum):
        g = step.inputs[0].name
        words = f"the mean counts each gradient by its weight: take {step.inputs[1].name} away."
        yield Mistake("the plain mean of the row", words, f"{g} - {g}.mean(dim=-1, keepdim=True)")
    is_back = type(step.operation) is ops.Multiply and step.meaning is Meaning.GRADIENT
    if is_back and isinstance(of[0], ops.Softmax) and isinstance(of[1], ops.Subtract):
        p, g = step.inputs[0].name, step.inputs[1].inputs[0].name
        words = "raising a score lowers the other weights of its row: first take the row's mean, "
        words += "Σ p g, away."
        yield Mistake("each entry by itself, p (1 − p) g", words, f"{p} * (1 - {p}) * {g}")
