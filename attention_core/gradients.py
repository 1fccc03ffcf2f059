"""The backward pass: by how much a loss rises where a number rises, as a trace of its own.

A gradient is a step like any other. Each operation says beside its formula which steps give the
gradients of its operands from that of its result (`Operation.backward`); here they are asked in
turn, last to first, and what comes back along several ways is added.

    trace = attend_trainable(embed(EXAMPLES["journey_123"].inputs))
    ...  # steps up to a scalar `loss`
    learned = backward(trace, "loss", of=("W_query", "W_key", "W_value"))
    learned["grad_W_query"].arithmetic((0, 0))

Source: Goodfellow et al. 2016, Deep Learning, section 6.5.
"""

from collections import Counter
from collections.abc import Sequence

import torch

from . import operations
from .operations import Copied, Given, Operation, RowSum, SumFirst, Total
from .operations.base import Meaning, kind_of
from .symbols import GRADIENT as PREFIX
from .trace import Step, Trace
from .utils.validation import validated


@validated
def backward(trace: Trace, loss: str, of: Sequence[str]) -> Trace:
    """The same trace with the gradients of a `loss`, a step of one number, after its steps:
    `grad_loss`, which is 1, and so on back to `grad_W` for each W in `of`. Each has the axes of
    what it is the gradient of.

    Where a number is used more than once there is a step for each way, `grad_x_by_queries`, and
    `grad_x` adds them. The given trace stays as it is.

    Raises ValueError where there is no such step, the loss is not one number or does not depend on
    what is asked for, that holds whole numbers, or an operation on the way has no backward pass.
    """
    made = trace.branch()
    for name in (loss, *of):
        if name not in made:
            raise ValueError(f"the trace has no step {name!r}")
    if made[loss].value.numel() != 1:
        raise ValueError(
            f"a loss is one number, but {loss!r} has {made[loss].value.numel()} of them, "
            f"{made[loss].shape}"
        )
    needed = _on_the_way(made, loss, of)
    uses = Counter(operand.name for name in needed for operand in made[name].inputs)
    pass_ = _Pass(made, needed, uses)
    start = torch.ones_like(made[loss].value)
    precision = None if start.dtype == torch.float32 else kind_of(start)
    begin = Given.of(start, precision)
    pass_.ways[loss] = [pass_.step(f"{PREFIX}{loss}", begin, axes=made[loss].axes)]
    for step in reversed([step for name, step in trace.items() if name in needed]):
        gradient = pass_.joined(step)
        if any(operand.name in needed for operand in step.inputs):
            # Of steps alone, where an operation's own word for it speaks of operands.
            step.operation.backward(_Back(pass_, step, gradient))  # type: ignore[arg-type]
    return made


def _on_the_way(trace: Trace, loss: str, of: Sequence[str]) -> set[str]:
    """The steps between what is asked for and the loss, but for those that only choose."""
    depends, behind = trace[loss].earlier() | {loss}, {loss}
    for name, step in reversed([*trace.items()]):
        if name in behind:
            moved = (each for each in step.inputs if each.value.is_floating_point())
            behind.update(each.name for each in moved)
    for name in of:
        if name not in depends:
            raise ValueError(f"{loss!r} does not depend on {name!r}: nothing comes back to it")
        if not trace[name].value.is_floating_point():
            raise ValueError(
                f"{name!r} holds whole numbers, or true and false: these cannot be moved a little, "
                "so they have no gradient"
            )
        if name not in behind:
            raise ValueError(
                f"{name!r} only has a say in what {loss!r} chooses: true and false cannot be moved "
                "a little, so nothing comes back to it"
            )
    needed = set(of)
    for name, step in trace.items():
        if name in behind and any(operand.name in needed for operand in step.inputs):
            needed.add(name)
    return needed


