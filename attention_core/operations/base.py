"""What every operation is: one definition of a value, its formula, its code, its arithmetic."""

import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache, wraps
from inspect import Parameter, signature
from types import ModuleType
from typing import Any, ClassVar, NoReturn, Protocol, dataclass_transform

from torch import Tensor

from ..expression import Cell, Expression, constant


class Meaning(Enum):
    """What the numbers of a tensor are, whatever it is called: so they are drawn and told."""

    NUMBERS = "numbers"
    SHARES = "shares of 1: weights, or probabilities"
    SLOPES = "slopes of a softmax, at most 1/4 large"
    CHOICE = "1 at what is chosen, 0 elsewhere"
    GRADIENT = "how a loss moves with each number"


class Operand(Protocol):
    """What an arithmetic reads: a named tensor and its cells, such as a step of a trace."""

    @property
    def name(self) -> str:
        """What it is called in a program."""

    @property
    def axes(self) -> tuple[str, ...]:
        """The role of each of its axes."""

    @property
    def meaning(self) -> Meaning:
        """What its numbers are."""

    @property
    def operation(self) -> "Operation":
        """What it was made by."""

    @property
    def inputs(self) -> tuple["Operand", ...]:
        """What it was made from."""

    @property
    def value(self) -> Tensor:
        """Its numbers."""

    def cell(self, index: tuple[int, ...]) -> Cell:
        """One cell as a leaf of an arithmetic."""


class Backward(Protocol):
    """What an operation says its backward pass to (`attention_core.gradients`)."""

    ops: ModuleType
    """All operations: one can be made of others that are defined after it."""
    result: Operand
    """The step that the operation made, and the gradient of the loss by it."""
    gradient: Operand
    inputs: tuple[Operand, ...]

    def wants(self, at: int) -> bool:
        """Whether the gradient of this operand is asked for."""

    def refuse(self, why: str) -> NoReturn:
        """Raises ValueError: there is no way back, for a reason in words."""

    def step(
        self, kind: str, operation: "Operation", *inputs: Operand, axes: tuple[str, ...] = ...
    ) -> Operand:
        """A step on the way, with the axes of the result where none are said."""

    def row(self, kind: str, operation: "Operation", *inputs: Operand, dim: int = ...) -> Operand:
        """A step on the way that has one number for each row of the result."""

    def into(self, at: int, operation: "Operation | None" = None, *inputs: Operand) -> None:
        """What comes back to an operand: an operation on these, or the gradient as it is."""


