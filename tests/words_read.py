"""Which words of a `config.json` the class of each family in `transformers` reads, found in its
source, and what it takes where a file leaves one out. `python tests/words_read.py` writes the table
that the library has; `tests/core/test_real_model_words.py` holds it.
"""

import ast
import dataclasses
import inspect
import json
import re
import sys
import textwrap
import typing
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from attention_core.real_model.by_config import FAMILIES  # noqa: E402

TABLE = HERE.parent / "attention_core/real_model/words_read.json"
ROOMS = "cache_utils masking_utils modeling_rope_utils modeling_utils utils.generic"
"""What models hand their config to, whole; of layers, the kind that all are made of."""
LAYER = "transformers.modeling_layers", "GradientCheckpointingLayer"
CONFIG = re.compile("((text|decoder|effective|layer|mtp)_)?config")
OF_TURNING = re.compile(r"rope_(parameters|scaling)|\bparams\b")
TAKING = ("__post_init__", "convert_rope_params_to_dict")
"""The methods of a config that are given what its class has no field for."""


def read_in(part: ast.AST, config: re.Pattern[str] = CONFIG) -> Iterator[tuple[str, Any]]:
    """The words that some code looks up in a config, by the names that this has there, with what it
    takes for one that is missing.
    """

    def is_config(node: ast.expr) -> bool:
        return bool(config.fullmatch(getattr(node, "id", getattr(node, "attr", ""))))

    for node in ast.walk(part):
        match node:
            case ast.Attribute(value, str(word)) if is_config(value):
                yield word, None
            case ast.Call(
                ast.Name("getattr" | "hasattr"), [value, ast.Constant(str(word)), *rest]
            ) if is_config(value):
                yield word, getattr(rest[0], "value", None) if rest else None


def taken_in(method: ast.AST) -> Iterator[str]:
    """The words that a method takes out of what it is given."""
    for node in ast.walk(method):
        match node:
            case ast.Call(ast.Attribute(ast.Name("kwargs")), [ast.Constant(str(word)), *_]):
                yield word


def turned_by(part: ast.AST) -> Iterator[str]:
    """The words looked up in what a config says of rotary positions."""
    for node in ast.walk(part):
        match node:
            case ast.Subscript(value, ast.Constant(str(word))):
                pass
            case ast.Call(
                ast.Attribute(value, "get" | "pop" | "setdefault"), [ast.Constant(str(word)), *_]
            ):
                pass
            case _:
                continue
        if OF_TURNING.search(ast.unparse(value)):
            yield word


@cache
def tree(named: str) -> ast.Module:
    """A module's source."""
    return ast.parse(inspect.getsource(import_module(named)))


@cache
def source(cls: type) -> ast.AST:
    return ast.parse(textwrap.dedent(inspect.getsource(cls)))


def reached(named: str, first: str) -> list[ast.stmt]:
    """A class of a module, and what it names there, and what that names."""
    own = {part.name: part for part in tree(named).body if hasattr(part, "name")}
    known, left = set(), {first}
    while left:
        known.add(name := left.pop())
        words = {node.id for node in ast.walk(own[name]) if isinstance(node, ast.Name)}
        left |= (words & {*own}) - known
    return [own[name] for name in sorted(known)]


def classes(kind: str) -> tuple[type, type]:
    """The class of a family's configs, and that of its models which say words."""
    import transformers
    from transformers.models.auto import modeling_auto as auto

    of_kind = auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    if kind == "bert":
        of_kind = auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    model = getattr(transformers, of_kind[kind])
    return model.config_class, model


def fields(config: type) -> dict[str, Any]:
    """The fields of a class with what they are where nothing is said; ? after one of None too."""
    found = {}
    for field in dataclasses.fields(config):
        optional = type(None) in typing.get_args(field.type) or "| None" in str(field.type)
        found[field.name + "?" * optional] = field.default
    return found


def read_by(config: type, parts: Iterable[ast.AST]) -> dict[str, Any]:
    """What some code, and a class of configs itself, look up, with what is taken for it."""
    read: dict[str, Any] = {}
    for cls in config.__mro__:
        if not cls.__module__.startswith("transformers.") or "hub" in cls.__module__:
            continue
        read |= read_in(source(cls), re.compile("self"))
        for part in ast.walk(source(cls)):
            if isinstance(part, ast.FunctionDef) and part.name in TAKING:
                read |= dict.fromkeys(taken_in(part))
            if isinstance(part, ast.Assign) and "possible_text" in ast.unparse(part.targets):
                read |= dict.fromkeys(e.value for e in ast.walk(part) if hasattr(e, "value"))
    for word, default in chain(*map(read_in, parts)):
        if read.get(word) is None:
            read[word] = default
    return {
        word: default
        for word, default in read.items()
        if isinstance(word, str) and word[0] != "_" and not callable(getattr(config, word, None))
    }


def of_every() -> dict[str, Any]:
    """What is looked up in a config of any family."""
    import transformers

    rooms = [tree(f"transformers.{room}") for room in ROOMS.split()]
    read = read_by(transformers.PreTrainedConfig, [*rooms, *reached(*LAYER)])
    own = bare(fields(transformers.PreTrainedConfig))
    return {word: own.get(word, default) for word, default in read.items()}


def bare(of_class: Mapping[str, Any]) -> dict[str, Any]:
    """Fields by their names alone."""
    return {name.removesuffix("?"): default for name, default in of_class.items()}


def of_family(kind: str) -> dict[str, dict[str, Any]]:
    """The fields of a family's class that are read, with their defaults, where ? may be null, and
    what else is looked up there, beside what is in every family.
    """
    config, model = classes(kind)
    every, called, own = of_every(), config.attribute_map, fields(config)
    read = every | read_by(config, reached(model.__module__, model.__name__))
    read |= dict.fromkeys([*called, *called.values()])
    common = {field.name for field in dataclasses.fields(config.__mro__[1])}
    made = {
        name: default for name, default in own.items() if name.removesuffix("?") in {*read} - common
    }
    others = {*read} - {*every, *bare(made)}
    others = {word: bare(own).get(word, read[word]) for word in sorted(others)}
    return {"fields": made, "others": others}


def turning(kinds: Iterable[str]) -> list[str]:
    """What is looked up in what configs say of rotary positions."""
    parts = [tree("transformers.modeling_rope_utils")]
    for kind in kinds:
        parts += reached(*(getattr(classes(kind)[1], each) for each in ("__module__", "__name__")))
    return sorted({word for part in parts for word in turned_by(part)})


def whole() -> dict[str, Any]:
    """The table."""
    return {
        "every": dict(sorted(of_every().items())),
        "families": {kind: of_family(kind) for kind in FAMILIES},
    }


def written(table: Mapping[str, Any]) -> str:
    """The table as its file has it."""
    return json.dumps(table, indent=1) + "\n"


if __name__ == "__main__":
    TABLE.write_text(written(whole()))
    print(f"written: {TABLE}")
