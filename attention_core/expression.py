"""The arithmetic of one cell: its value in float64, its LaTeX, and the earlier cells it reads."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, dataclass_transform

SHOWN_TERMS = 5
"""Longer sums are written with an ellipsis in LaTeX; `terms` always has them all."""


@lru_cache(maxsize=8_192)
def number(value: float, digits: int = 4) -> str:
    """A number as LaTeX: four decimals, or a power of ten where four decimals say nothing."""
    if math.isnan(value):
        return r"\mathrm{nan}"
    if math.isinf(value):
        return r"\infty" if value > 0 else r"-\infty"
    if value == 0 or (float(value).is_integer() and abs(value) < 1e6):
        return str(int(value)) if value else "0"
    if not 10**-digits <= abs(value) < 1e6:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return rf"{mantissa}\times 10^{{{int(exponent)}}}"
    return f"{value:.{digits}f}"


def constant(value: float) -> str:
    """A number that someone chose, as LaTeX: no longer than it has to be."""
    written = f"{value:g}"
    if not math.isfinite(value):
        return number(value)
    if "e" not in written:
        return written
    mantissa, exponent = written.split("e")
    return rf"{mantissa}\times 10^{{{int(exponent)}}}"


class _once:
    """`cached_property` without its lock, which took a tenth of the time of an arithmetic."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self._work, self._name, self.__doc__ = work, work.__name__, work.__doc__

    def __get__(self, made: Any, _: type) -> Any:
        if made is None:
            return self
        value = made.__dict__[self._name] = self._work(made)
        return value


@dataclass_transform(frozen_default=True)
class Expression:
    """A node over its parts: never changed, though to enforce that costs a fifth of the time."""

    parts: tuple["Expression", ...]

    def __init_subclass__(cls) -> None:
        dataclass(unsafe_hash=True)(cls)

    @property
    def value(self) -> float:
        """The result, from the values of the leaves, in float64."""
        return self.known  # type: ignore[attr-defined]  # a leaf has it

    def latex(self) -> str:
        """The arithmetic with its real numbers."""
        raise NotImplementedError

    def on_the_way(self) -> Iterator[float]:
        """The sizes of the numbers that come about before the result, in any order of adding."""
        yield abs(self.value)
        for part in self.parts:
            yield from part.on_the_way()

    def cancels(self, epsilon: float) -> bool:
        """Whether, in a precision of this rounding, a sum in it may be nothing but rounding."""
        return any(part.cancels(epsilon) for part in self.parts)

    def cells(self) -> Iterator["Cell"]:
        """The cells of earlier steps that this number is made of, in reading order."""
        for part in self.parts:
            yield from part.cells()

    @property
    def terms(self) -> tuple["Expression", ...]:
        """What is combined: one row each in a ledger."""
        return (self,)


class _Of(Expression):
    """An expression of others in fields of their own."""

    below: ClassVar[tuple[str, ...]]
    """Their names in reading order, said where that is not the order of the fields."""

    def __init_subclass__(cls) -> None:
        if "below" not in vars(cls):
            fields = cls.__annotations__.items()
            cls.below = tuple(name for name, kind in fields if kind in (Expression, Cell))
        super().__init_subclass__()

    @property
    def parts(self) -> tuple[Expression, ...]:  # type: ignore[override]  # others keep it
        return tuple([getattr(self, name) for name in self.below])


class _OfMany(Expression):
    """An expression with a sum in it, of all its parts."""

    @property
    def terms(self) -> tuple[Expression, ...]:
        return self.parts

    def on_the_way(self) -> Iterator[float]:
        yield _sizes(self.parts)
        yield from super().on_the_way()

    def cancels(self, epsilon: float) -> bool:
        rounding = len(self.parts) * epsilon * _sizes(self.parts)
        return abs(_sum(self.parts)) < rounding or super().cancels(epsilon)


class Cell(Expression):
    """One cell of an earlier step: `step[index] = value`."""

    step: str
    index: tuple[int, ...]
    known: float
    parts = ()

    def latex(self) -> str:
        return number(self.known)

    def cells(self) -> Iterator["Cell"]:
        yield self

    def __str__(self) -> str:
        return f"{self.step}[{', '.join(map(str, self.index))}]"


