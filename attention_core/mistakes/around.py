"""Mistakes that only the steps around a step can tell: another tensor, another axis's size."""

import math
from collections.abc import Iterator, Sequence

from .. import operations as ops
from ..trace import Step
from .base import read
from .gradients import of_softmax
from .known import Mistake, is_mistake, mistakes

MOST_ALIKE = 8
"""So many earlier tensors of the same shape are looked at, the nearest."""


def known(step: Step) -> tuple[Mistake, ...]:
    """The mistakes of a step's own operation; none for one that is a mistake."""
    names = (operand.name for operand in step.inputs)
    return () if is_mistake(step.operation) else mistakes(step.operation, *names)


def around(step: Step, steps: Sequence[Step]) -> list[Mistake]:
    """All mistakes of a step among the steps of its exercise, most likely first."""
    earlier = steps[: steps.index(step)]
    first = (_of_product, _at_once, _before_softmax, _no_residual, _values_turned, of_softmax)
    return [
        *_other_sizes(step, steps),
        *read("\n".join(made(step) for made in first)),
        *known(step),
        *_other_sentence(step, earlier),
        *_unchanged(step, step.inputs),
        *_mixed_up(step, earlier),
        *_unchanged(step, earlier),
        *read(_transposed(step)),
    ]


def _names(step: Step) -> list[str]:
    return [each.name for each in step.inputs]


def _mixed_up(step: Step, earlier: Sequence[Step]) -> list[Mistake]:
    """One operand taken for another of its shape."""
    words = "this is what {other} gives; {operand} belongs there."
    found = _replaced(step, earlier, "the wrong tensor", words)
    alike = [each for here, there, each in found if here.value.shape == there.value.shape]
    return alike[-MOST_ALIKE:]


def _other_sentence(step: Step, earlier: Sequence[Step]) -> list[Mistake]:
    """Vectors of one sentence where those of the other belong: the numbers of tokens may differ."""
    words = "{step} are made from {operand}, not from {other}."
    both = {"embeddings", "other_embeddings"}
    found = _replaced(step, earlier, "the wrong sentence", words)
    return [each for here, there, each in found if {here.name, there.name} == both]


def _replaced(
    step: Step, earlier: Sequence[Step], name: str, words: str
) -> Iterator[tuple[Step, Step, Mistake]]:
    """Each operand, each earlier step, and the mistake of having that in the operand's place."""
    for at, operand in enumerate(step.inputs):
        for other in earlier:
            if other is not operand:
                names = _names(step)
                names[at] = other.name
                said = words.format(step=step.name, operand=operand.name, other=other.name)
                yield operand, other, Mistake(name, said, step.operation.code(*names))


def _unchanged(step: Step, earlier: Sequence[Step]) -> list[Mistake]:
    """An earlier tensor as it is."""
    same = (other.name for other in earlier if other.value.shape == step.value.shape)
    words = "these are the numbers of {}, unchanged."
    return [Mistake("an earlier step", words.format(name), name) for name in same][-MOST_ALIKE:]


def _transposed(step: Step) -> str:
    """The right numbers, with rows and columns swapped."""
    if step.value.ndim < 2:
        return ""
    rows, columns = step.axes[-2:]
    return f"""
    {rows} is the row here, and {columns} the column: leave out the last transpose.
        ({step.operation.code(*_names(step))}).mT  # the result is transposed"""


def _before_softmax(step: Step) -> str:
    """A mask after softmax that nothing makes up for, and √d twice."""
    if not isinstance(step.operation, ops.Softmax) or is_mistake(step.operation):
        return ""
    (scores,), found = step.inputs, ""
    made = scores
    if isinstance(made.operation, ops.MaskedFill):
        made, mask = made.inputs
        found = f"""
    what is left of a row no longer sums to 1: put −∞ in place of the hidden scores first, then \
    take softmax.
        {made.name}.softmax(dim=-1) * {mask.name}  # hidden after softmax, and not renormalised"""
    if not isinstance(made.operation, ops.Scale):
        return found
    return f"""{found}
    {made.name} are divided already: take softmax of {scores.name} as they are.
        ({scores.name} / {made.operation.width} ** 0.5).softmax(dim=-1)  # divided by √d twice"""


def _of_product(step: Step) -> str:
    """`.T` in place of `.mT`, where heads stand in front; the rectifier after the second linear
    layer, in place of before it; a tile's exponentials shared out among the keys of the tile alone.
    """
    operation = step.operation
    if type(operation) is not ops.MatMul:
        return ""
    (left, right), others, found = step.inputs[:2], _names(step)[1:], ""
    if operation.transpose and right.value.ndim == 3:
        alike = right.value.shape[0] == right.value.shape[2]  # both stop with the same error
        found = f"""
    rows meet rows here, so write {right.name}.mT: .T turns all axes round, .mT only the last two.
        {left.name} @ {right.name}.permute(2, 1, 0) \
            # .T in place of .mT{", or no transpose" if alike else ""}"""
    if isinstance(left.operation, ops.ReLU):
        found += f"""
    it belongs between the two linear layers: take {left.name} as it is.
        torch.relu({operation.code(left.inputs[0].name, *others)})  # ReLU after the product"""
    if type(left.operation) is ops.ExpDifference:
        shares = f"({left.name} / {left.name}.sum(dim=-1, keepdim=True))"
        found += f"""
    a tile does not know the sum of the whole row yet: add up first, and divide once, at the end.
        {operation.code(shares, *others)}  # the tile is divided by its own sum"""
    return found