@dataclass_transform(frozen_default=True)
class Operation:
    """A step's recipe. Subclasses are small and hold only the operation's own settings: each is a
    frozen dataclass, also without saying so.

    An operation is pure: the same operands give the same value, and nothing is stored. Operands of
    other shapes than it `takes` are refused with a ValueError, since torch would often find some
    result, of which the arithmetic and the words are not true.
    """

    transpose: bool = False
    """Whether the second operand is turned: a picture draws it transposed."""
    transpose_first: bool = False
    """Whether the first operand is turned."""
    chooses: bool = False
    """Whether the numbers of the last operand decide which cells are read."""
    adds_third: ClassVar[bool] = False
    """Whether both end with the third operand, a bias, which is added where there is one."""
    makes: ClassVar[Meaning | None] = Meaning.NUMBERS
    """What the result's numbers are; None: what those of the first operand are."""
    no_gradient: ClassVar[str] = ""
    """Why it has no backward pass, where it has operands and none."""
    imports: ClassVar[tuple[str, ...]] = ()
    """The lines that a program needs at its top, once for all steps of this kind."""

    # What follows a subclass says as a plain attribute, or works out from its settings.

    @property
    def takes(self) -> str:
        """The axes of each operand, such as "(…, i, k) (…, k, j)": a name has one length, … is any
        number of axes, and operands at the end may be missing."""
        return ""

    @property
    def signs(self) -> tuple[str | None, ...]:
        """What stands before each operand, and last before the result, in a picture of the
        equation. The operand with "" stands first, one with None is not drawn."""
        return ("", "→")

    @property
    def in_latex(self) -> str:
        """What `formula` gives: {0} is the symbol of the first operand, {self.width} a setting, and
        a float is written as LaTeX."""
        return ""

    @property
    def in_torch(self) -> str:
        """What `code` gives, likewise from the names of the operands; a float is written as Python.
        {T[1]} is the second operand transposed, in both."""
        return ""

    @property
    def in_words(self) -> str:
        """What `words` gives."""
        return ""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)
        _check_operands(cls)
        if "value" in vars(cls):
            cls.value = _refusing(cls.value)  # type: ignore[method-assign]  # once a class

    # A subclass names its operands, as many as it has: by `Any` for all of them, with or without a
    # name, a check of types lets it.

    def value(self, *operands: Any, **named: Any) -> Tensor:
        """The result, a new tensor; operands are never changed."""
        raise NotImplementedError

    def meaning(self, *operands: Any, **named: Any) -> Meaning:  # noqa: ARG002
        """What the result's numbers are, made from these."""
        return operands[0].meaning if self.makes is None else self.makes

    def turns(self, at: int) -> bool:
        """Whether a picture of the equation draws this operand transposed."""
        return self.transpose_first if at == 0 else at == 1 and self.transpose

    def formula(self, *symbols: Any, **named: Any) -> str:  # noqa: ARG002
        """LaTeX of the right-hand side, from the symbols of the operands."""
        return self._filled(self.in_latex, symbols, constant, upright)

    def code(self, *names: Any, **named: Any) -> str:  # noqa: ARG002
        """The PyTorch expression, from the names of the operands."""
        return self._filled(self.in_torch, names, written, "{}.mT".format)

    def _filled(
        self, template: str, operands: tuple[str, ...], write: Callable, turn: Callable[[str], str]
    ) -> str:
        if self.adds_third and len(operands) > 2:
            template += " + {2}"
        settings = _Settings(self, write)
        return template.format(*operands, self=settings, T=[turn(each) for each in operands])

    def arithmetic(self, *of: Any, **named: Any) -> Expression:
        """The arithmetic of the cell at an index, from operands: its leaves are cells of theirs."""
        raise NotImplementedError

    def backward(self, back: Backward, /) -> None:
        """Says to `back` what comes back to each input. Raises ValueError for no way back."""
        back.refuse(self.no_gradient)

    def words(self) -> str:
        """One plain sentence: how a cell comes about. Never holds a person's text."""
        return self.in_words.format(self=self)

    def preamble(self) -> tuple[str, ...]:
        """Lines of a program that must come before `code`."""
        return ()

    def constants(self) -> tuple[str, ...]:
        """Lines that stand once at the top of a program: what its reader may have to change."""
        return ()


class _Settings:
    """The settings of an operation, as a formula or a line of code writes them."""

    def __init__(self, operation: Operation, write: Callable[[float], str]) -> None:
        self._operation, self._write = operation, write

    def __getattr__(self, name: str) -> object:
        setting = getattr(self._operation, name)
        return self._write(setting) if isinstance(setting, float) else setting


def _check_operands(kind: type[Operation]) -> None:
    """Raises TypeError where a method has more or fewer operands than the operation `takes`."""
    if not isinstance(kind.takes, str):
        return  # it follows from the settings
    count = kind.takes.count("(")
    for name, before in (("value", 1), ("arithmetic", 2)):
        every = [*signature(getattr(kind, name)).parameters.values()]
        kinds, named = {each.kind for each in every}, every[before:]
        needed = [each for each in named if each.default is each.empty]
        if not (len(needed) <= count <= len(named) or Parameter.VAR_POSITIONAL in kinds):
            raise TypeError(
                f"{kind.__name__} takes {kind.takes or 'nothing'}, so {name}() must have {count} "
                f"operands, and has {', '.join(each.name for each in named) or 'none'}"
            )


