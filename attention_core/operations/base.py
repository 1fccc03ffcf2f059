"""What every operation is: one definition of a value, its formula, its code, its arithmetic."""

from typing import TYPE_CHECKING

from torch import Tensor

from ..expression import Cell, Expression

if TYPE_CHECKING:
    from ..trace import Step


class Operation:
    """A step's recipe. Subclasses are small and hold only the operation's own settings.

    An operation is pure: the same operands give the same value, and nothing is stored.
    """

    def value(self, *operands: Tensor) -> Tensor:
        """The result, a new tensor; operands are never changed."""
        raise NotImplementedError

    def formula(self, *symbols: str) -> str:
        """LaTeX of the right-hand side, from the symbols of the operands."""
        raise NotImplementedError

    def code(self, *names: str) -> str:
        """The PyTorch expression, from the names of the operands."""
        raise NotImplementedError

    def arithmetic(self, index: tuple[int, ...], *operands: "Step") -> Expression:
        """The arithmetic of one cell of the result, its leaves being cells of the operands."""
        raise NotImplementedError

    def words(self) -> str:
        """One plain sentence: how a cell comes about. Never holds a person's text."""
        raise NotImplementedError

    def preamble(self) -> tuple[str, ...]:
        """Lines of a program that must come before `code`."""
        return ()


def row(operand: "Step", index: tuple[int, ...]) -> tuple[Cell, ...]:
    """All cells of the last axis that share the leading part of `index`."""
    return tuple(operand.cell((*index[:-1], column)) for column in range(operand.value.shape[-1]))
