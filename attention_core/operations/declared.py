"""What many operations declare in a line: a value, the arithmetic of a cell, a backward pass."""

from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor

from ..expression import Expression, Number, Product, Quotient, Sum
from .base import Backward, Operand, Operation, matched


def computed(function: Callable[..., Tensor], **settings: Any) -> Callable[..., Tensor]:
    """A `value` that is a function of the operands, and of nothing else."""
    return lambda _, *operands: function(*operands, **settings)


def entrywise(made: Callable[..., Expression]) -> Callable[..., Expression]:
    """An `arithmetic` that is made of the cell of each operand that torch matches."""
    return lambda _, index, *operands: made(*[matched(each, index) for each in operands])


def added(*terms: Expression) -> Sum:
    """All of them, added."""
    return Sum(terms)


def multiplied(*factors: Expression) -> Product:
    """All of them, multiplied."""
    return Product(factors)


def squared(cell: Expression) -> Product:
    """A number times itself."""
    return Product((cell, cell))


def mean_of(terms: Iterable[Expression]) -> Quotient:
    """All of them, added and divided by how many there are."""
    parts = tuple(terms)
    return Quotient(Sum(parts), Number(len(parts)))


def summed(dim: int) -> Callable[..., Expression]:
    """The `arithmetic` of a sum along an axis that the result no longer has."""

    def arithmetic(_: Operation, index: tuple[int, ...], numbers: Operand) -> Expression:
        at = dim % (len(index) + 1)
        places = range(numbers.value.shape[dim])
        return Sum(tuple([numbers.cell((*index[:at], k, *index[at:])) for k in places]))

    return arithmetic


Way = Callable[[Any, Backward, int], None]
"""Says to a backward pass what comes back to one of the operands."""


def gradients(*ways: Way) -> Callable[[Operation, Backward], None]:
    """A `backward` that says what comes back to each operand by itself, first to last."""

    def backward(self: Operation, back: Backward) -> None:
        for at, way in enumerate(ways[: len(back.inputs)]):
            way(self, back, at)

    return backward


def as_it_is(_: Operation, back: Backward, at: int) -> None:
    """The gradient itself comes back."""
    back.into(at)


def likewise(operation: Operation, back: Backward, at: int) -> None:
    """The operation itself, on the gradient in the place of its first operand."""
    back.into(at, operation, back.gradient, *back.inputs[1:])


def times_result(_: Operation, back: Backward, at: int) -> None:
    """The gradient times the result."""
    back.into(at, back.ops.Multiply(), back.gradient, back.result)


def times_slope(operation: Operation, back: Backward, at: int) -> None:
    """The gradient times the slope, which is an operation of the same settings: `<Name>Slope`."""
    name = type(operation).__name__
    if not hasattr(back.ops, f"{name}Slope"):
        raise NotImplementedError(
            f"times_slope wants an operation {name}Slope with the settings of {name}, with a step "
            "and an oracle of its own"
        )
    kind = getattr(back.ops, f"{name}Slope")
    slope = back.step("slope", kind(*vars(operation).values()), *back.inputs)
    back.into(at, back.ops.Multiply(), back.gradient, slope)


def times(other: int) -> Way:
    """The gradient times another operand."""
    return lambda _, back, at: back.into(at, back.ops.Multiply(), back.gradient, back.inputs[other])


def repeated(dim: int) -> Way:
    """The gradient along an axis that was added up."""
    return through(lambda _, back: back.ops.Repeat(back.inputs[0].value.shape[dim], dim, new=True))


def through(other: Callable[[Any, Backward], Operation]) -> Way:
    """The gradient through another operation."""
    return lambda operation, back, at: back.into(at, other(operation, back), back.gradient)


negated = through(lambda _, back: back.ops.ScaleBy(-1.0))
"""The gradient comes back with the other sign."""
