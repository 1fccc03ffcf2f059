"""Tensors in a file, in the safetensors format: names, shapes and raw numbers, and nothing to run.

Eight bytes say how long the header is, the header is JSON, and the numbers follow it.

Torch is loaded only where tensors are made, so that a start-up which needs numbers does not wait.

Source: https://github.com/huggingface/safetensors, "Format".
"""

import json
import math
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

CODES = {"F32": "f", "F16": "e"}
"""How the header calls a kind of number, and how `struct` does."""
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
    content = path.read_bytes()
    if len(content) < 8:
        raise ValueError(f"{path.name} is no file of tensors: it has {len(content)} bytes")
    (length,) = struct.unpack("<Q", content[:8])
    if length > len(content) - 8:
        raise ValueError(f"{path.name} is cut off within its header, or is no file of tensors")
    try:
        header = json.loads(content[8 : 8 + length])
        entries = {name: _entry(of) for name, of in header.items() if name != "__metadata__"}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path.name} has a header that cannot be read: {error}") from error
    numbers = content[8 + length :]
    return {name: _checked(path, name, numbers, *entry) for name, entry in entries.items()}


def _entry(of: Mapping) -> tuple[str, tuple[int, ...], int, int]:
    start, end = map(int, of["data_offsets"])
    return str(of["dtype"]), tuple(map(int, of["shape"])), start, end


def _checked(
    path: Path, name: str, numbers: bytes, kind: str, shape: tuple[int, ...], start: int, end: int
) -> Numbers:
    if kind not in CODES:
        raise ValueError(f"{path.name}: {name} has numbers of kind {kind}, not F32 or F16")
    if min(shape, default=0) < 0 or not 0 <= start <= end:
        raise ValueError(f"{path.name}: {name} has a size or a place below 0")
    if end > len(numbers):
        raise ValueError(f"{path.name} is cut off: the numbers of {name} end beyond the file")
    code, n_numbers = CODES[kind], math.prod(shape)
    if n_numbers * struct.calcsize(f"<{code}") != end - start:
        sizes = " × ".join(map(str, shape))
        raise ValueError(f"{path.name}: {name} is {sizes}, which {end - start} bytes cannot hold")
    return kind, shape, struct.unpack(f"<{n_numbers}{code}", numbers[start:end])
