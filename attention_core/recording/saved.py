"""A recording in a file: tensors in the safetensors format, and what they are as words beside them.

A file comes from anybody: nothing in it is run, and each size and name is looked at before it is
believed.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..files.refused import ModelRefused
from ..files.tensor_file import opened, quoted, write
from ..utils.validation import validated
from .call import BIAS, SINKS, SOFT_CAP, Call
from .recording import Recording

FORMAT = "attention_recording"
"""The key of what is said in the file's header."""
TENSORS = ("queries", "keys", "values", "mask", "output", "output_gradient", "rows")
NUMBERS = {SOFT_CAP: float, "dropout": float, "is_causal": bool, "sliding_window": int}
"""Options that are no tensors."""
MOST_CALLS = 100_000


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
            recording.notices = [str(each) for each in about["notices"]]
            if len(about["calls"]) > MOST_CALLS:
                raise ValueError("more calls than any model has")
            names = {*file.keys()}
            for at, each in enumerate(about["calls"]):
                said = _Said(**each)
                there = {name: file.get_tensor(f"{at}.{name}") for name in (*TENSORS, BIAS, SINKS)
                         if f"{at}.{name}" in names}  # fmt: skip
                recording.add(str(said.name), int(said.place), _call(said, there))
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise ModelRefused(f"{path.name} is no recording: {quoted(str(error))}") from error
    return recording


def _tokens(tokens: Any) -> list[str] | list[list[str]] | None:
    if tokens is None or all(isinstance(each, str) for each in tokens):
        return tokens
    return [[str(token) for token in text] for text in tokens]


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
    )
    if not fits:
        raise ValueError("tensors do not fit each other")
    table = (n_texts, n_heads, n_rows, keys.shape[2])
    for name in ("mask", BIAS):
        if name in there and torch.broadcast_shapes(there[name].shape[:3], table[:3]) != table[:3]:
            raise ValueError(f"{name} does not fit")
    scale = None if said.scale is None else float(said.scale)
    options = {name: kind(said.options[name]) for name, kind in NUMBERS.items()
               if name in said.options}  # fmt: skip
    options |= {name: there[name] for name in (BIAS, SINKS) if name in there}
    return Call(queries, keys, values, there.get("mask"), scale, output, there["rows"],
                int(said.n_queries), str(said.implementation), options,
                there.get("output_gradient"))  # fmt: skip
