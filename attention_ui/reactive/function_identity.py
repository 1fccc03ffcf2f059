"""When two functions are one: as they are written, and with what they close over.

What a function has made is cached by the function. Two of one factory, or two that a loop has made,
are written alike and close over other values: they are two.

    function_identity(lambda: 1) != function_identity(lambda: 2)
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from .control import Values
from .isolation import Misdeclared

PLAIN = (bool, int, float, complex, str, bytes, type(None), range)


ALONE = "alone", object()
"""In the place of what cannot be told from others."""
told_apart_by: dict[type, Callable[[Any], Any]] = {}
"""How an app tells things of a class apart: hashable, and the same for what is the same."""
never_closed_over: dict[type, str] = {Values: "`v`"}
"""Classes of what is one visitor's, each with the name by which a function has to ask for it."""


class FunctionIdentity:
    """What tells functions from others; its hash is worked out once, as it is asked for often."""

    __slots__ = ("_hash", "is_alone", "told")

    def __init__(self, told: tuple) -> None:
        self.told, self._hash = told, hash(told)
        self.is_alone = _has_alone(told)
        """Whether one closes over what cannot be told from others: nothing is kept of it."""

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionIdentity) and self.told == other.told


def function_identity(*made: Any) -> FunctionIdentity:
    """What tells functions, and what else a page gives in their place, from others. Raises
    Misdeclared for one that closes over what is one visitor's, which it has to ask for by name.
    """
    return FunctionIdentity(tuple(_identity(each, {}) for each in made))


def _has_alone(told: Any) -> bool:
    return told is ALONE or (isinstance(told, tuple) and any(map(_has_alone, told)))


def _identity(one: Any, above: dict[int, int]) -> Any:
    """`above` has those that it stands in, by their ids: a function may close over itself."""
    if isinstance(one, PLAIN):
        return type(one), repr(one) if isinstance(one, float | complex) else one
    if id(one) in above:
        return "as above", above[id(one)]
    above = above | {id(one): len(above)}

    def each(many: Any) -> tuple:
        return tuple(_identity(part, above) for part in many)

    for kind, told in told_apart_by.items():
        if isinstance(one, kind):
            return kind, told(one)
    for kind, name in never_closed_over.items():
        if isinstance(one, kind):
            raise Misdeclared(
                f"a function of a page closes over a {type(one).__name__}, which is one visitor’s: "
                f"let it ask for {name} by name instead"
            )
    match one:
        case FunctionType():
            return one.__code__, *each((one.__defaults__, one.__kwdefaults__, _closed_over(one)))
        case MethodType():
            return MethodType, *each((one.__func__, one.__self__))
        case partial():
            return partial, *each((one.func, one.args, one.keywords))
        case Enum() | type() | ModuleType() | BuiltinFunctionType():
            return (one,)
        case Mapping():
            return type(one), *each(item for pair in one.items() for item in pair)
        case Sequence():
            return type(one), *each(one)
        case Set():
            return type(one), *sorted(each(one), key=repr)
    if is_dataclass(one):
        return type(one), *each(getattr(one, field.name) for field in fields(one))
    if hasattr(one, "__wrapped__"):  # such as what functools has cached
        return type(one), _identity(one.__wrapped__, above)
    return ALONE


def _closed_over(function: FunctionType) -> tuple:
    found = []
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # nothing was put into it yet
            found.append(object())
    return tuple(found)
