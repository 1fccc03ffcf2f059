"""Code that is written with numpy's arrays: found by what it mentions, and given them.

numpy itself is never imported: where a learner's code needs it, the learner's code has it.
"""

import inspect
from collections.abc import Callable, Iterator
from types import CodeType, ModuleType
from typing import Any

import torch
from torch import Tensor, nn


def array_of(given: object) -> object:
    """A tensor as an array that shares its numbers; anything else as it is."""
    return given.numpy() if isinstance(given, Tensor) else given


def kinds_expected(function: Callable) -> list[bool]:
    """Whether code is given arrays (True) or tensors (False), what it more likely expects first.

    Code that mentions numpy and torch nowhere expects no tensors.
    """
    mentioned = set() if isinstance(function, nn.Module) else set(_packages(function, set()))
    if isinstance(function, nn.Module) or mentioned == {"torch"}:
        return [False]
    return [True] if mentioned == {"numpy"} else [False, True]


def _packages(what: Any, known: set[int]) -> Iterator[str]:
    """The packages that code mentions, and those that the code it calls does."""
    if id(what) in known:
        return
    known.add(id(what))
    what = inspect.unwrap(getattr(what, "func", what)) if callable(what) else what
    if isinstance(what, type):
        for each in vars(what).values():
            yield from _packages(getattr(each, "__func__", each), known)
        return
    code = getattr(what, "__code__", None)
    if not isinstance(code, CodeType):
        if type(what).__module__ not in ("builtins", "numpy", "torch"):  # an object that is called
            yield from _packages(type(what), known)
        return
    around = getattr(what, "__globals__", {})
    beside = dict(zip(code.co_freevars, getattr(what, "__closure__", None) or (), strict=False))
    for name in _mentioned(code):
        if name in ("numpy", "torch"):
            yield name
        value = around.get(name)
        if name in beside:
            value = _content(beside[name])
        yield from _package_of(value)
        is_own = getattr(value, "__module__", "") == around.get("__name__", "")
        if is_own and (inspect.isfunction(value) or isinstance(value, type)):
            yield from _packages(value, known)
    for kind in getattr(what, "__annotations__", {}).values():
        yield from _package_of(kind)


def _content(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty yet
        return None


def _mentioned(code: CodeType) -> Iterator[str]:
    """The names in code, and in the code within."""
    yield from (*code.co_names, *code.co_freevars)
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _mentioned(each)


def _package_of(value: object) -> Iterator[str]:
    """Whether it is torch, or numpy, or something of theirs."""
    home = value.__name__ if isinstance(value, ModuleType) else _home(value)
    package = home.partition(".")[0]
    if package in ("numpy", "torch"):
        yield package


def _home(value: object) -> str:
    for each in (value, type(value)):
        home = getattr(each, "__module__", None)
        if isinstance(home, str) and home != "builtins":
            return home
    return ""


def widths_of(function: Any) -> list[int]:
    """The widths of the tables that an object keeps, which is no module of torch's."""
    holder = getattr(function, "__self__", function)
    kept = getattr(holder, "__dict__", {}).values()
    shapes = (getattr(each, "shape", ()) for each in kept if not isinstance(each, type))
    found = [shape for shape in shapes if isinstance(shape, tuple | torch.Size) and len(shape) == 2]
    return list(dict.fromkeys(int(n) for shape in found for n in shape))
