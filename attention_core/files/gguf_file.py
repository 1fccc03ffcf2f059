"""A GGUF file: what it says of a model, and where each tensor stands in it.

Only the front of the file is read when it is opened; a tensor, or some of its rows, when it is
asked for. The front is read here and not by `gguf.GGUFReader`, which takes seconds for a vocabulary
of 50,000 and trusts every length that it finds. Source: https://github.com/ggml-org/ggml,
docs/gguf.md.
"""

import math
import struct
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor

from .quantised import KINDS, Kind, in_full, taken_apart
from .reading import reading
from .refused import ModelRefused
from .tensor_file import State, quoted, state_of

LARGEST_FRONT = 64 * 2**20
"""Bytes before the tensors: a vocabulary of 260,000 words and its merges take some 15 million."""
LARGEST_VALUES = 160 * 2**20
"""Bytes for all it says, as Python's objects: 260,000 words and merges take some 90 million."""
BYTES_OF_NUMBER = 40
MOST_FIELDS, MOST_TENSORS = 10_000, 100_000
LARGEST = 2**31
"""The most numbers of one tensor."""
STRING, ARRAY = 8, 9
CODES = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
"""How `struct` calls each kind of value, by the number that stands in a file."""


@dataclass(frozen=True)
class Place:
    """Where a tensor stands: its shape, the kind of its numbers, and its first byte."""

    shape: tuple[int, ...]
    kind: int
    first: int

    @property
    def bytes_of_row(self) -> int:
        """How many bytes the last axis takes."""
        kind = KINDS[self.kind]
        return self.shape[-1] // kind.n_numbers * kind.n_bytes


class GgufFile:
    """An opened GGUF file: `fields` and `places` of tensors. Raises ModelRefused, in words."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with reading(), path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            self.fields, self.places = _Front(path.name, file, size).read()

    def matrix(self, name: str, rows: Sequence[int] | None = None) -> Tensor:
        """A tensor in float32, or some `rows`. Raises ModelRefused if not there, or changed."""
        place = self.places.get(name)
        if place is None:
            raise ModelRefused(f"{self.path.name} has no tensor {quoted(name)}")
        n_rows, width = math.prod(place.shape[:-1]), place.bytes_of_row
        for row in () if rows is None else rows:
            if not 0 <= row < n_rows:
                raise IndexError(f"{name} has no row {row}: it has {n_rows}")
        content = self._content(place.first, width, [range(n_rows)] if rows is None else runs(rows))
        stored = torch.frombuffer(content, dtype=torch.uint8).view(-1, width)
        numbers = in_full(place.kind, stored, place.shape[-1])
        return numbers.view(place.shape if rows is None else (len(rows), *place.shape[1:]))

    def taken_apart(self, name: str, row: int, column: int) -> tuple[float, int, float] | None:
        """A number's scale, its bits, and what is added; None where kept in full, or else."""
        place = self.places[name]
        kind = KINDS[place.kind]
        content = self._content(place.first, place.bytes_of_row, [range(row, row + 1)])
        first = column // kind.n_numbers * kind.n_bytes
        block = torch.frombuffer(content, dtype=torch.uint8)[first : first + kind.n_bytes]
        return taken_apart(place.kind, block, column % kind.n_numbers)

    def _content(self, first: int, width: int, wanted: Sequence[range]) -> bytearray:
        """The bytes of some rows, each so wide, of the tensor that begins at a byte."""
        content = bytearray(sum(map(len, wanted)) * width)
        view, filled = memoryview(content), 0
        with reading(), self.path.open("rb") as file:
            for rows in wanted:
                file.seek(first + rows.start * width)
                end = filled + len(rows) * width
                if file.readinto(view[filled:end]) != end - filled:
                    raise ModelRefused(f"{self.path.name} has become shorter since it was opened")
                filled = end
        return content

    def check_kind(self, name: str) -> None:
        """All kinds of numbers that a front may name are read."""

    def most_common_kind(self) -> Kind:
        """The kind of numbers that most of the file's numbers are of."""
        counts: dict[int, int] = {}
        for place in self.places.values():
            counts[place.kind] = counts.get(place.kind, 0) + math.prod(place.shape)
        return KINDS[max(counts, key=counts.__getitem__)]


def runs(rows: Sequence[int]) -> list[range]:
    """Rows as runs of those that follow each other: one is read at once."""
    if isinstance(rows, range) and rows.step == 1:
        return [rows]
    return [range(row, row + 1) for row in rows]


def opened_gguf(path: Path) -> GgufFile:
    """A GGUF file, kept while it does not change. Raises ModelRefused as `GgufFile` does."""
    return _opened(path, state_of(path))


@lru_cache(maxsize=4)
def _opened(path: Path, _changed: State | None) -> GgufFile:
    return GgufFile(path)


