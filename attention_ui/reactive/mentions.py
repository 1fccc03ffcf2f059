"""What the code of a page mentions: to say which control nothing reads, and which question nobody
is asked. It is looked at as it is written, also in branches that are seldom taken.
"""

from collections.abc import Collection
from dataclasses import is_dataclass
from functools import partial
from types import CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

from . import code_check


class Mentions:
    """All that functions name, themselves or through other functions of the app that they name."""

    def __init__(self, made: Collection[Any]) -> None:
        self.words: set[str] = set()
        """Attributes, global names, and texts."""
        self._objects: dict[int, Any] = {}
        self._codes: set[CodeType] = set()
        self._ahead = [*made]
        self._scripts = {id(each.__globals__) for each in made if isinstance(each, FunctionType)}
        while self._ahead:
            self._look(self._ahead.pop())

    def has(self, one: Any) -> bool:
        """Whether an object is named, or stands in one that is."""
        return id(one) in self._objects

    def _look(self, one: Any) -> None:
        if id(one) in self._objects:
            return
        self._objects[id(one)] = one
        match one:
            case FunctionType():
                if self._is_ours(one.__module__) or id(one.__globals__) in self._scripts:
                    self._look_through(one)
            case MethodType():
                self._ahead += [one.__func__, one.__self__]
            case partial():
                self._ahead += [one.func, *one.args, *one.keywords.values()]
            case str() | ModuleType():
                self.words |= {one} if isinstance(one, str) else set()
            case dict() | MappingProxyType():
                self._ahead += [*one.keys(), *one.values()]
            case list() | tuple() | set() | frozenset():
                self._ahead += [*one]
            case type():
                if self._is_ours(one.__module__):
                    self._ahead += vars(one).values()
            case property():
                self._ahead += [one.fget]
            case _:
                # No page or card, which has all controls of its page.
                is_plain = is_dataclass(one) and not hasattr(type(one), "made_by")
                if is_plain and self._is_ours(type(one).__module__):
                    self._ahead += [type(one), *getattr(one, "__dict__", {}).values()]
        if callable(one) and (inner := getattr(one, "__wrapped__", None)) is not None:
            self._ahead.append(inner)

    def _is_ours(self, module: str) -> bool:
        return module.startswith(tuple(each.partition(".")[0] + "." for each in code_check.ROOMS))

    def _look_through(self, function: FunctionType) -> None:
        cells = [each.cell_contents for each in function.__closure__ or () if _is_full(each)]
        self._ahead += [*cells, *(function.__defaults__ or ())]
        self._ahead += (function.__kwdefaults__ or {}).values()
        codes = [function.__code__]
        while codes:
            code = codes.pop()
            if code in self._codes:
                continue
            self._codes.add(code)
            codes += [each for each in code.co_consts if isinstance(each, CodeType)]
            self._ahead += [each for each in code.co_consts if isinstance(each, str | tuple)]
            self.words |= {*code.co_names, *code.co_varnames}
            named = [function.__globals__[n] for n in code.co_names if n in function.__globals__]
            for each in named:
                if isinstance(each, ModuleType) and self._is_ours(f"{each.__name__}."):
                    self._ahead += [vars(each)[n] for n in code.co_names if n in vars(each)]
            self._ahead += named


def _is_full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
