"""Numbers in a file on this machine: read where they stand, and nothing else of the file."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from ..expression import Expression, Number
from .base import Operation

DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
"""The kinds of numbers that are read, as a file calls them, and torch."""


@dataclass(frozen=True)
class Stored(Operation):
    """The numbers of one tensor in a file, as float32: those of the `kind` from byte `start` on, of
    this shape. The name of the tensor is for a reader alone.

    Raises ValueError for another kind, and where the file has not so many bytes.
    """

    path: str
    name: str
    kind: str
    shape: tuple[int, ...]
    start: int

    def __post_init__(self) -> None:
        if self.kind not in DTYPES:
            raise ValueError(f"{self.name} has numbers of kind {self.kind}, not F32, F16 or BF16")

    @property
    def _n_bytes(self) -> int:
        return math.prod(self.shape) * DTYPES[self.kind].itemsize

    def value(self) -> Tensor:
        with open(self.path, "rb") as file:
            file.seek(self.start)
            stored_bytes = bytearray(file.read(self._n_bytes))
        if len(stored_bytes) < self._n_bytes:
            raise ValueError(f"{self.path} is cut off: {self.name} ends beyond the file")
        numbers = torch.frombuffer(stored_bytes, dtype=DTYPES[self.kind])
        return numbers.reshape(self.shape).to(torch.float32, copy=True)

    def formula(self) -> str:
        return r"\text{stored}"

    def preamble(self) -> tuple[str, ...]:
        return (
            f"with open({self.path!r}, 'rb') as stored_file:",
            f"    stored_file.seek({self.start})",
            f"    stored_bytes = bytearray(stored_file.read({self._n_bytes}))",
        )

    def code(self) -> str:
        numbers = f"torch.frombuffer(stored_bytes, dtype={DTYPES[self.kind]})"
        return f"{numbers}.reshape({list(self.shape)}).to(torch.float32, copy=True)"

    def arithmetic(self, index: tuple[int, ...]) -> Expression:
        at = 0
        for place, size in zip(index, self.shape, strict=True):
            at = at * size + place
        one = DTYPES[self.kind].itemsize
        single = Stored(self.path, self.name, self.kind, (1,), self.start + at * one)
        return Number(float(single.value()[0]))

    def words(self) -> str:
        return "A number that stands in a file: nothing is computed before it."