def _refusing(value: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """`Operation.value` that raises ValueError, in words, for operands that it does not take."""

    @wraps(value)
    def refusing(self: Operation, *operands: Tensor) -> Tensor:
        if not _fit(self.takes, tuple([operand.shape for operand in operands])):
            raise ValueError(_refusal(self, operands))
        try:
            return value(self, *operands)
        except (IndexError, RuntimeError, TypeError) as error:  # sizes and kinds of numbers
            raise ValueError(_refusal(self, operands)) from error

    return refusing


def _refusal(operation: Operation, operands: tuple[Tensor, ...]) -> str:
    shapes = " ".join(f"({', '.join(map(str, operand.shape))})" for operand in operands)
    kinds = ", ".join(str(operand.dtype).removeprefix("torch.") for operand in operands)
    name, got = type(operation).__name__, f"{shapes} of {kinds}" if operands else "nothing"
    return f"{name} takes {operation.takes or 'nothing'}, but was given {got}"


@lru_cache(maxsize=4_096)
def _fit(takes: str, shapes: tuple[tuple[int, ...], ...]) -> bool:
    """Whether shapes have the axes that an operation takes, none of them empty."""
    operands = [axes.split(", ") if axes else [] for axes in re.findall(r"\((.*?)\)", takes)]
    if len(shapes) > len(operands):
        return False
    sizes: dict[str, int] = {}
    for axes, shape in zip(operands, shapes, strict=False):
        if "…" in axes:
            at = axes.index("…")
            axes = [*axes[:at], *["…"] * (len(shape) - len(axes) + 1), *axes[at + 1 :]]
        if len(axes) != len(shape) or 0 in shape:
            return False
        for axis, size in zip(axes, shape, strict=True):
            known = int(axis) if axis.isdigit() else sizes.setdefault(axis, size)
            if axis != "…" and known != size:
                return False
    return True


def check_place(kind: str, place: int, size: int) -> None:
    """Raises ValueError, in plain words, where there is no such row or head."""
    if not 0 <= place < size:
        raise ValueError(f"there is no {kind} {place}: the last of {size} is {kind} {size - 1}")


def upright(symbol: str) -> str:
    """LaTeX of a matrix transposed; one that has an exponent already is held together."""
    return rf"{{{symbol}}}^\top" if "^" in symbol else rf"{symbol}^\top"


def matched(operand: Operand, index: tuple[int, ...]) -> Cell:
    """The cell that torch matches with `index`: axes in front may be missing, or be 1 long."""
    shape = operand.value.shape
    last = index[len(index) - len(shape) :]
    if 1 not in shape:
        return operand.cell(last)
    return operand.cell(tuple(0 if size == 1 else at for at, size in zip(last, shape, strict=True)))


def line(operand: Operand, index: tuple[int, ...], dim: int = -1) -> tuple[Cell, ...]:
    """All cells along one axis, counted from the end, that share the other places of `index`:
    along the last, those of its row."""
    at = len(index) + dim
    before, after = index[:at], index[at + 1 :]
    return tuple(operand.cell((*before, k, *after)) for k in range(operand.value.shape[dim]))


def kind_of(tensor: Tensor) -> str:
    """The kind of its numbers in a word, such as float32."""
    return str(tensor.dtype).removeprefix("torch.")


def written(values: Tensor | float) -> str:
    """A tensor or number as Python source that gives the same float32 or integers again."""
    return _source(values.tolist() if isinstance(values, Tensor) else values)


def _source(values: Any) -> str:
    if isinstance(values, list):
        return "[" + ", ".join(_source(value) for value in values) + "]"
    if isinstance(values, int):
        return str(values)
    if not math.isfinite(values):
        return f'float("{values}")'
    written_out = (f"{values:.{digits}g}" for digits in range(1, 10))
    exact = (t for t in written_out if struct.unpack("f", struct.pack("f", float(t)))[0] == values)
    shortest = next(exact, repr(values))  # a float64 may need all of its digits
    return shortest if set(shortest) & set(".e") else shortest + "."
