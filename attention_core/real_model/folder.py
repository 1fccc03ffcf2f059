"""A model's folder as Hugging Face has them; none of the files that are read can run anything."""

import json
import math
import os.path
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..files.refused import ModelRefused
from ..files.tensor_file import first_bytes, opened, quoted

LARGEST_CONFIG = 2**20
LARGEST_INDEX = 16 * 2**20
LARGEST_TOKENIZER = 64 * 2**20
"""Bytes. That of a vocabulary of 260,000 words has 35 million."""
MOST_VALUES = 500_000
"""In a file of settings. The index of a model with 100,000 tensors has as many."""
KINDS = ("F32", "F16", "BF16")
"""The kinds of numbers that are read, as a safetensors file calls them."""
INDEX, GENERATION = "model.safetensors.index.json", "generation_config.json"
PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


@dataclass(frozen=True)
class Place:
    """Where a tensor stands: its file, its shape, and the kind of its numbers."""

    file: Path
    shape: tuple[int, ...]
    kind: str


class Folder:
    """A model's folder, or one file with what is beside it. Raises ModelRefused, in words."""

    def __init__(self, path: Path) -> None:
        self.path, is_folder = path, os.path.isdir(path)
        self.config_file = (path if is_folder else path.parent) / "config.json"
        self.places: dict[str, Place] = {}
        self.files = self._files() if is_folder else [path]
        for file in self.files:
            self._look_into(file)

    @cached_property
    def config(self) -> dict[str, Any]:
        """What `config.json` says."""
        return read_json(self.config_file, LARGEST_CONFIG)

    @property
    def generation(self) -> dict[str, Any]:
        """What `generation_config.json` says, where there is one."""
        path = self.path / GENERATION
        return read_json(path, LARGEST_CONFIG) if path.exists() else {}

    @property
    def tokenizer(self) -> bytes:
        """The content of `tokenizer.json`: whoever makes one of it reads it, within bounds."""
        return _content(self.path / "tokenizer.json", LARGEST_TOKENIZER)

    def check_kind(self, name: str) -> None:
        """Raises ModelRefused where a tensor's numbers are of a kind that is not read."""
        place = self.places[name]
        if place.kind not in KINDS:
            raise ModelRefused(
                f"{quoted(name)} in {place.file.name} has numbers of kind {quoted(place.kind)}: "
                f"{', '.join(KINDS)} are read"
            )

    def matrix(self, name: str, rows: Sequence[int] | None = None) -> Tensor:
        """A tensor in float32, or some `rows`. Raises ModelRefused where the file is broken."""
        with opened(self.places[name].file) as file:
            if rows is None:
                return file.get_tensor(name).float()
            part = file.get_slice(name)
            if isinstance(rows, range) and rows.step == 1 and len(rows):
                return part[rows.start : rows.stop].float()
            return torch.cat([part[row : row + 1].float() for row in rows])

    def _files(self) -> list[Path]:
        index = self.path / INDEX
        if index.exists():
            return self._files_of(read_json(index, LARGEST_INDEX))
        whole = self.path / "model.safetensors"
        found = [whole] if whole.exists() else sorted(self.path.glob("*.safetensors"))
        if found:
            return found
        pickled = [file.name for pattern in PICKLED for file in self.path.glob(pattern)]
        if pickled:
            raise ModelRefused(
                f"the weights in {self.path.name} are in {quoted(pickled[0])}, a kind of file that "
                "may run anything when it is opened, so it is left alone: only safetensors files "
                "are read"
            )
        raise ModelRefused(
            f"there are no weights in {self.path.name or self.path}: no safetensors file"
        )

    def _files_of(self, index: dict[str, Any]) -> list[Path]:
        """The files that an index names, each of them in this folder."""
        by_tensor = index.get("weight_map")
        if not isinstance(by_tensor, dict) or not by_tensor:
            raise ModelRefused(f"{INDEX} in {self.path.name} names no files")
        found, there = [], {file.name for file in self.path.iterdir()}
        for name in dict.fromkeys(map(str, by_tensor.values())):
            if Path(name).name != name or not name.endswith(".safetensors") or "\\" in name:
                raise ModelRefused(
                    f"{INDEX} in {self.path.name} names {quoted(name)}, but all weights must be in "
                    "safetensors files of this folder"
                )
            if name not in there:
                raise ModelRefused(f"{quoted(name)} is missing in {self.path.name}")
            found.append(self.path / name)
        return found

    def _look_into(self, path: Path) -> None:
        with opened(path) as file:
            for name in file.keys():  # noqa: SIM118
                if name in self.places:
                    other = self.places[name].file.name
                    raise ModelRefused(f"{quoted(name)} stands in {other} and in {path.name}")
                part = file.get_slice(name)
                shape = tuple(part.get_shape())
                if math.prod(shape) > 2**31:
                    raise ModelRefused(f"{quoted(name)} in {path.name} is too large")
                self.places[name] = Place(path, shape, str(part.get_dtype()))


def files_of(path: Path) -> list[Path]:
    """All files that a model at this path may be read from: itself, or those of its folder."""
    if not path.is_dir():
        return [path]
    return [*(path / name for name in ("config.json", "tokenizer.json", INDEX, GENERATION)),
            *sorted(path.glob("*.safetensors"))]  # fmt: skip


def read_json(path: Path, largest: int) -> dict[str, Any]:
    """What a file of settings says. Raises ModelRefused where missing, too large, or broken."""
    where, content = _called(path), _content(path, largest)
    # Before any of it is read: each may become an object of 60 bytes or more.
    n_values = sum(map(content.count, (b",", b"[", b"{")))
    if n_values > MOST_VALUES:
        raise ModelRefused(f"{where} has {n_values:,} values, but at most {MOST_VALUES:,} are read")
    try:
        found = json.loads(content)
    except RecursionError as error:
        raise ModelRefused(f"{where} cannot be read: it is nested too deeply") from error
    except ValueError as error:
        raise ModelRefused(f"{where} cannot be read: {quoted(str(error))}") from error
    if not isinstance(found, dict):
        raise ModelRefused(f"{where} holds no settings by name")
    return found


def _called(path: Path) -> str:
    return f"{path.name} in {path.parent.name}"


def _content(path: Path, largest: int) -> bytes:
    if not path.exists():
        raise ModelRefused(f"there is no {_called(path)}")
    try:
        content = first_bytes(path, largest + 1)
    except ValueError as error:
        raise ModelRefused(f"{_called(path)} cannot be read: {quoted(str(error))}") from error
    if len(content) > largest:
        raise ModelRefused(f"{_called(path)} has more than {largest:,} bytes")
    return content
