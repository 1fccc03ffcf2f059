"""A recording in a file: tensors in the safetensors format, and what they are as words beside them.

A file comes from anybody: nothing in it is run, and each size and name is looked at before it is
believed.
"""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..files.refused import ModelRefused
from ..files.tensor_file import opened, quoted, write
from ..utils.validation import validated
from .call import BIAS, SINKS, SOFT_CAP, Call
from .recording import Patches, Recording

FORMAT = "attention_recording"
"""The key of what is said in the file's header."""
TENSORS = ("queries", "keys", "values", "mask", "output", "output_gradient", "rows")
NUMBERS = {SOFT_CAP: float, "dropout": float, "is_causal": bool, "sliding_window": int}
"""Options that are no tensors."""
MOST_PATCHES = 1_000
"""Along an edge of an image."""
MOST_NOTICES, LONGEST_NAME = 20, 400
MOST_CALLS, MOST_QUERIES = 100_000, 1_000_000


@dataclass(frozen=True)
class _Said:
    """What a file says of one call."""

    name: str
    place: int
    scale: float | None
    n_queries: int
    implementation: str
    options: dict[str, Any]


@validated
def save_recording(recording: Recording, path: str | Path) -> None:
    """Write a recording into a file, which `load_recording` and the page *A real model* open.
    Raises OSError where that cannot be done.
    """
    tensors: dict[str, Tensor] = {}
    said: list[_Said] = []
    for layer in recording:
        for call in layer.calls:
            at = len(said)
            for name in TENSORS:
                if (tensor := getattr(call, name)) is not None:
                    tensors[f"{at}.{name}"] = tensor
            for name in (BIAS, SINKS):
                if name in call.options:
                    tensors[f"{at}.{name}"] = call.options[name]
            options = {name: kind(call.options[name]) for name, kind in NUMBERS.items()
                       if call.options.get(name) is not None}  # fmt: skip
            said.append(_Said(layer.name, layer.place, call.scale, call.n_queries,
                              call.implementation, options))  # fmt: skip
    about = {"calls": [asdict(each) for each in said], "notices": recording.notices}
    about["tokens"] = [*recording.tokens] if recording.tokens else None
    about["patches"] = asdict(recording.patches) if recording.patches else None
    write(Path(path), tensors, {FORMAT: json.dumps(about)})


@validated
def load_recording(path: str | Path) -> Recording:
    """The recording in a file of `save_recording`. Raises ModelRefused, a ValueError, in words,
    for a file that is broken or is something else.
    """
    path = Path(path)
    with opened(path) as file:
        text = (file.metadata() or {}).get(FORMAT)
        if text is None:
            raise ModelRefused(
                f"{path.name} holds tensors, but no recording: make one with seen.save(…)"
            )
        try:
            about = json.loads(text)
            recording = Recording(_tokens(about["tokens"]))
            recording.notices = [
                str(each)[:LONGEST_NAME] for each in about["notices"][:MOST_NOTICES]
            ]
            recording.patches = _patches(about.get("patches"))
            if len(about["calls"]) > MOST_CALLS:
                raise ValueError("more calls than any model has")
            names = {*file.keys()}
            for at, each in enumerate(about["calls"]):
                said = _Said(**each)
                there = {name: file.get_tensor(f"{at}.{name}") for name in (*TENSORS, BIAS, SINKS)
                         if f"{at}.{name}" in names}  # fmt: skip
                recording.add(_name(said.name), int(said.place), _call(said, there))
        except (
            KeyError,
            TypeError,
            ValueError,
            RecursionError,
            OverflowError,
            RuntimeError,
            AttributeError,
        ) as error:
            raise ModelRefused(f"{path.name} is no recording: {quoted(str(error))}") from error
    return recording


def _tokens(tokens: Any) -> list[str] | list[list[str]] | None:
    if tokens is None:
        return None
    if not isinstance(tokens, list):
        raise ValueError("its tokens are no list")
    if all(isinstance(each, str) for each in tokens):
        return tokens
    return [[str(token) for token in text] for text in tokens]


def _patches(said: Any) -> Patches | None:
    """How an image was cut. Raises ValueError, KeyError or TypeError for what cannot be so."""
    if said is None:
        return None
    rows, columns = (int(each) for each in said["grid"])
    if not (0 < rows <= MOST_PATCHES and 0 < columns <= MOST_PATCHES):
        raise ValueError(f"an image is cut into {quoted(rows)} × {quoted(columns)} patches")
    places = tuple(tuple(int(at) for at in text) for text in said["places"])
    if any(at < 0 for text in places for at in text):
        raise ValueError("a place of an image's token is below 0")
    return Patches((rows, columns), places, bool(said["is_distilled"]))


def _name(name: Any) -> str:
    """The name of a layer. Raises ValueError for what is none."""
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
        raise ValueError(f"a layer is called {quoted(str(name))}")
    return name


def _call(said: _Said, there: dict[str, Tensor]) -> Call:
    """One call. Raises ValueError, KeyError or TypeError for what cannot be one."""
    queries, keys, values, output = (
        there[name] for name in ("queries", "keys", "values", "output")
    )
    for name in ("queries", "keys", "values", "output"):
        if there[name].ndim != 4 or not there[name].is_floating_point():
            raise ValueError(f"{name} have the wrong axes")
    n_texts, n_heads, n_rows, d_head = queries.shape
    fits = (
        keys.shape[0] == values.shape[0] == n_texts
        and keys.shape[1] == values.shape[1]
        and keys.shape[1] > 0
        and n_heads % keys.shape[1] == 0
        and keys.shape[3] == d_head
        and keys.shape[2] == values.shape[2]
        and output.shape == (n_texts, n_heads, n_rows, values.shape[3])
        and there["rows"].shape == (n_rows,)
        and there["rows"].dtype == torch.int64
        and min(queries.numel(), values.numel()) > 0
    )
    if not fits:
        raise ValueError("tensors do not fit each other")
    rows, n_queries = there["rows"], int(said.n_queries)
    if not (rows.min() >= 0 and rows.max() < n_queries <= MOST_QUERIES):
        raise ValueError(f"its rows are none of {quoted(n_queries)} queries")
    table = (n_texts, n_heads, n_rows)
    for name in ("mask", BIAS):
        if name in there:
            shape, kind = there[name].shape, there[name].dtype
            fits = len(shape) == 4 and shape[3] >= keys.shape[2]
            if not fits or any(
                n not in (1, all_of) for n, all_of in zip(shape, table, strict=False)
            ):
                raise ValueError(f"{name} does not fit")
            if not (kind.is_floating_point or (kind == torch.bool and name == "mask")):
                raise ValueError(f"{name} has numbers of {kind}")
    if SINKS in there and there[SINKS].numel() not in (1, n_heads):
        raise ValueError("its sinks are none for each head")
    if (back := there.get("output_gradient")) is not None and back.shape != output.shape:
        raise ValueError("output_gradient does not fit")
    scale = None if said.scale is None else float(said.scale)
    if scale is not None and not math.isfinite(scale):
        raise ValueError(f"its scale is {scale}")
    options = {name: kind(said.options[name]) for name, kind in NUMBERS.items()
               if name in said.options}  # fmt: skip
    options |= {name: there[name] for name in (BIAS, SINKS) if name in there}
    return Call(queries, keys, values, there.get("mask"), scale, output, there["rows"],
                n_queries, quoted(str(said.implementation)), options,
                there.get("output_gradient"))  # fmt: skip
