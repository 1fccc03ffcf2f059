"""What a function reaches as it is written: no clock, environment, chance, file or log.

What it makes is cached for everybody by what it has read, and none of these is tracked. So its code
is looked through before it runs first, with all functions of the app that it names, also in
branches that it seldom takes. What it asks of a session is refused while it runs (`isolation.py`).

    check_code("The card 'apples'", function_identity(apples), [apples])
"""

import builtins
import datetime
import dis
import os
import random
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import resolve_name
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from . import isolation, session, source
from .function_identity import FunctionIdentity
from .isolation import Misdeclared

ROOMS: list[str] = []
"""The modules whose names begin so are looked through, beside a page's own script: an app says
which. What else a card calls has to be tested by itself.
"""
CLOCK, CHANCE = "the clock", "chance, unless it is drawn with a seed, by a generator of its own"
ENVIRONMENT, FILE = "the environment", "a file, or what else is outside of the program"
LOG = "the server’s log, which no visitor reads: yield `text(…)` in its place"
UNTRACKED = "what tracks nothing"
SEEDED = {random.Random, np.random.default_rng, np.random.Generator}
OF_MODULES: dict[ModuleType, str] = {
    time: CLOCK,
    random: CHANCE,
    secrets: CHANCE,
    uuid: CHANCE,
    np.random: CHANCE,
    socket: FILE,
    subprocess: FILE,
    tempfile: FILE,
}
"""Modules of which a card reaches nothing."""
OF_IMPORTS = {each.__name__: told for each, told in OF_MODULES.items()}
OF_OBJECTS: dict[int, str] = {
    **{id(each): ENVIRONMENT for each in (os.environ, os.getenv, os.getcwd, os.getpid)},
    **{id(each): FILE for each in (open, input, os.listdir, os.scandir, os.stat, os.walk)},
    id(os.urandom): CHANCE,
    id(print): LOG,
    id(source.tracked_later): UNTRACKED,
    id(source.current): UNTRACKED,
    id(session.the_session): UNTRACKED,
    id(isolation.gate_opened): UNTRACKED,
}
OF_CLASSES: dict[type, tuple[set[str], str]] = {
    datetime.date: ({"now", "utcnow", "today"}, CLOCK),
    PurePath: (
        {"read_text", "read_bytes", "open", "stat", "exists", "is_file", "is_dir", "iterdir",
         "glob", "rglob", "cwd", "home"},
        FILE,
    ),
}  # fmt: skip
OF_ANYTHING = {"read_text": FILE, "read_bytes": FILE, "_current": UNTRACKED,
              "_values": UNTRACKED, "__globals__": UNTRACKED}  # fmt: skip
"""Attributes of whatever it is."""
_known: dict[FunctionIdentity, str] = {}
"""What is wrong with functions that were looked through; "" for nothing."""


_clean: set[CodeType] = set()
"""Codes that were looked through, and close over nothing: what they name, they name always."""


def never_reached(*objects: Any) -> None:
    """What an app has that tracks nothing, and that no card may name."""
    OF_OBJECTS.update({id(each): UNTRACKED for each in objects})
    _kept.extend(objects)


_kept: list[Any] = []
"""So that no other object gets their ids."""


class Wrong(str):
    """In words, what a code names that it must not."""


def check_code(called: str, identity: FunctionIdentity, made: Iterable[Any]) -> None:
    """Raises Misdeclared where functions of a page, which have this identity, name what is not
    tracked; `called` begins the sentence that says so.
    """
    if identity not in _known:
        seen: set[CodeType] = set()
        functions = filter(None, map(_function_of, made))
        _known[identity] = next((one for each in functions for one in _each_wrong(each, seen)), "")
    if wrong := _known[identity]:
        raise Misdeclared(f"{called} reaches {wrong}. {isolation.INSTEAD[0]}")


def _function_of(made: Any) -> FunctionType | None:
    """The function that is called, through what is wrapped around it; none of a source, which may
    ask for anything, since what it is gets tracked.
    """
    if isinstance(made, source.Source):
        return None
    while not isinstance(made, FunctionType):
        inner = getattr(made, "func", None) if isinstance(made, partial) else None
        inner = inner or getattr(made, "__wrapped__", None)
        inner = inner or (made.__func__ if isinstance(made, MethodType) else None)
        if inner is None:
            return None
        made = inner
    return made


