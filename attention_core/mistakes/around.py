"""Mistakes that only the steps around a step can tell: another tensor, another axis's size."""

import math
from collections.abc import Sequence

from .. import operations as ops
from ..trace import Step
from .known import Mistake, is_mistake, mistakes


def known(step: Step) -> tuple[Mistake, ...]:
    """The mistakes of a step's own operation; none for one that is a mistake."""
    names = (given.name for given in step.inputs)
    return () if is_mistake(step.operation) else mistakes(step.operation, *names)


def around(step: Step, steps: Sequence[Step]) -> list[Mistake]:
    """All mistakes of a step among the steps of its exercise, most likely first."""
    earlier = steps[: steps.index(step)]
    return [
        *_turned(step),
        *_at_once(step),
        *_other_sizes(step, steps),
        *_before_softmax(step),
        *_rectified_late(step),
        *_divided_early(step),
        *_no_residual(step),
        *_values_turned(step),
        *known(step),
        *_other_sentence(step, earlier),
        *_unchanged(step, step.inputs),
        *_mixed_up(step, earlier),
        *_unchanged(step, earlier),
        *_transposed(step),
    ]


def _mixed_up(step: Step, earlier: Sequence[Step]) -> list[Mistake]:
    """One operand taken for another of its shape."""
    found = []
    for at, given in enumerate(step.inputs):
        for other in earlier:
            if other is given or other.value.shape != given.value.shape:
                continue
            names = [each.name for each in step.inputs]
            names[at] = other.name
            words = f"this is what {other.name} gives; {given.name} belongs there."
            found.append(Mistake("the wrong tensor", words, step.operation.code(*names)))
    return found[-8:]


def _other_sentence(step: Step, earlier: Sequence[Step]) -> list[Mistake]:
    """Vectors of one sentence where those of the other belong: the numbers of tokens may differ."""
    found = []
    for at, given in enumerate(step.inputs):
        for other in earlier:
            if other is given or {other.name, given.name} != {"embeddings", "other_embeddings"}:
                continue
            names = [each.name for each in step.inputs]
            names[at] = other.name
            words = f"{step.name} are made from {given.name}, not from {other.name}."
            found.append(Mistake("the wrong sentence", words, step.operation.code(*names)))
    return found


def _unchanged(step: Step, earlier: Sequence[Step]) -> list[Mistake]:
    """An earlier tensor as it is."""
    words = "these are the numbers of {}, unchanged."
    same = (other for other in earlier if other.value.shape == step.value.shape)
    return [Mistake("an earlier step", words.format(each.name), each.name) for each in same][-8:]


def _transposed(step: Step) -> list[Mistake]:
    """The right numbers, with rows and columns swapped."""
    if step.value.ndim < 2:
        return []
    rows, columns = step.axes[-2:]
    words = f"{rows} is the row here, and {columns} the column: leave out the last transpose."
    line = f"({step.operation.code(*(given.name for given in step.inputs))}).mT"
    return [Mistake("the result is transposed", words, line)]


def _before_softmax(step: Step) -> list[Mistake]:
    """A mask after softmax that nothing makes up for, and √d twice."""
    if not isinstance(step.operation, ops.Softmax) or is_mistake(step.operation):
        return []
    (scores,), found = step.inputs, []
    made = scores
    if isinstance(made.operation, ops.Hide):
        made, mask = made.inputs
        words = (
            "what is left of a row no longer sums to 1: put −∞ in place of the hidden scores "
            "first, then take softmax."
        )
        line = f"{made.name}.softmax(dim=-1) * {mask.name}"
        found.append(Mistake("hidden after softmax, and not renormalised", words, line))
    if isinstance(made.operation, ops.Scale):
        words = f"{made.name} are divided already: take softmax of {scores.name} as they are."
        line = f"({scores.name} / {made.operation.width} ** 0.5).softmax(dim=-1)"
        found.append(Mistake("divided by √d twice", words, line))
    return found


def _rectified_late(step: Step) -> list[Mistake]:
    """The rectifier after the second linear layer, in place of before it."""
    if type(step.operation) is not ops.MatMul or not isinstance(step.inputs[0].operation, ops.ReLU):
        return []
    rectified, *others = step.inputs
    product = step.operation.code(rectified.inputs[0].name, *(each.name for each in others))
    words = f"it belongs between the two linear layers: take {rectified.name} as it is."
    return [Mistake("ReLU after the product", words, f"torch.relu({product})")]


def _divided_early(step: Step) -> list[Mistake]:
    """A tile's exponentials shared out among the keys of the tile alone."""
    if type(step.operation) is not ops.MatMul or type(step.inputs[0].operation) is not ops.ExpLess:
        return []
    powers, *others = step.inputs
    shares = f"({powers.name} / {powers.name}.sum(dim=-1, keepdim=True))"
    words = (
        "a tile does not know the sum of the whole row yet: add up first, and divide once, at the "
        "end."
    )
    line = step.operation.code(shares, *(each.name for each in others))
    return [Mistake("the tile is divided by its own sum", words, line)]


