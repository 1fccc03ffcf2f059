"""What people first try: a public function refuses in words what does not fit. Needs no torch."""

import inspect
import itertools
import numbers
import types
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cache, lru_cache, wraps
from importlib import import_module
from operator import index as as_index
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

SAID = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a text",
    Path: "a path",
    type(None): "None",
    Callable: "a function",
}
LONG = 60
"""Letters of a value that are repeated in a message."""
MISSING = object()
MOST_FOUND = 1_000
_FOUND: dict[tuple[int, int], tuple[object, object]] = {}
Asked = TypeVar("Asked", bound=Callable)


class NotThere(KeyError):
    """A name that is not among those that there are, in words."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words

    def __str__(self) -> str:
        return self.words


class NoStep(NotThere):
    """A step, or an axis, that a trace has not."""


class Known(dict):
    """Things by their names; a name that is not there is told those that are. `kind`: a word."""

    kind = "name"

    def __missing__(self, name: object) -> None:
        raise NotThere(f"there is no {self.kind} {shown(name)}{among(name, self)}")


def known(kind: str, things: Mapping) -> Known:
    """Things by their names, of which each is one of a kind, such as "example"."""
    known = Known(things)
    known.kind = kind
    return known


def among(name: object, names: Iterable[str]) -> str:
    """The names that there are, the likely one first: the end of a message."""
    names = [*names]
    like = get_close_matches(str(name), names, 1)
    likely = f": did you mean {like[0]!r}?" if like else "."
    return f"{likely} There {'are ' + ', '.join(names) if names else 'is none'}"


def shown(value: object) -> str:
    """A value in a message: a tensor by its shape, what is long by its beginning."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"a tensor of {' × '.join(map(str, shape)) or 'one number'}"
    told = repr(value)
    return told if len(told) <= LONG else f"{told[:LONG]}…"


def validated(asked: Asked) -> Asked:
    """A public function, or a class of settings, that looks at each argument first: a list is taken
    for a tuple, and numpy's numbers for Python's. Raises ValueError, with the argument, the value
    and what it must be, for what is misspelt, missing or of another kind than its type says; and
    where a trace has not the steps that the function begins with.
    """
    is_class = inspect.isclass(asked)
    function = asked.__init__ if is_class else asked
    signature = inspect.signature(function)
    hints = cache(lambda: get_type_hints(asked if is_class else function))
    each = signature.parameters.values()
    in_order = [one.name for one in each if one.kind is one.POSITIONAL_OR_KEYWORD]
    open_ended = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = {one.name for one in each if one.default is one.empty and one.kind not in open_ended}
    plain = cache(lambda: {name: (_plain(hint), id(hint)) for name, hint in hints().items()})

    def fits(given: tuple, named: dict[str, Any]) -> bool:
        """Whether all is there and of its type already, which takes a tenth of the time to see."""
        first, kinds = in_order[: len(given)], plain()
        if len(first) < len(given) or not needed <= {*first, *named} or {*first} & named.keys():
            return False
        for name, value in itertools.chain(zip(first, given, strict=True), named.items()):
            types, hint = kinds.get(name, ((), 0))
            if name != "self" and type(value) not in types and (id(value), hint) not in _FOUND:
                return False
        return True

    @wraps(function)
    def looked_at(*given: Any, **named: Any) -> Any:
        if not fits(given, named):
            try:
                bound = signature.bind(*given, **named)
            except TypeError:
                raise ValueError(_not_bound(asked.__name__, signature, given, named)) from None
            for name, value in bound.arguments.items():
                kind = signature.parameters[name].kind
                hint = hints().get(name, object)
                if kind is kind.VAR_KEYWORD:
                    bound.arguments[name] = {at: _fit(at, one, hint) for at, one in value.items()}
                elif name != "self" and kind is not kind.VAR_POSITIONAL:
                    bound.arguments[name] = _fit(name, value, hint)
            given, named = bound.args, bound.kwargs
        try:
            return function(*given, **named)
        except NotThere as error:
            if is_class:
                raise
            begins = f"{asked.__name__} begins with steps made before: "
            raise ValueError(begins * isinstance(error, NoStep) + str(error)) from error

    if not is_class:
        return looked_at  # type: ignore[return-value]  # wraps keeps its signature
    asked.__init__ = looked_at  # type: ignore[method-assign]  # on purpose
    return asked


def _fit(name: str, value: object, kind: object) -> object:
    """A value as a type asks for it. Raises ValueError, in words, where it does not fit."""
    # Examples hand on the same long tuples again and again: each is looked at once.
    place = (id(value), id(kind))
    if place in _FOUND:
        return value
    fit = fitted(value, kind)
    if fit is value and type(value) is tuple and _never_changes(value):
        if len(_FOUND) >= MOST_FOUND:
            _FOUND.clear()
        _FOUND[place] = value, kind  # kept, so that nothing else gets their ids
    if fit is not MISSING:
        return fit
    tip = ""
    if isinstance(value, str) and "a trace" in _words(kind):
        tip = f": embed({shown(value)}) makes one of a text"
    raise ValueError(f"{name} is {shown(value)}, but must be {_words(kind)}{tip}")


