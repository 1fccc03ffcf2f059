"""How a number is computed again, as data: a recipe is an expression over the steps of traces.

    qkv.scores[1, 1]                a cell of a step in the trace of a lesson
    qkv(1).query_scores             in the trace that has row 1 expanded into steps of its own
    journey_123.qkv.weights         of another example than the recipe's own
    printed.omega_all[0]            what the example's notebook prints
    settings.heads.d_head           a setting of the example
    sum(qkv.weights, -1) / 2        functions are those of `functions.py`, many of them torch's own

Names alone stand for the recipes beside it. `recipes.toml` has those of the printed results.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import attrgetter, getitem
from typing import TYPE_CHECKING, Any

from ..examples import EXAMPLES
from ..utils.toml_file import read_toml
from .printed import NOTEBOOKS, notebook

if TYPE_CHECKING:
    from ..trace import Trace

SIGNS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.Gt: operator.gt,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}


@dataclass(frozen=True)
class Place:
    """A part of a step in the trace of a lesson on an example."""

    example: str
    lesson: str
    """Whose trace it is: a key of `building.BUILDERS`, or `printed`."""
    query: int | None
    """The row that must be expanded into steps of its own, None for none."""
    step: str
    index: tuple[int, ...] = ()
    """The leading places of the part: `(0,)` is row 0, `()` all of it."""


TraceOf = Callable[[Place], "Trace"]


@dataclass(frozen=True)
class Recipe:
    """An expression, and the example whose name is left out in it."""

    text: str
    example: str

    @cached_property
    def tree(self) -> ast.expr:
        """The expression, parsed."""
        return ast.parse(self.text.strip(), mode="eval").body

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """The parts of traces that it reads."""
        return tuple(each for each in self._places(self.tree) if each.lesson != "printed")

    @property
    def place(self) -> Place:
        """The part where its number stands. Raises IndexError where it reads no trace."""
        return self.places[0]

    def read(self, trace_of: TraceOf) -> Any:
        """Its value, or None where these traces lack a step or have shapes that do not fit."""
        try:
            return self.value(trace_of)
        except (KeyError, IndexError, TypeError, ValueError, RuntimeError):
            return None

    def value(self, trace_of: TraceOf, named: Mapping[str, Any] | None = None) -> Any:
        """What it gives with these traces and `named` values. Raises KeyError for no name."""
        from .functions import FUNCTIONS, OF_STEPS  # torch is imported when a number is asked for

        def of(node: ast.AST) -> Any:
            if place := self._place_at(node):
                return at(place)
            match node:
                case ast.Constant(value):
                    return value
                case ast.Name(name):
                    return (named or {})[name]
                case ast.List(parts):
                    return [of(part) for part in parts]
                case ast.Tuple(parts):
                    return tuple(of(part) for part in parts)
                case ast.Slice(first, end):
                    return slice(first and of(first), end and of(end))
                case ast.Subscript(whole, index):
                    return of(whole)[of(index)]
                case ast.UnaryOp(sign, part):
                    return SIGNS[type(sign)](of(part))
                case ast.BinOp(left, sign, right) | ast.Compare(left, [sign], [right]):
                    return SIGNS[type(sign)](of(left), of(right))
                case ast.Call(ast.Name(name), [step, *parts]) if name in OF_STEPS:
                    place = self._place_at(step)
                    return OF_STEPS[name](trace_of(place), place, *map(of, parts))
                case ast.Call(ast.Name(name), parts, options):
                    named_parts = {option.arg: of(option.value) for option in options}
                    return FUNCTIONS[name](*map(of, parts), **named_parts)
                case ast.Attribute() if (text := ast.unparse(node)).startswith("settings."):
                    return attrgetter(text.removeprefix("settings."))(EXAMPLES[self.example])
            raise ValueError(f"a recipe has no {ast.unparse(node)}")

        def at(place: Place) -> Any:
            if place.lesson != "printed":
                value = trace_of(place)[place.step].value
                return value[place.index] if place.index else value
            printed: Any = notebook(EXAMPLES[place.example].notebook).results[place.step].values
            value = reduce(getitem, place.index, printed)
            return FUNCTIONS["numbers"](value) if isinstance(value, list) else value

        return of(self.tree)

    def _place_at(self, node: ast.AST) -> Place | None:
        """The place that a part of the expression names; None where it is no place."""
        match node:
            case ast.Subscript(of, at) if (place := self._place_at(of)) and not place.index:
                index = _whole_numbers(at)
                return replace(place, index=index) if index else None
            case ast.Attribute(of, step):
                query: Any = None
                whole: ast.expr = of
                if isinstance(of, ast.Call) and isinstance(of.args[0], ast.Constant):
                    whole, query = of.func, of.args[0].value
                match whole:
                    case ast.Name(lesson) if lesson != "settings":
                        return Place(self.example, lesson, query, step)
                    case ast.Attribute(ast.Name(example), lesson) if example in EXAMPLES:
                        return Place(example, lesson, query, step)
        return None

    def _places(self, node: ast.AST) -> Iterator[Place]:
        if place := self._place_at(node):
            yield place
        else:
            for child in ast.iter_child_nodes(node):
                yield from self._places(child)


def _whole_numbers(node: ast.AST) -> tuple[int, ...] | None:
    """The index that is written; None where it has to be computed, or is a slice."""
    try:
        index = ast.literal_eval(node)
    except ValueError:
        return None
    return index if isinstance(index, tuple) else (index,)


RECIPES: dict[str, dict[str, Recipe]] = {name: {} for name in NOTEBOOKS}
"""How each printed result is computed: by notebook and result."""
for _example, _texts in read_toml(__package__, "recipes.toml").items():
    RECIPES[EXAMPLES[_example].notebook] |= {id: Recipe(t, _example) for id, t in _texts.items()}