class Number(Expression):
    """A constant: given, drawn, or part of a formula (such as √d)."""

    known: float
    written: str | None = None
    parts = ()

    def latex(self) -> str:
        return number(self.known) if self.written is None else self.written


class Sum(_OfMany):
    """Terms that are added."""

    parts: tuple[Expression, ...]

    @_once
    def value(self) -> float:
        return _sum(self.parts)

    def latex(self) -> str:
        return _joined(self.parts)


class Difference(_Of):
    """One expression less another."""

    left: Expression
    right: Expression

    @_once
    def value(self) -> float:
        return self.left.value - self.right.value

    def latex(self) -> str:
        return f"{self.left.latex()} - {self.right.latex()}".replace("- -", "+ ")


class Largest(Expression):
    """The largest of some cells, or nan; only it counts, unless all are `compared`."""

    among: tuple[Cell, ...]
    compared: bool = False

    @property
    def parts(self) -> tuple[Expression, ...]:  # type: ignore[override]  # others keep it
        return self.among if self.compared else (self._largest,)

    @property
    def value(self) -> float:
        return self._largest.value

    @property
    def _largest(self) -> Cell:
        nans = (cell for cell in self.among if math.isnan(cell.value))
        return next(nans, max(self.among, key=lambda cell: cell.value))

    def latex(self) -> str:
        shown = [cell.latex() for cell in self.among]
        if len(shown) > SHOWN_TERMS:
            shown = [*shown[: SHOWN_TERMS - 2], r"\dots", shown[-1]]
        among = r",\ ".join(shown)
        return rf"\max({among})"


class Product(Expression):
    """Factors that are multiplied."""

    parts: tuple[Expression, ...]

    @_once
    def value(self) -> float:
        return math.prod(part.value for part in self.parts)

    def latex(self) -> str:
        return "".join(f"({part.latex()})" for part in self.parts)


class Quotient(_Of):
    """One expression divided by another; x / 0 follows IEEE 754, as torch does."""

    top: Expression
    bottom: Expression

    @_once
    def value(self) -> float:
        return _divide(self.top.value, self.bottom.value)

    @property
    def terms(self) -> tuple[Expression, ...]:
        return self.top.terms

    def latex(self) -> str:
        return rf"\frac{{{self.top.latex()}}}{{{self.bottom.latex()}}}"


class Share(_OfMany):
    """One term divided by the sum of all: a weight among its row."""

    parts: tuple[Expression, ...]
    picked: int

    @_once
    def total(self) -> float:
        return _sum(self.parts)

    @_once
    def value(self) -> float:
        return _divide(self.parts[self.picked].value, self.total)

    def latex(self) -> str:
        return rf"\frac{{{self.parts[self.picked].latex()}}}{{{_joined(self.parts)}}}"


class Standardised(_OfMany):
    """One entry less the mean, over the standard deviation (`epsilon` added to the variance)."""

    parts: tuple[Expression, ...]
    picked: int
    epsilon: float

    @_once
    def mean(self) -> float:
        """The mean of all entries."""
        return _sum(self.parts) / len(self.parts)

    @_once
    def variance(self) -> float:
        """The mean squared distance from the mean."""
        squares = [(part.value - self.mean) ** 2 for part in self.parts]
        return sum(squares) / len(squares)

    @_once
    def value(self) -> float:
        return (self.parts[self.picked].value - self.mean) / math.sqrt(self.variance + self.epsilon)

    def on_the_way(self) -> Iterator[float]:
        yield _sizes(self.parts) ** 2
        yield from Expression.on_the_way(self)

    def latex(self) -> str:
        top = f"{self.parts[self.picked].latex()}{_less(self.mean)}"
        return rf"\frac{{{top}}}{{\sqrt{{{number(self.variance)} + {number(self.epsilon)}}}}}"


