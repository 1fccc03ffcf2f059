"""A computation made otherwise: the same steps, but for those that a mistake changes."""

from collections.abc import Callable, Mapping

from ..operations import Operation
from ..trace import Step, Trace

Make = Callable[[Trace, Step, tuple[Step, ...]], Step]
"""Makes one step otherwise, from the new trace, the right step and its new inputs."""

Of = Callable[[Trace, tuple[Step, ...]], tuple[Step, ...]]
"""Gives the operands of a step, given the new trace and what its inputs have become."""


def rewritten(trace: Trace, makes: Mapping[str, Make]) -> Trace:
    """The computation with some steps made otherwise. Raises KeyError for one that is not there."""
    for name in makes:
        trace[name]
    new = trace.emptied()
    became: dict[str, Step] = {}
    for name, step in trace.items():
        inputs = tuple(became[each.name] for each in step.inputs)
        make = makes.get(name, again)
        became[name] = make(new, step, inputs)
    return new


def again(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    """The step as it was, from what its inputs have become."""
    return new.again(step, *inputs)


def left_out(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:  # noqa: ARG001
    """Nothing is done: what the step was made from takes its place."""
    return inputs[0]


def by(operation: Operation | None = None, of: Of | None = None) -> Make:
    """The step by another operation, or of other operands."""

    def make(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
        return new.again(step, *(of(new, inputs) if of else inputs), by=operation)

    return make
