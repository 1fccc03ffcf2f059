"""An arithmetic as a person's formula: no array entry, in Excel and LibreOffice alike."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby, product
from typing import Any, NamedTuple

from ...expression import (
    Called,
    Cell,
    Difference,
    Exponential,
    Expression,
    Indicator,
    Largest,
    Number,
    Product,
    Quotient,
    Share,
    Standardised,
    Sum,
)
from .layout import Layout

MINUS_INFINITY = -1e300
"""Stands for −∞, which a sheet does not have: e to it is exactly 0, as after a mask."""
HIDDEN = "<-1E+200"
"""What only −∞ is, also once it has been scaled."""
CALLS = {
    "e^{{{}}}": "EXP({})",
    r"\sqrt{{{}}}": "SQRT({})",
    r"\sin\!\left({}\right)": "SIN({})",
    r"\cos\!\left({}\right)": "COS({})",
    r"\tanh\!\left({}\right)": "TANH({})",
    r"\operatorname{{erf}}\!\left({}\right)": "ERF({})",
    r"\left({}\right)^2": "({})^2",
    r"\max(0, {})": "MAX(0,{})",
    r"\frac{{1}}{{1 + e^{{-{}}}}}": "(1/(1+EXP(-({}))))",
    r"1 / \cosh^2\!\left({}\right)": "(1/COSH({})^2)",
    r"-\ln\!\left({}\right)": "(-LN({}))",
    r"[\,{} > 0\,]": "IF({}>0,1,0)",
}
"""Functions by the LaTeX of them."""
SUMMED, MULTIPLIED, ATOM = range(3)


class NoFormula(Exception):
    """A sheet has no such function, or no range holds these cells."""


class Text(NamedTuple):
    """A part of a formula."""

    written: str
    binds: int = ATOM
    shape: tuple[int, int] | None = None
    """Rows and columns of what it gives; None for one number."""

    def within(self, binds: int) -> str:
        """Itself, in brackets where it would fall apart."""
        return self.written if self.binds >= binds else f"({self.written})"


class Formulas:
    """Writes arithmetics as formulas; `settings` are given numbers, by their cells (`$B$7`)."""

    def __init__(self, layout: Layout, settings: Mapping[str, float]) -> None:
        self.layout = layout
        self._settings = settings

    def of(self, arithmetic: Expression) -> str:
        """The formula. Raises NoFormula where a sheet cannot follow."""
        return self._text((arithmetic,)).written

    def list_of(self, cells: Sequence[Cell]) -> str:
        """Cells as the arguments of a function: a range where they are neighbours."""
        try:
            return self._cells(cells).written
        except NoFormula:
            return ",".join(map(self.of, cells))

    def _text(self, lanes: Sequence[Any]) -> Text:
        """Arithmetics of one form, written as one with ranges for what differs; or a single one."""
        first = lanes[0]
        if any(type(lane) is not type(first) for lane in lanes):
            raise NoFormula
        match first:
            case Cell():
                return self._cells(lanes)
            case Number():
                if any(lane.known != first.known for lane in lanes):
                    raise NoFormula
                return self._number(first)
            case Difference() | Quotient():
                return self._of_two(lanes, "-" if isinstance(first, Difference) else "/")
            case Product():
                factors = [self._text(each) for each in _turned(lanes)]
                written = "*".join(factor.within(MULTIPLIED) for factor in factors)
                return Text(written, MULTIPLIED, _shape(factors))
            case Called():
                if first.pattern not in CALLS:
                    raise NoFormula
                inner = self._text([lane.argument for lane in lanes])
                return Text(CALLS[first.pattern].format(inner.written), ATOM, inner.shape)
            case Sum() if len(lanes) > 1:
                terms = [self._text(each) for each in _turned(lanes)]
                return Text(_joined(terms), SUMMED, _shape(terms))
        if len(lanes) > 1:
            raise NoFormula
        return self._single(first)

    def _single(self, made: Expression) -> Text:
        match made:
            case Sum():
                return self._sum(made.parts)
            case Share():
                return self._share(made)
            case Largest():
                return Text(f"MAX({self.list_of(made.among)})")
            case Standardised():
                every = self._text(made.parts).written
                own = self._text((made.parts[made.picked],)).within(MULTIPLIED)
                spread = f"SQRT(VARP({every})+{self.of(Number(made.epsilon))})"
                return Text(f"({own}-AVERAGE({every}))/{spread}", MULTIPLIED)
            case Indicator():
                return Text(f"IF({self.of(made.pointer)}={made.id},1,0)")
        raise NoFormula

    def _number(self, number: Number) -> Text:
        known = float(number.known)
        for cell, value in self._settings.items():
            if number.written == rf"\sqrt{{{value:g}}}":
                return Text(f"SQRT({cell})")
            if known == value:
                return Text(cell)
        if not math.isfinite(known):
            raise NoFormula
        written = str(int(known)) if known.is_integer() and abs(known) < 1e15 else repr(known)
        return Text(written.upper(), SUMMED if known < 0 else ATOM)

    def _cells(self, cells: Sequence[Cell]) -> Text:
        places = [self.layout.at(cell) for cell in cells]
        first, last = places[0], places[-1]
        if first == last and all(place == first for place in places):
            return Text(first.written)
        rows, columns = range(first.row, last.row + 1), range(first.column, last.column + 1)
        if [*product(rows, columns)] != places:
            raise NoFormula
        return Text(f"{first.written}:{last.written}", ATOM, (len(rows), len(columns)))

    def _of_two(self, lanes: Sequence[Difference | Quotient], sign: str) -> Text:
        left, right = (self._text(each) for each in _turned(lanes))
        binds = SUMMED if sign == "-" else MULTIPLIED
        written = f"{left.within(binds)}{sign}{right.within(binds + 1)}"
        return Text(written, binds, _shape((left, right)))

    def _sum(self, parts: Sequence[Expression]) -> Text:
        terms: list[Text] = []
        for _, group in groupby(parts, key=type):
            alike = list(group)
            try:
                terms.append(self._added(alike))
            except NoFormula:
                terms += [self._text((part,)) for part in alike]
        return terms[0] if len(terms) == 1 else Text(_joined(terms), SUMMED)

    def _added(self, alike: Sequence[Expression]) -> Text:
        if len(alike) == 1:
            return self._text(alike)
        if isinstance(alike[0], Product) and len(alike[0].parts) == 2:
            left, right = (self._text(each) for each in _turned(alike))
            if left.shape and right.shape:
                return _dot(left, right)
        every = self._text(alike)
        if not every.shape:
            raise NoFormula
        return Text(f"{'SUM' if isinstance(alike[0], Cell) else 'SUMPRODUCT'}({every.written})")

    def _share(self, made: Share) -> Text:
        every: Sequence[Any] = made.parts
        own = every[made.picked]
        if not isinstance(own, Exponential):
            top = self._text((own,)).within(MULTIPLIED)
            return Text(f"{top}/{self._sum(every).within(ATOM)}", MULTIPLIED)
        scores = [each.score for each in every]
        score = self._text((own.score,)).within(SUMMED)
        largest = f"MAX({self.list_of(scores)})"
        try:
            total = f"SUMPRODUCT(EXP({self._text(scores).written}-{largest}))"
        except NoFormula:  # scores that do not stand side by side, such as those of several heads
            total = "(" + "+".join(f"EXP({self.of(each)}-{largest})" for each in scores) + ")"
        return Text(f"EXP({score}-{largest})/{total}", MULTIPLIED)


def _turned(lanes: Sequence[Expression]) -> list[tuple[Expression, ...]]:
    """The parts of arithmetics of one form, those in the same place together."""
    if len({len(lane.parts) for lane in lanes}) > 1:
        raise NoFormula
    return list(zip(*(lane.parts for lane in lanes), strict=True))


def _shape(texts: Sequence[Text]) -> tuple[int, int] | None:
    shapes = {text.shape for text in texts if text.shape}
    if len(shapes) > 1:
        raise NoFormula
    return next(iter(shapes), None)


def _dot(left: Text, right: Text) -> Text:
    """A dot product: of two rows or columns, or of a row with a column."""
    if left == right:
        return Text(f"SUMSQ({left.written})")
    if left.shape == right.shape:
        return Text(f"SUMPRODUCT({left.written},{right.written})")
    if left.shape[::-1] != right.shape or 1 not in left.shape:
        raise NoFormula
    row, column = (left, right) if left.shape[0] == 1 else (right, left)
    return Text(f"SUM(MMULT({row.written},{column.written}))")


def _joined(terms: Sequence[Text]) -> str:
    return "+".join(term.written for term in terms).replace("+-", "-")