def _plain(kind: Any) -> frozenset[type]:
    """The types whose values fit a type as they are, whatever they hold."""
    origin, inner = _taken_apart(kind)
    if origin in (Union, types.UnionType):
        return frozenset().union(*map(_plain, inner))
    return frozenset({float, int} if kind is float else {kind} if isinstance(kind, type) else ())


def _never_changes(value: object) -> bool:
    try:
        return hash(value) is not None
    except TypeError:
        return False


def _not_bound(name: str, signature: inspect.Signature, given: tuple, named: dict) -> str:
    there = [each for each in signature.parameters if each != "self"]
    is_open = any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values())
    for each in named:
        if each not in there and not is_open:
            return f"{name} has no argument {each!r}{among(each, there)}"
    takes = [each for each in signature.parameters.values() if each.name != "self"]
    missing = [each.name for each in takes[len(given) - (len(takes) < len(signature.parameters)):]
               if each.name not in named and each.default is each.empty
               and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)]  # fmt: skip
    said = f"needs {' and '.join(missing)}" if missing else f"was given {len(given)} values"
    by_name = next((each.name for each in takes if each.kind is each.KEYWORD_ONLY), "")
    how = f"; from {by_name} on by name, as in {by_name}=…" if by_name and not missing else ""
    return f"{name} {said}: it takes {', '.join(there) or 'nothing'}{how}"


@lru_cache(maxsize=1_024)
def _taken_apart(kind: Any) -> tuple[Any, tuple]:
    return get_origin(kind), get_args(kind)


def fitted(value: Any, kind: Any) -> Any:
    """A value as a type asks for it; MISSING where it does not fit."""
    if type(value) is kind:
        return value
    origin, inner = _taken_apart(kind)
    if kind in (object, Any) or isinstance(kind, TypeVar | str):
        return value
    if origin in (Union, types.UnionType):
        tried = (fitted(value, each) for each in inner)
        return next((each for each in tried if each is not MISSING), MISSING)
    if kind in (None, type(None)):
        return value if value is None else MISSING
    if kind is bool:
        is_bool = isinstance(value, bool) or type(value).__name__ == "bool"
        return bool(value) if is_bool else MISSING
    if kind in (int, float):
        return _number(value, kind)
    if kind is Callable or origin is Callable:
        return value if callable(value) else MISSING
    if origin is None:
        if kind.__name__ == "Tensor" and hasattr(value, "__array__"):
            return value if isinstance(value, kind) else _tensor_of(value)
        is_text = isinstance(value, str) and kind is not str
        return value if isinstance(value, kind) and not is_text else MISSING
    value = value.tolist() if hasattr(value, "tolist") else value
    if issubclass(origin, tuple) and isinstance(value, list):
        value = tuple(value)
    if isinstance(value, str) or not isinstance(value, origin):
        return MISSING
    if isinstance(value, tuple | list) and inner and {*map(type, value)} != {inner[0]}:
        if origin is tuple and inner[-1] is not Ellipsis:
            if len(inner) != len(value):
                return MISSING
            kinds = inner
        else:
            kinds = (inner[0],) * len(value)
        each = [fitted(one, of) for one, of in zip(value, kinds, strict=True)]
        if any(one is MISSING for one in each):
            return MISSING
        return type(value)(each) if type(value) in (tuple, list) else value
    return value


def _tensor_of(array: Any) -> Any:
    """A copy, since PyTorch warns of memory that may not be written to; MISSING for words."""
    try:
        return import_module("torch").tensor(array.__array__())
    except (RuntimeError, TypeError, ValueError):
        return MISSING


def _number(value: Any, kind: type) -> Any:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        whole = kind is int and hasattr(value, "__index__") and not isinstance(value, bool)
        return as_index(value) if whole and not getattr(value, "shape", ()) else MISSING
    if kind is float:
        return value
    return as_index(value) if hasattr(value, "__index__") else MISSING


def _words(kind: object) -> str:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(_words, inner)))
    if kind in SAID or origin in SAID:
        return SAID[kind if kind in SAID else origin]
    name = getattr(origin or kind, "__name__", str(kind))
    if origin is tuple and inner and inner[-1] is not Ellipsis:
        return f"{len(inner)} things, {', '.join(map(_words, inner))}"
    if origin is not None or name in ("Sequence", "Iterable", "Collection"):
        of = f", each {_words(inner[0])}" if inner and not issubclass(origin, Mapping) else ""
        return ("names with values" if origin and issubclass(origin, Mapping) else "a list") + of
    return f"a {name.lower()}" if name in ("Trace", "Step", "Tensor", "Model") else f"{name}(…)"