class _Front:
    """Reads what stands before the tensors, and no more bytes than there may be."""

    def __init__(self, name: str, file: BinaryIO, size: int) -> None:
        self.name, self.file, self.size = name, file, size
        self.left, self.room = min(size, LARGEST_FRONT), LARGEST_VALUES

    def read(self) -> tuple[dict[str, Any], dict[str, Place]]:
        if self.bytes(4) != b"GGUF":
            raise ModelRefused(f"{self.name} is no GGUF file: it does not begin with GGUF")
        (version,) = self.unpack("I")
        if version not in (2, 3):
            which = f"of version {version}" if version % 2**16 else "in another byte order"
            raise ModelRefused(
                f"{self.name} is a GGUF file {which}: versions 2 and 3 are read, in the byte order "
                "of today's processors"
            )
        n_tensors, n_fields = self.unpack("QQ")
        for count, most, what in (
            (n_tensors, MOST_TENSORS, "tensors"),
            (n_fields, MOST_FIELDS, "fields"),
        ):
            if count > most:
                raise ModelRefused(
                    f"{self.name} says that it has {count:,} {what}, but at most {most:,} are read"
                )
        fields: dict[str, Any] = {}
        for _ in range(n_fields):
            name = self.key()
            if name in fields:
                raise ModelRefused(f"{self.name} says {quoted(name)} twice")
            fields[name] = self.value(name)
        found = [self.tensor() for _ in range(n_tensors)]
        alignment = fields.get("general.alignment", 32)
        if not isinstance(alignment, int) or not 1 <= alignment <= 2**20:
            said = quoted(repr(alignment))
            raise ModelRefused(f"general.alignment in {self.name} is {said}, no number of bytes")
        begin = -(-self.file.tell() // alignment) * alignment
        return fields, self.placed(found, begin)

    def placed(self, found: list[tuple[str, Place]], begin: int) -> dict[str, Place]:
        places: dict[str, Place] = {}
        for name, place in found:
            if name in places:
                raise ModelRefused(f"{self.name} has the tensor {quoted(name)} twice")
            first = begin + place.first
            n_bytes = math.prod(place.shape[:-1]) * place.bytes_of_row
            if first + n_bytes > self.size:
                raise ModelRefused(
                    f"{self.name} is cut off: {quoted(name)} ends at byte {first + n_bytes:,}, "
                    f"but the file has {self.size:,}"
                )
            places[name] = Place(place.shape, place.kind, first)
        return places

    def tensor(self) -> tuple[str, Place]:
        name = self.key()
        (n_axes,) = self.unpack("I")
        if not 1 <= n_axes <= 4:
            raise ModelRefused(f"{quoted(name)} in {self.name} has {n_axes} axes: 1 to 4 are read")
        shape = self.unpack("Q" * n_axes)[::-1]
        kind, offset = self.unpack("IQ")
        if kind not in KINDS:
            raise ModelRefused(
                f"{quoted(name)} in {self.name} has numbers of kind {kind}, which are not read here"
            )
        if not 0 < math.prod(shape) <= LARGEST or shape[-1] % KINDS[kind].n_numbers:
            sizes = " × ".join(map(str, shape))
            raise ModelRefused(
                f"{quoted(name)} in {self.name} is {sizes}, which numbers of the kind "
                f"{KINDS[kind].name} cannot be"
            )
        return name, Place(shape, kind, offset)

    def value(self, name: str) -> object:
        (kind,) = self.unpack("I")
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            return self.array(name)
        if kind not in CODES:
            raise ModelRefused(
                f"{quoted(name)} in {self.name} is of a kind {kind} that there is not"
            )
        return self.unpack(CODES[kind])[0]

    def array(self, name: str) -> list:
        kind, count = self.unpack("IQ")
        if kind == STRING:
            self.check(count * 8)
            return [self.string() for _ in range(count)]
        if kind not in CODES:
            raise ModelRefused(f"{quoted(name)} in {self.name} is a list of what is not read here")
        code = CODES[kind]
        self.check(count * struct.calcsize(code))
        self.take(count * BYTES_OF_NUMBER)
        content = self.bytes(count * struct.calcsize(code))
        return [each != 0 for each in content] if code == "?" else array(code, content).tolist()

    def key(self) -> str:
        name = self.string()
        if not 0 < len(name) <= 1_000:
            raise ModelRefused(f"{self.name} has a name of {len(name):,} characters")
        return name

    def string(self) -> str:
        (length,) = self.unpack("Q")
        self.check(length)
        self.take(4 * length)  # as many as it may become
        text = self.bytes(length).decode("utf-8", "replace")
        self.take(sys.getsizeof(text) + 8 - 4 * length)
        return text

    def unpack(self, code: str) -> tuple:
        return struct.unpack(f"<{code}", self.bytes(struct.calcsize(f"<{code}")))

    def bytes(self, count: int) -> bytes:
        self.check(count)
        self.left -= count
        return self.file.read(count)

    def take(self, n_bytes: int) -> None:
        """Room for what becomes an object of Python."""
        self.room -= n_bytes
        if self.room < 0:
            raise ModelRefused(
                f"what {self.name} says before its tensors takes more than {LARGEST_VALUES:,} "
                "bytes of memory"
            )

    def check(self, count: int) -> None:
        if count <= self.left:
            return
        if self.size <= LARGEST_FRONT:
            raise ModelRefused(
                f"{self.name} is cut off before its tensors, or no GGUF file: {count:,} bytes are "
                f"to follow, but {self.left:,} do"
            )
        raise ModelRefused(
            f"{self.name} has more than {LARGEST_FRONT:,} bytes before its tensors, or a length in "
            "it cannot be right"
        )