def _each_wrong(function: FunctionType, seen: set[CodeType]) -> Iterator[str]:
    """What is wrong with a function, and with those that it names."""
    code = function.__code__
    if code in seen or code in _clean:
        return
    seen.add(code)
    names = {**vars(builtins), **function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # nothing was put into it yet
            names.pop(name, None)
    for found, where in _named(code, names):
        if isinstance(found, Wrong):
            yield f"{found}, in {where}"
            return
        for inner in _ours(found, function):
            yield from _each_wrong(inner, seen)
    if not code.co_freevars:
        _clean.add(code)


def _ours(found: Any, by: FunctionType) -> Iterator[FunctionType]:
    """Functions to look through, of what a function names."""
    if isinstance(found, type):
        inner = [each for each in vars(found).values() if isinstance(each, FunctionType)]
    else:
        function = _function_of(found)
        inner = [] if function is None else [function]
    for each in inner:
        is_ours = each.__module__.startswith(tuple(ROOMS)) or each.__globals__ is by.__globals__
        if is_ours and not getattr(each, "for_one_visitor", False):
            yield each


def _named(code: CodeType, names: dict[str, Any]) -> Iterator[tuple[Any, str]]:
    """What a code names, each object, or in words what it must not, with where that is."""
    where = f"`{code.co_name}` of {PurePath(code.co_filename).name}"
    missing = object()
    before: Any = missing
    imported: Any = missing
    its_own = {*code.co_varnames, *code.co_cellvars}
    names = {name: each for name, each in names.items() if name not in its_own}
    every = [one for one in dis.get_instructions(code) if one.opname not in NO_STEPS]
    for at, each in enumerate(every):
        now: Any = missing
        if each.opname in LOADS:
            now = names.get(each.argval, missing)
        elif each.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            if wrong := _wrong_attribute(before, each.argval):
                yield Wrong(wrong), where
            if isinstance(before, ModuleType):
                now = vars(before).get(each.argval, missing)
            elif isinstance(before, type):
                now = getattr(before, each.argval, missing)
        elif each.opname == "IMPORT_NAME":
            if each.argval in OF_IMPORTS:
                yield Wrong(f"`{each.argval}`, {OF_IMPORTS[each.argval]}"), where
            level, taken = (one.argval for one in every[at - 2 : at])
            imported = now = _imported(each.argval, level, bool(taken), names)
        elif each.opname == "IMPORT_FROM":
            now = getattr(imported, each.argval, missing)
        elif each.opname.startswith("STORE_") and every[at - 1].opname.startswith("IMPORT_"):
            names[each.argval] = before
        if now is not missing:
            if wrong := _wrong_object(now):
                yield Wrong(f"`{each.argval}`, {wrong}"), where
            if any(now is one for one in SEEDED) and _is_called_alone(every[at + 1 :]):
                yield Wrong(f"`{each.argval}()` without a seed, {CHANCE}"), where
            yield now, where
        before = now
        for inner in [each.argval] if isinstance(each.argval, CodeType) else []:
            yield from _named(inner, names)


LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FAST",
         "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_FROM_DICT_OR_GLOBALS",
         "LOAD_FROM_DICT_OR_DEREF")  # fmt: skip
NO_STEPS = {"CACHE", "EXTENDED_ARG", "PRECALL", "PUSH_NULL"}
"""Instructions that name nothing; which there are differs from one Python to another."""


def _imported(name: str, level: int, takes_from: bool, names: Mapping[str, Any]) -> Any:
    """The module that an import within a function is of, where it is loaded, or is the app's."""
    try:
        full = resolve_name("." * level + name, names.get("__package__"))
        if not takes_from and not level:  # `import a.b` names a
            full = full.partition(".")[0]
        return import_module(full) if full.startswith(tuple(ROOMS)) else sys.modules.get(full)
    except ImportError:
        return None


def _is_called_alone(then: Sequence[dis.Instruction]) -> bool:
    """Whether what comes next is a call without any argument."""
    return bool(then) and then[0].opname == "CALL" and then[0].arg == 0


def _wrong_attribute(of: Any, name: str) -> str:
    """In words, what an attribute is that a card must not take; "" for any other."""
    if name in OF_ANYTHING:
        return f"`{name}`, {OF_ANYTHING[name]}"
    for kind, (wrong, told) in OF_CLASSES.items():
        if name in wrong and (
            isinstance(of, kind) or (isinstance(of, type) and issubclass(of, kind))
        ):
            return f"`{name}`, {told}"
    return ""


def _wrong_object(one: Any) -> str:
    if id(one) in OF_OBJECTS:
        return OF_OBJECTS[id(one)]
    function = getattr(one, "__func__", None)
    if id(function) in OF_OBJECTS:
        return OF_OBJECTS[id(function)]
    if (
        isinstance(one, ModuleType)
        or not callable(one)
        or (isinstance(one, type) and one in SEEDED)
    ):
        return ""
    module = getattr(one, "__module__", None) or getattr(type(one), "__module__", "")
    of_self = type(getattr(one, "__self__", None))
    for each, told in OF_MODULES.items():
        name = each.__name__
        if module == name or (of_self is random.Random and each is random):
            return "" if one in SEEDED else told
    return ""


def for_one_visitor(made: Callable) -> Callable:
    """Marks a function that runs for one visitor alone, such as what a button does or a slice of
    long work: it may reach anything.
    """
    made.for_one_visitor = True  # type: ignore[attr-defined]
    return made
