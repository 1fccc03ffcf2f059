"""`python -m attention_core.operations`: every operation and piece of arithmetic, in words."""

import inspect
import sys
from collections.abc import Iterable
from itertools import groupby
from textwrap import fill
from types import ModuleType

from .. import expression
from ..expression import Expression
from . import Operation, __all__


def listed() -> str:
    """All operations by their file, then all pieces of arithmetic."""
    package = sys.modules[Operation.__module__.rpartition(".")[0]]
    operations = [getattr(package, name) for name in __all__ if name != "Operation"]
    operations.sort(key=lambda each: each.__module__)
    parts = [
        _part(sys.modules[module], each)
        for module, each in groupby(operations, lambda kind: kind.__module__)
    ]
    kinds = [e for n, e in vars(expression).items() if isinstance(e, type) and n[0] != "_"]
    pieces = [each for each in kinds if issubclass(each, Expression) and each is not Expression]
    return "\n\n".join([*parts, _part(expression, pieces)])


def _part(module: ModuleType, kinds: Iterable[type]) -> str:
    head = f"{_first(module)} ({module.__name__.replace('.', '/')}.py)"
    return "\n".join([fill(head, 100), *map(_line, kinds)])


def _line(kind: type) -> str:
    call = f"{kind.__name__}({', '.join(inspect.signature(kind).parameters)})"
    return fill(f"{call}: {_first(kind)}", 100, initial_indent="  ", subsequent_indent="      ")


def _first(documented: object) -> str:
    """The first paragraph of a docstring, in one line."""
    return " ".join(inspect.getdoc(documented).partition("\n\n")[0].split())


if __name__ == "__main__":
    print(listed())
