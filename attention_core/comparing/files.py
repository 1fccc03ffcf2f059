"""Tensors in files of three kinds, and the attention that their names tell of.

Nothing in a file is run: of a `pt` file tensors alone are read (`weights_only`), of an `npz` file
arrays of numbers alone (`allow_pickle=False`).
"""

import re
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..files.refused import ModelRefused, needed
from ..files.tensor_file import opened, quoted, read
from ..recording.recording import Recording
from ..recording.saved import FORMAT, load_recording
from .attention import Attention, Parts, by_its_parts, sees_and_added

ROLES = {
    "queries": "queries query q query_states query_layer q_rot",
    "keys": "keys key k key_states key_layer k_rot",
    "values": "values value v value_states value_layer",
    "mask": "mask attention_mask attn_mask",
    "weights": "weights attn attentions attention attn_weights attention_weights pattern probs",
    "output": "context_vectors context_vec context attn_output output z",
}
"""What steps are called in people's files, by the last part of a name."""
ROLE_OF = {name: role for role, names in ROLES.items() for name in names.split()}
MOST_TENSORS = 100_000


def read_tensors(path: Path) -> Recording | dict[str, Tensor]:
    """What a file holds: a recording, or tensors by their names. Raises ModelRefused, a ValueError,
    in words, for a file that is broken, or of another kind.
    """
    kind = path.suffix.lower()
    if not path.is_file():
        raise ModelRefused(f"{quoted(path.name)} is no file")
    if kind == ".safetensors":
        with opened(path) as file:
            is_recording = FORMAT in (file.metadata() or {})
        return load_recording(path) if is_recording else read(path)
    if kind == ".npz":
        return _of_npz(path)
    if kind in (".pt", ".pth", ".bin", ".ckpt"):
        return _of_pt(path)
    raise ModelRefused(
        f"{quoted(path.name)} is no file of tensors that is read here: give one that ends in "
        ".safetensors, .npz or .pt"
    )


def _of_npz(path: Path) -> dict[str, Tensor]:
    numpy = needed("numpy", "an npz file")
    try:
        with numpy.load(path, allow_pickle=False) as file:
            return {name: torch.from_numpy(file[name]) for name in file.files[:MOST_TENSORS]}
    except (OSError, ValueError, TypeError, EOFError, zipfile.BadZipFile, MemoryError) as error:
        raise ModelRefused(
            f"{path.name} is no npz file of numbers: {quoted(str(error))}"
        ) from error


def _of_pt(path: Path) -> dict[str, Tensor]:
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever it holds: pickles fail in any way
        why = str(error).partition(".")[0] or "it is empty, or cut off"
        raise ModelRefused(f"{path.name} is no pt file of tensors alone: {quoted(why)}") from error
    tensors = dict(_named(found, ""))
    if not tensors:
        raise ModelRefused(f"{path.name} holds no tensors")
    return tensors


def _named(value: Any, name: str) -> Any:
    """The tensors within dictionaries and lists, each by its path."""
    if isinstance(value, Tensor):
        yield name or "tensor", value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _named(each, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple):
        for at, each in enumerate(value):
            yield from _named(each, f"{name}.{at}" if name else str(at))


def role_of(name: str) -> str:
    """Which step of attention a tensor is by its name; "" for none."""
    return ROLE_OF.get(re.split(r"[./]", name)[-1].lower(), "")


def place_of(name: str) -> str:
    """The layer's part of a name."""
    return name[: -len(re.split(r"[./]", name)[-1])].rstrip("./")


def attention_of(name: str, given: Mapping[str, Tensor]) -> Attention | None:
    """A layer's attention of tensors by their roles, with the rule that makes theirs what it is, of
    the usual ones; None where they cannot be one.
    """
    if not {"queries", "keys"} <= {*given}:
        return None
    there: dict[str, Tensor] = {}
    for role, each in given.items():
        tensor = _with_axes(each)
        if tensor is not None:
            there[role] = tensor
        if role != "mask" and (tensor is None or not tensor.is_floating_point()):
            return None
    queries, keys, mask = there["queries"], there["keys"], there.get("mask")
    values, output, weights = (there.get(role) for role in ("values", "output", "weights"))
    whole = Attention(name, queries, keys, values, output, weights)
    fits = (
        queries.shape[-1] == keys.shape[-1]
        and queries.shape[0] == keys.shape[0]
        and not queries.shape[1] % max(keys.shape[1], 1)
    )
    if not fits or not whole.is_whole:
        return whole
    n_queries, n_keys, width = queries.shape[-2], keys.shape[-2], queries.shape[-1]
    every = torch.ones(1, 1, n_queries, n_keys, dtype=torch.bool)
    masks = [every, every.tril(n_keys - n_queries), every.tril()]
    if mask is not None:
        masks = [mask, *masks]
    first = None
    for scale in (width**-0.5, 1.0):
        for each in masks:
            try:
                parts = Parts(scale, *sees_and_added(each))
                tried = replace(whole, parts=parts)
                if by_its_parts(tried):
                    return tried
            except (RuntimeError, IndexError):  # shapes that do not fit each other
                continue
            first = first or tried
    return first or whole


def _with_axes(tensor: Tensor) -> Tensor | None:
    return tensor[(None,) * (4 - tensor.ndim)] if 2 <= tensor.ndim <= 4 else None
