"""Tensors in a file, in the safetensors format: names, shapes and raw numbers, and nothing to run.

The library of that name reads and writes, and checks every size, offset and shape. What it finds
wrong is said here in a reader's words, and never with more than `QUOTED` characters of the file.

Torch is loaded only where tensors are made, so that a start-up which needs numbers does not wait.

Source: https://github.com/huggingface/safetensors, "Format".
"""

import reprlib
import stat
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .refused import ModelRefused

if TYPE_CHECKING:
    from safetensors import safe_open
    from torch import Tensor

QUOTED = 80
"""No message holds more characters of what stands in a file."""
LARGEST_HEADER = 10 * 2**20
"""Bytes. The library reads up to 100 MB, and made 684 MiB of 59; 100,000 tensors take 10."""
CODES = {"F32": "f", "F16": "e"}
"""How a file calls a kind of number, and how `struct` does."""
_WRONG = {
    "File does not contain": "has no tensor of that name",
    "incomplete metadata": "is cut off, or holds more bytes than its header says",
    "invalid offset": "has a header that cannot be right: numbers of two tensors overlap, or bytes "
    "between two belong to none",
    "invalid shape": "has a header that cannot be right: the bytes of a tensor are too few or too "
    "many for its shape",
    "overflow": "has a header that cannot be right: no file can hold a tensor of that shape",
}
"""What the library finds, and how it is said here. Anything else is a header it cannot parse."""

State = tuple[int, int, int, int]
"""What tells that a file has changed: which it is, its size, and when its bytes and its entry were
written. Times are counted in steps of milliseconds, in which another file may take its place."""

Numbers = tuple[str, tuple[int, ...], tuple[float, ...]]
"""The kind of a tensor, its shape, and its numbers one after the other."""


def write(
    path: Path, tensors: Mapping[str, "Tensor"], about: Mapping[str, str] | None = None
) -> None:
    """Store tensors, and words about them. Raises OSError where that cannot be done."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        copies = {name: each.detach().clone() for name, each in tensors.items()}
        save_file(copies, path, dict(about or {}) or None)
    except SafetensorError as error:  # what the library makes of a full disk
        raise OSError(f"{path.name} cannot be written: {quoted(str(error))}") from error


def read(path: Path) -> dict[str, "Tensor"]:
    """The tensors of a file, by name. Raises ModelRefused as `opened` does."""
    with opened(path) as file:
        return file.get_tensors()


def read_numbers(path: Path) -> dict[str, Numbers]:
    """What is in a file of float32 and float16 that comes with the package, without torch."""
    from safetensors import deserialize

    found = {}
    for name, entry in deserialize(path.read_bytes()):
        code = CODES[entry["dtype"]]
        numbers = tuple(one for (one,) in struct.iter_unpack(f"<{code}", entry["data"]))
        found[name] = entry["dtype"], tuple(entry["shape"]), numbers
    return found


def state_of(path: Path) -> State | None:
    """How a file is now; None where there is none, or nobody may look at it."""
    try:
        now = path.stat()
    except (OSError, ValueError):
        return None
    return now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns


@contextmanager
def opened(path: Path) -> Iterator["safe_open"]:
    """A file of tensors, each read when asked for. Raises ModelRefused for a broken one."""
    from safetensors import SafetensorError

    try:
        yield _opened(path, state_of(path))
    except SafetensorError as error:
        said = str(error).removeprefix("Error while deserializing header: ")
        unreadable = f"has a header that cannot be read: {quoted(said)}"
        words = next((ours for theirs, ours in _WRONG.items() if said.startswith(theirs)), None)
        raise ModelRefused(f"{path.name} {words or unreadable}") from error
    except OSError as error:
        why = error.strerror or "it is gone"  # the library of the format gives no number
        raise ModelRefused(f"{path.name} cannot be read: {why}") from error


@lru_cache(maxsize=2)  # of the largest header the library makes 120 MB
def _opened(path: Path, _changed: State | None) -> "safe_open":
    """Kept while the file does not change: each would read the names of all tensors again."""
    from safetensors import safe_open

    _check_header(path)
    # pread: the default maps the whole file, which fails where it is larger than the memory.
    return safe_open(path, framework="pt", backend="pread")


def _check_header(path: Path) -> None:
    """Raises ModelRefused where the first eight bytes give the header an impossible length."""
    first = first_bytes(path, 8)
    if len(first) < 8:
        raise ModelRefused(f"{path.name} is no file of tensors: it has {len(first)} bytes")
    if first == b"version ":
        raise ModelRefused(
            f"{path.name} only points to a file of Git LFS: fetch it, `git lfs pull`"
        )
    (length,) = struct.unpack("<Q", first)
    if length > path.stat().st_size - 8:
        raise ModelRefused(f"{path.name} is cut off within its header, or is no file of tensors")
    if length > LARGEST_HEADER:
        raise ModelRefused(
            f"{path.name} has a header of {length:,} bytes, but at most {LARGEST_HEADER:,} are read"
        )


def first_bytes(path: Path, n_bytes: int) -> bytes:
    """A file's first bytes. Raises ModelRefused for what cannot be read, such as a pipe."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ModelRefused(f"{quoted(path.name)} is no file")
        with path.open("rb") as file:
            return file.read(n_bytes)
    except OSError as error:
        raise ModelRefused(f"{quoted(path.name)} cannot be read: {error.strerror}") from error


def quoted(value: Any) -> str:
    """What a file says, cut after `QUOTED` characters, with nothing in it that moves a cursor."""
    cut = isinstance(value, str)
    written = repr(value[: QUOTED + 1])[1:-1] if cut else reprlib.repr(value)
    return written if len(written) <= QUOTED else f"{written[: QUOTED - 1]}…"