class Exponential(_Of):
    """e to the power of a score minus the largest of its row, as a stable softmax does."""

    score: Expression
    largest: float

    @_once
    def value(self) -> float:
        return math.exp(self.score.value - self.largest)

    def latex(self) -> str:
        return rf"e^{{{self.score.latex()}{_less(self.largest)}}}"


class Called(_Of):
    """A function of one expression, such as a root or a sine."""

    function: Callable[[float], float]
    pattern: str
    """LaTeX with `{}` for the argument, for example `r"\\sqrt{{{}}}"`."""
    argument: Expression

    @_once
    def value(self) -> float:
        return self.function(self.argument.value)

    def latex(self) -> str:
        return self.pattern.format(self.argument.latex())


class Picked(_Of):
    """A cell that is copied because another cell, an id, points at its row."""

    below = ("pointer", "chosen")

    chosen: Cell
    pointer: Cell

    @property
    def value(self) -> float:
        return self.chosen.value

    def latex(self) -> str:
        return rf"\text{{row }}{number(self.pointer.value)}:\;{self.chosen.latex()}"


class Hidden(Expression):
    """A fixed number that stands here because of what other cells hold, said in words."""

    because: tuple[Cell, ...]
    reason: str
    """LaTeX, for example `r"\\text{hidden by the mask}"`."""
    known: float = 0.0

    @property
    def parts(self) -> tuple[Expression, ...]:  # type: ignore[override]  # others keep it
        return self.because

    def latex(self) -> str:
        return rf"{number(self.known)}\quad({self.reason})"


class Seen(_Of):
    """An expression that stands because another cell, of a mask or a draw, lets it through."""

    below = ("because", "chosen")

    chosen: Expression
    because: Cell

    @property
    def value(self) -> float:
        return self.chosen.value

    def latex(self) -> str:
        return self.chosen.latex()


class Indicator(_Of):
    """1 where a cell holds a given id, else 0."""

    pointer: Cell
    id: int

    @property
    def value(self) -> float:
        return float(self.pointer.value == self.id)

    def latex(self) -> str:
        relation = "=" if self.value else r"\neq"
        because = f"{number(self.pointer.value)} {relation} {self.id}"
        return rf"{number(self.value)}\quad\text{{because }}{because}"


class OutOfRange(_Of):
    """An arithmetic with a number that a precision cannot hold, what is left of it, and why."""

    whole: Expression
    known: float
    reason: str

    @property
    def terms(self) -> tuple[Expression, ...]:
        return self.whole.terms

    def latex(self) -> str:
        return rf"{self.whole.latex()} \to {number(self.known)}\quad(\text{{{self.reason}}})"


def _less(value: float) -> str:
    return f"-{number(value)}" if value >= 0 else f"+{number(-value)}"


def _sizes(parts: tuple[Expression, ...]) -> float:
    return _sum(tuple(Number(abs(part.value)) for part in parts))


def _sum(parts: tuple[Expression, ...]) -> float:
    values = [part.value for part in parts]
    try:
        return math.fsum(values)
    except (ValueError, OverflowError):  # infinities of both signs, or a sum beyond float64
        return sum(values)


def _divide(top: float, bottom: float) -> float:
    if bottom != 0:
        return top / bottom
    return math.nan if top == 0 or math.isnan(top) else math.copysign(math.inf, top)


def _joined(parts: tuple[Expression, ...]) -> str:
    """Terms with plus signs; a long sum keeps both its ends, or if these are 0, its largest."""
    if len(parts) > SHOWN_TERMS:
        kept = (*parts[: SHOWN_TERMS - 2], parts[-1])
        shown = [part.latex() for part in kept]
        shown.insert(-1, r"\dots")
        if not any(part.value for part in kept):
            largest = max(parts, key=lambda part: abs(part.value))
            if largest.value:
                shown = [kept[0].latex(), r"\dots", largest.latex(), r"\dots"]
    else:
        shown = [part.latex() for part in parts]
    return plus_signs(shown)


def plus_signs(terms: list[str]) -> str:
    """LaTeX terms, added; a negative term is subtracted instead."""
    return " + ".join(terms).replace("+ -", "- ")