class _Pass:
    """What one backward pass has found so far."""

    def __init__(self, trace: Trace, needed: set[str], uses: dict[str, int]) -> None:
        self.trace = trace
        self.needed = needed
        self.uses = uses
        self.ways: dict[str, list[Step]] = {}

    def step(self, name: str, operation: Operation, *inputs: Step, axes: tuple[str, ...]) -> Step:
        """One of its steps, all of which are gradients."""
        return self.trace.step(name, operation, *inputs, axes=axes, meaning=Meaning.GRADIENT)

    def joined(self, step: Step) -> Step:
        """The gradient of a step, from all ways that lead back to it."""
        ways, name = self.ways[step.name], f"{PREFIX}{step.name}"
        self.trace.has_gradient(step.name, name)
        if len(ways) > 1:
            return self.step(name, Total(len(ways)), *ways, axes=step.axes)
        if ways[0].name == name:
            return ways[0]
        return self.step(name, Copied(), ways[0], axes=step.axes)


class _Back:
    """What an operation says its backward pass to: a `Backward`, where each method is explained."""

    ops = operations

    def __init__(self, pass_: _Pass, result: Step, gradient: Step) -> None:
        self._pass = pass_
        self.result = result
        self.gradient = gradient
        self.inputs = result.inputs

    def wants(self, at: int) -> bool:
        return self.inputs[at].name in self._pass.needed

    def refuse(self, why: str) -> None:
        kind = type(self.result.operation).__name__
        raise ValueError(f"{self.result.name!r} ({kind}) has no backward pass: {why}")

    def step(
        self, kind: str, operation: Operation, *inputs: Step, axes: tuple[str, ...] | None = None
    ) -> Step:
        axes = self.result.axes if axes is None else axes
        return self._pass.step(f"{kind}_{PREFIX}{self.result.name}", operation, *inputs, axes=axes)

    def row(self, kind: str, operation: Operation, *inputs: Step, dim: int = -1) -> Step:
        """The same with one number for each row of the result, or for each line along `dim`."""
        axes = [*self.result.axes]
        axes[dim] = "one"
        return self.step(kind, operation, *inputs, axes=tuple(axes))

    def into(self, at: int, operation: Operation | None = None, *inputs: Step) -> None:
        """What comes back to an operand, added up along axes that torch repeated on the way."""
        if not self.wants(at):
            return
        operand = self.inputs[at]
        way = self._named(at)
        made = self.gradient
        if operation is not None:
            name, axes = way, operand.axes
            # What comes of tensors with as many axes fits, unless one of 1 has been repeated.
            most = max(each.value.ndim for each in inputs)
            if most != operand.value.ndim or 1 in operand.value.shape:
                shape = operation.value(*(each.value for each in inputs)).shape
                if shape != operand.value.shape:
                    name, axes = f"{way}_unsummed", self._axes(shape, operand)
            made = self._pass.step(name, operation, *inputs, axes=axes)
        self._pass.ways.setdefault(operand.name, []).append(self._summed(made, operand, way))

    def _named(self, at: int) -> str:
        operand = self.inputs[at]
        name = f"{PREFIX}{operand.name}"
        if self._pass.uses[operand.name] == 1:
            return name
        twice = sum(each is operand for each in self.inputs) > 1
        side = ("", f"_{('left', 'right', 'third')[at]}")[twice]
        return f"{name}_by_{self.result.name}{side}"

    def _axes(self, shape: Sequence[int], operand: Step) -> tuple[str, ...]:
        """Axes of what was repeated: those of the result in front, and where the operand is 1."""
        extra = len(shape) - operand.value.ndim
        kept = zip(operand.axes, operand.value.shape, shape[extra:], strict=True)
        behind = self.result.axes[len(self.result.axes) - operand.value.ndim :]
        pairs = zip(kept, behind, strict=True)
        own = (mine if size == whole else over for (mine, size, whole), over in pairs)
        return (*self.result.axes[:extra], *own)

    def _summed(self, made: Step, operand: Step, way: str) -> Step:
        """Added up along all axes that the operand has not, or has with length 1."""
        step = self._pass.step
        shape = operand.value.shape
        dims = [at for at in range(-len(shape), 0) if shape[at] == 1 != made.value.shape[at]]
        n_front = made.value.ndim - len(shape)
        for left in range(n_front + len(dims), 0, -1):
            name = way if left == 1 else f"{way}_summed_{left}"
            if n_front:
                made = step(name, SumFirst(), made, axes=made.axes[1:])
                n_front -= 1
            else:
                dim = dims.pop()
                axes = list(made.axes)
                axes[dim] = operand.axes[dim]
                made = step(name, RowSum(dim), made, axes=tuple(axes))
        return made
