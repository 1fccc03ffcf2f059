"""How a number is computed again, as data: a recipe is an expression over the steps of traces.

    qkv.scores[1, 1]                a cell of a step in the trace of a lesson
    qkv(1).query_scores             in the trace that has row 1 expanded into steps of its own
    journey_123.qkv.weights         of another example than the recipe's own
    printed.omega_all[0]            what the example's notebook prints
    settings.heads.d_head           a setting of the example
    row_sums(qkv.weights) / 2       functions are those of `functions.py`, signs are Python's

Names alone stand for the recipes beside it. `recipes.toml` has those of the printed results.
"""

from __future__ import annotations

import ast
import operator
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ..examples import EXAMPLES
from .printed import NOTEBOOKS, notebook

if TYPE_CHECKING:
    from ..trace import Trace

SIGNS = {
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

    def first_cell(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The first cell of the part, in a step of this shape; every place is counted from 0."""
        inside = (at % size for at, size in zip(self.index, shape, strict=False))
        return (*inside, *[0] * (len(shape) - len(self.index)))


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

    def value(self, trace_of: TraceOf, named: Mapping[str, Any] | None = None) -> Any:
        """What it gives with these traces, and with the values of the recipes beside it."""
        return _Values(self, trace_of, named or {}).of(self.tree)

    def read(self, trace_of: TraceOf) -> Any:
        """The same, or None where these traces have no such steps, or of shapes that do not fit."""
        try:
            return self.value(trace_of)
        except (KeyError, IndexError, TypeError, ValueError, RuntimeError):
            return None

    def place_at(self, node: ast.AST) -> Place | None:
        """The place that a part of the expression names; None where it is no place."""
        match node:
            case ast.Subscript(of, at) if (place := self.place_at(of)) and not place.index:
                index = _whole_numbers(at)
                return index and replace(place, index=index)
            case ast.Attribute(of, step):
                query = None
                if isinstance(of, ast.Call) and isinstance(of.args[0], ast.Constant):
                    of, query = of.func, of.args[0].value
                match of:
                    case ast.Name(lesson) if lesson != "settings":
                        return Place(self.example, lesson, query, step)
                    case ast.Attribute(ast.Name(example), lesson) if example in EXAMPLES:
                        return Place(example, lesson, query, step)
        return None

    def _places(self, node: ast.AST) -> Iterator[Place]:
        if place := self.place_at(node):
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


@dataclass(frozen=True)
class _Values:
    """The values of a recipe's parts."""

    recipe: Recipe
    trace_of: TraceOf
    named: Mapping[str, Any]

    def of(self, node: ast.AST | None) -> Any:
        """Raises what torch raises where parts do not fit, KeyError for a name that is none."""
        if place := self.recipe.place_at(node):
            return self._at(place)
        match node:
            case None | ast.Constant():
                return node and node.value
            case ast.Name(name):
                return self.named[name]
            case ast.List(parts):
                return [self.of(part) for part in parts]
            case ast.Tuple(parts):
                return tuple(self.of(part) for part in parts)
            case ast.Slice(first, end):
                return slice(self.of(first), self.of(end))
            case ast.Subscript(of, at):
                return self.of(of)[self.of(at)]
            case ast.UnaryOp(sign, of):
                return SIGNS[type(sign)](self.of(of))
            case ast.BinOp(left, sign, right) | ast.Compare(left, [sign], [right]):
                return SIGNS[type(sign)](self.of(left), self.of(right))
            case ast.Call(ast.Name(name), parts):
                return self._called(name, parts)
            case ast.Attribute():
                _, _, path = ast.unparse(node).partition("settings.")
                return attrgetter(path)(EXAMPLES[self.recipe.example])
        raise ValueError(f"a recipe has no {ast.unparse(node)}")

    def _called(self, name: str, parts: list[ast.expr]) -> Any:
        from . import functions  # here, so that torch is imported when a number is asked for

        if name not in functions.OF_STEPS:
            return functions.FUNCTIONS[name](*map(self.of, parts))
        place = self.recipe.place_at(parts[0])
        others = map(self.of, parts[1:])
        return functions.OF_STEPS[name](self.trace_of(place), place, *others)

    def _at(self, place: Place) -> Any:
        if place.lesson != "printed":
            value = self.trace_of(place)[place.step].value
            return value[place.index] if place.index else value
        value = notebook(EXAMPLES[place.example].notebook).results[place.step].values
        for at in place.index:
            value = value[at]
        return self._called("numbers", [ast.Constant(value)]) if isinstance(value, list) else value


def _recipes() -> dict[str, dict[str, Recipe]]:
    given = tomllib.loads(files(__package__).joinpath("recipes.toml").read_text(encoding="utf-8"))
    found: dict[str, dict[str, Recipe]] = {name: {} for name in NOTEBOOKS}
    for example, texts in given.items():
        of_notebook = found[EXAMPLES[example].notebook]
        of_notebook |= {id: Recipe(text, example) for id, text in texts.items()}
    return found


RECIPES = _recipes()
"""How each printed result is computed: by notebook and result."""
