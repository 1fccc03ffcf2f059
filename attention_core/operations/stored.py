"""Numbers in a file on this machine: read where they stand, and nothing else of the file."""

from pathlib import Path

from torch import Tensor

from ..expression import Expression, Number
from ..files.gguf_file import opened_gguf
from ..files.tensor_file import opened
from .base import Operation

KINDS = ("F32", "F16", "BF16")
"""The kinds of numbers that are read, as a file calls them."""


class Stored(Operation):
    """The numbers of one tensor in a safetensors file, as float32.

    Raises ValueError, in words, for another kind of numbers than `KINDS`, and for a file that is
    broken or has no such tensor.
    """

    in_latex = r"\text{{stored}}"
    in_words = "A number that stands in a file: nothing is computed before it."
    imports = ("from safetensors import safe_open",)

    path: str
    name: str

    def value(self) -> Tensor:
        with opened(Path(self.path)) as file:
            kind = file.get_slice(self.name).get_dtype()
            if kind not in KINDS:
                raise ValueError(f"{self.name} has numbers of kind {kind}, not F32, F16 or BF16")
            return file.get_tensor(self.name).float()

    def code(self) -> str:
        file = f"safe_open({self.path!r}, 'pt', backend='pread')"
        return f"{file}.get_tensor({self.name!r}).float()"

    def arithmetic(self, index: tuple[int, ...]) -> Expression:
        with opened(Path(self.path)) as file:
            return Number(float(file.get_slice(self.name)[index]))


class StoredInGguf(Operation):
    """The numbers of one tensor in a GGUF file, as float32: those of few bits multiplied out.

    Raises ValueError, in words, for a file that is broken or has no such tensor.
    """

    in_latex = r"\text{{stored}}"
    in_torch = "from_gguf({self.path!r}, {self.name!r})"
    in_words = "A number that stands in a file, of a few bits and a scale: both multiplied."
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
        "def from_gguf(path, name):",
        "    each = tensors_of(path)[name]",
        "    return torch.from_numpy(dequantize(each.data, each.tensor_type).astype('float32'))",
        "",
    )

    path: str
    name: str

    def value(self) -> Tensor:
        return opened_gguf(Path(self.path)).matrix(self.name)

    def arithmetic(self, index: tuple[int, ...]) -> Expression:
        file = opened_gguf(Path(self.path))
        if len(index) == 1:
            return Number(float(file.matrix(self.name)[index]))
        (row,) = file.matrix(self.name, [index[0]])
        return Number(float(row[index[1:]]))