def _no_residual(step: Step) -> str:
    """What a part has made of a stream, without the stream itself."""
    if not isinstance(step.operation, ops.Add):
        return ""
    stream, added = _names(step)
    if stream not in step.inputs[1].earlier():
        return ""
    return f"""
    add {stream} to it: a part adds to the stream, and does not replace it.
        {added}  # the residual is forgotten"""


def _averages(step: Step) -> bool:
    """Whether it takes the average of values by weights that softmax made."""
    is_product = type(step.operation) is ops.MatMul and len(step.inputs) == 2
    return is_product and isinstance(step.inputs[0].operation, ops.Softmax)


def _values_turned(step: Step) -> str:
    """Rotary positions for the values too, where queries and keys are turned."""
    if not _averages(step):
        return ""
    weights, values = step.inputs
    waiting = [weights]
    while waiting:
        each = waiting.pop()
        if isinstance(each.operation, ops.Rotate) and "key" in each.axes:
            break
        waiting += each.inputs
    else:
        return ""
    angles = each.inputs[1]
    if values.value.shape[-1] != 2 * angles.value.shape[-1]:
        return ""
    turned = each.operation.code(values.name, angles.name)
    return f"""
    only queries and keys are turned: take {values.name} as they are.
        {step.operation.code(weights.name, turned)}  # the values are turned too"""


def _other_sizes(step: Step, steps: Sequence[Step]) -> Iterator[Mistake]:
    """Divided by the root of another axis's length. A root may happen to be the width itself."""
    if not isinstance(step.operation, ops.Scale) or is_mistake(step.operation):
        return
    (scores,), width = step.inputs, step.operation.width
    axes: dict[int, dict[str, None]] = {}
    for each in steps:
        for axis, size in zip(each.axes, each.value.shape, strict=True):
            axes.setdefault(size, {})[axis] = None
    words = f"divide by the square root of the width of a vector, {width} ** 0.5."
    for size, names in axes.items():
        name = f"the root of {size}, the length of {', '.join(names)}"
        if size == width**2:
            name = f"d in place of √d, or {name}, or divided by √d twice"
        if size not in (1, width):
            yield Mistake(name, words, f"{scores.name} / {size} ** 0.5")


def _at_once(step: Step) -> str:
    """`scaled_dot_product_attention` without the scale, or without the mask, of the lesson."""
    if not _averages(step) or step.operation.transpose or is_mistake(step.inputs[0].operation):
        return ""
    weights, values = step.inputs
    (made,), mask, divisor = weights.inputs, None, 1.0
    while isinstance(made.operation, ops.MaskedFill | ops.Scale):
        if isinstance(made.operation, ops.Scale):
            width, root = made.operation.width, made.operation.root
            divisor *= math.sqrt(width) if root else width
        elif is_mistake(made.operation):
            return ""
        else:
            mask = made.inputs[1].name
        made = made.inputs[0]
    if not (isinstance(made.operation, ops.MatMul) and made.operation.transpose):
        return ""
    queries, keys = made.inputs[:2]
    at_once = "scaled_dot_product_attention"
    call = f"torch.nn.functional.{at_once}({queries.name}, {keys.name}, {values.name}"
    scale, about = f", scale={1 / divisor!r}", f"scale={1 / divisor:.4g}"
    needs_scale, found = not math.isclose(divisor, math.sqrt(queries.value.shape[-1])), ""
    if needs_scale:
        seen = f", attn_mask={mask}" if mask else ""
        found = f"""
    left alone it divides by √d: here it needs {about}.
        {call}{seen})  # {at_once} without scale"""
    if not mask:
        return found
    for wrong, name, words in (
        (f"~{mask}", "the mask upside down", f"True means that a query may look: give {mask}."),
        (f"{mask}.float()", "a mask of numbers", f"numbers are added to scores: give {mask}."),
    ):
        for end in (scale, "")[: 1 + needs_scale]:
            found += f"""
    {words}{"" if end else f" And give {scale[2:]}."}
        {call}, attn_mask={wrong}{end})  # {at_once} with {name}"""
    found += f"""
    give it attn_mask={mask}.
        {call}{scale})  # {at_once} without the mask"""
    if not needs_scale:
        return found
    return f"""{found}
    give it attn_mask={mask}, and {about}: else it divides by √d.
        {call})  # {at_once} without the mask and without scale"""