def _no_residual(step: Step) -> list[Mistake]:
    """What a part has made of a stream, without the stream itself."""
    if not isinstance(step.operation, ops.Add):
        return []
    stream, added = step.inputs
    if stream.name not in added.earlier():
        return []
    words = f"add {stream.name} to it: a part adds to the stream, and does not replace it."
    return [Mistake("the residual is forgotten", words, added.name)]


def _values_turned(step: Step) -> list[Mistake]:
    """Rotary positions for the values too, where queries and keys are turned."""
    if type(step.operation) is not ops.MatMul or len(step.inputs) != 2:
        return []
    weights, values = step.inputs
    if not isinstance(weights.operation, ops.Softmax):
        return []
    waiting = [weights]
    while waiting:
        each = waiting.pop()
        if isinstance(each.operation, ops.Rotate) and "key" in each.axes:
            break
        waiting += each.inputs
    else:
        return []
    angles = each.inputs[1]
    if values.value.shape[-1] != 2 * angles.value.shape[-1]:
        return []
    words = f"only queries and keys are turned: take {values.name} as they are."
    turned = each.operation.code(values.name, angles.name)
    line = step.operation.code(weights.name, turned)
    return [Mistake("the values are turned too", words, line)]


def _other_sizes(step: Step, steps: Sequence[Step]) -> list[Mistake]:
    """Divided by the root of another axis's length. A root may happen to be the width itself."""
    if not isinstance(step.operation, ops.Scale) or is_mistake(step.operation):
        return []
    (scores,), width = step.inputs, step.operation.width
    axes: dict[int, list[str]] = {}
    for axis, size in ((a, n) for each in steps for a, n in _axes(each)):
        if axis not in axes.setdefault(size, []):
            axes[size].append(axis)
    found = []
    for size, names in axes.items():
        if size in (1, width):
            continue
        name = f"the root of {size}, the length of {', '.join(names)}"
        if size == width**2:
            name = f"d in place of √d, or {name}, or divided by √d twice"
        words = f"divide by the square root of the width of a vector, {width} ** 0.5."
        found.append(Mistake(name, words, f"{scores.name} / {size} ** 0.5"))
    return found


def _axes(step: Step) -> list[tuple[str, int]]:
    return list(zip(step.axes, step.value.shape, strict=True))


def _turned(step: Step) -> list[Mistake]:
    """`.T` in place of `.mT`, where heads stand in front."""
    operation = step.operation
    if type(operation) is not ops.MatMul or not operation.transpose:
        return []
    left, right = step.inputs
    if right.value.ndim != 3:
        return []
    words = (
        f"rows meet rows here, so write {right.name}.mT: .T turns all axes round, "
        ".mT only the last two."
    )
    name = ".T in place of .mT"
    if right.value.shape[0] == right.value.shape[2]:  # both stop with the same error
        name += ", or no transpose"
    return [Mistake(name, words, f"{left.name} @ {right.name}.permute(2, 1, 0)")]


def _at_once(step: Step) -> list[Mistake]:
    """`scaled_dot_product_attention` without the scale, or without the mask, of the lesson."""
    if type(step.operation) is not ops.MatMul or step.operation.transpose or len(step.inputs) != 2:
        return []
    weights, values = step.inputs
    if not isinstance(weights.operation, ops.Softmax) or is_mistake(weights.operation):
        return []
    (made,), mask, divisor = weights.inputs, None, 1.0
    while isinstance(made.operation, ops.Hide | ops.Scale):
        if is_mistake(made.operation) and isinstance(made.operation, ops.Hide):
            return []
        if isinstance(made.operation, ops.Hide):
            mask = made.inputs[1].name
        else:
            width, root = made.operation.width, made.operation.root
            divisor *= math.sqrt(width) if root else width
        made = made.inputs[0]
    if not (isinstance(made.operation, ops.MatMul) and made.operation.transpose):
        return []
    queries, keys = made.inputs[:2]
    given = f"{queries.name}, {keys.name}, {values.name}"
    call = f"torch.nn.functional.scaled_dot_product_attention({given}"
    seen, scale = f", attn_mask={mask}" if mask else "", f", scale={1 / divisor!r}"
    needs_scale = not math.isclose(divisor, math.sqrt(queries.value.shape[-1]))
    if needs_scale:
        words = f"left alone it divides by √d: here it needs scale={1 / divisor:.4g}."
        found = [Mistake("scaled_dot_product_attention without scale", words, f"{call}{seen})")]
    else:
        found = []
    if mask:
        for wrong, name, words in (
            (f"~{mask}", "the mask upside down", f"True means that a query may look: give {mask}."),
            (f"{mask}.float()", "a mask of numbers", f"numbers are added to scores: give {mask}."),
        ):
            for end in (scale, "")[: 1 + needs_scale]:
                left = "" if end else f" And give {scale[2:]}."
                line = f"{call}, attn_mask={wrong}{end})"
                found.append(
                    Mistake(f"scaled_dot_product_attention with {name}", words + left, line)
                )
        name = "scaled_dot_product_attention without the mask"
        words = f"give it attn_mask={mask}."
        found.append(Mistake(name, words, f"{call}{scale})"))
        if needs_scale:
            words = f"give it attn_mask={mask}, and scale={1 / divisor:.4g}: else it divides by √d."
            found.append(Mistake(f"{name} and without scale", words, f"{call})"))
    return found
