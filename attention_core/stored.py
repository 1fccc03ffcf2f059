"""Tensors in a file, in the safetensors format: names, shapes and raw numbers, and nothing to run.

Eight bytes say how long the header is, the header is JSON, and the numbers follow it.

Torch is loaded only where tensors are made, so that a start-up which needs numbers does not wait.

Source: https://github.com/huggingface/safetensors, "Format".
"""

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

CODES = {"F32": "f", "F16": "e"}
"""How the header calls a kind of number, and how `struct` does."""
SIZES = {"F32": 4, "F16": 2, "BF16": 2}
"""How many bytes a number has; of other kinds, which a file may hold as well, nothing is read."""
_KINDS = {"torch.float32": "F32", "torch.float16": "F16"}


def write(
    path: Path, tensors: Mapping[str, "Tensor"], about: Mapping[str, str] | None = None
) -> None:
    """Store tensors of float32 or float16, and words about them. Raises ValueError for others."""
    header: dict[str, object] = {"__metadata__": dict(about)} if about else {}
    numbers = b""
    for name, tensor in tensors.items():
        if str(tensor.dtype) not in _KINDS:
            raise ValueError(f"{name} is {tensor.dtype}: only float32 and float16 are stored")
        kind = _KINDS[str(tensor.dtype)]
        flat = tensor.detach().flatten().tolist()
        start = len(numbers)
        numbers += struct.pack(f"<{len(flat)}{CODES[kind]}", *flat)
        places = [start, len(numbers)]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": places}
    written = json.dumps(header, separators=(",", ":")).encode()
    written += b" " * (-len(written) % 8)
    path.write_bytes(struct.pack("<Q", len(written)) + written + numbers)


Numbers = tuple[str, tuple[int, ...], tuple[float, ...]]
"""The kind of a tensor, its shape, and its numbers one after the other."""


def read(path: Path) -> dict[str, "Tensor"]:
    """The tensors of a file, by name. Raises ValueError, in words, for a file that is broken."""
    import torch

    dtypes = {"F32": torch.float32, "F16": torch.float16}
    return {
        name: torch.tensor(numbers, dtype=dtypes[kind]).view(shape)
        for name, (kind, shape, numbers) in read_numbers(path).items()
    }


def read_numbers(path: Path) -> dict[str, Numbers]:
    """What is in a file, by name, without torch. Raises ValueError for a file that is broken."""
    found = {}
    with path.open("rb") as file:
        for name, place in places(path).items():
            if place.kind not in CODES:
                raise ValueError(
                    f"{path.name}: {name} has numbers of kind {place.kind}, not F32 or F16"
                )
            file.seek(place.start)
            numbers = file.read(place.end - place.start)
            code = f"<{math.prod(place.shape)}{CODES[place.kind]}"
            found[name] = place.kind, place.shape, struct.unpack(code, numbers)
    return found


@dataclass(frozen=True)
class Place:
    """Where in a file the numbers of a tensor stand, from byte `start` up to byte `end`, of which
    kind they are, and in which shape.
    """

    kind: str
    shape: tuple[int, ...]
    start: int
    end: int


def places(path: Path) -> dict[str, Place]:
    """Where each tensor of a file stands, by name: the header alone is read, however large the file
    is. Raises ValueError, in words, for a file that is broken.
    """
    size = path.stat().st_size
    if size < 8:
        raise ValueError(f"{path.name} is no file of tensors: it has {size} bytes")
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        if length > size - 8:
            raise ValueError(f"{path.name} is cut off within its header, or is no file of tensors")
        written = file.read(length)
    try:
        header = json.loads(written)
        entries = {name: _entry(of) for name, of in header.items() if name != "__metadata__"}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path.name} has a header that cannot be read: {error}") from error
    first = 8 + length
    return {name: _checked(path, name, first, size, *entry) for name, entry in entries.items()}


def _entry(of: Mapping) -> tuple[str, tuple[int, ...], int, int]:
    start, end = map(int, of["data_offsets"])
    return str(of["dtype"]), tuple(map(int, of["shape"])), start, end


def _checked(
    path: Path,
    name: str,
    first: int,
    size: int,
    kind: str,
    shape: tuple[int, ...],
    start: int,
    end: int,
) -> Place:
    if min(shape, default=0) < 0 or not 0 <= start <= end:
        raise ValueError(f"{path.name}: {name} has a size or a place below 0")
    if first + end > size:
        raise ValueError(f"{path.name} is cut off: the numbers of {name} end beyond the file")
    if kind in SIZES and math.prod(shape) * SIZES[kind] != end - start:
        sizes = " × ".join(map(str, shape))
        raise ValueError(f"{path.name}: {name} is {sizes}, which {end - start} bytes cannot hold")
    return Place(kind, shape, first + start, first + end)
