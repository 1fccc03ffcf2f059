"""Tensors in a file: what is written is read again, and a broken file is refused in words."""

import json
import os
import re
import struct

import pytest
import safetensors
import torch

from attention_core.files import tensor_file
from attention_core.operations import Stored


@pytest.fixture
def file(tmp_path):
    return tmp_path / "some.safetensors"


def tensors(dtype=torch.float32):
    generator = torch.Generator().manual_seed(2)
    shapes = {"one": (2, 3, 5), "row": (7,), "single": (), "none": (0, 3)}
    return {name: torch.randn(s, generator=generator).to(dtype) for name, s in shapes.items()}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_what_is_written_is_read_again_bit_by_bit(file, dtype):
    tensor_file.write(file, tensors(dtype), {"made by": "a test"})
    found = tensor_file.read(file)
    assert found.keys() == tensors().keys()
    for name, tensor in tensors(dtype).items():
        assert found[name].dtype == dtype
        assert found[name].equal(tensor)


def test_numbers_are_read_without_torch_as_with_it(file):
    tensor_file.write(file, tensors(torch.float16) | {"wide": torch.tensor([[0.1, 2.0]])})
    for name, (kind, shape, numbers) in tensor_file.read_numbers(file).items():
        tensor = tensor_file.read(file)[name]
        assert (kind, shape) == ("F32" if name == "wide" else "F16", tuple(tensor.shape))
        assert list(numbers) == tensor.flatten().tolist()


def with_header(header, numbers=b"\0" * 8):
    written = json.dumps(header).encode() if isinstance(header, dict | list) else header
    return struct.pack("<Q", len(written)) + written + numbers


def entry(dtype="F32", shape=(2,), places=(0, 8)):
    return with_header({"a": {"dtype": dtype, "shape": shape, "data_offsets": places}})


TWO = b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
TWO += b'"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
UNREADABLE = "header that cannot be read"
BROKEN = {
    "empty": (b"", "it has 0 bytes"),
    "short": (b"\1\2\3", "it has 3 bytes"),
    "a pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "within its header"),
    "cut in the header": (entry()[:20], "within its header"),
    "no JSON": (with_header(b"{never"), UNREADABLE),
    "no text": (with_header(b"\xff\xfe\x00"), UNREADABLE),
    "a list": (with_header([1]), UNREADABLE),
    "no shape": (with_header({"a": {"dtype": "F32"}}), UNREADABLE),
    "words as places": (entry(places=("0", "8")), UNREADABLE),
    "one place": (entry(places=(0,)), UNREADABLE),
    "an unknown kind": (entry(dtype="Z" * 100_000), UNREADABLE),
    "half a size": (entry(shape=(2.9,)), UNREADABLE),
    "too large a number": (with_header(b'{"a":{"dtype":"F32","shape":[1e400]}}'), UNREADABLE),
    "deep": (with_header(b'{"a":' + b"[" * 100_000), UNREADABLE),
    "deep words": (with_header(b'{"__metadata__":{"a":' + b"[" * 100_000), UNREADABLE),
    "below 0": (entry(places=(-8, 0)), UNREADABLE),
    "shape below 0": (entry(shape=(-1, -2)), UNREADABLE),
    "cut in the numbers": (entry()[:-1], "is cut off"),
    "more behind": (entry() + b"\0", "holds more bytes"),
    "end before start": (entry(places=(8, 0)), "cannot be right"),
    "overlapping": (with_header(TWO), "overlap"),
    "another size": (entry(shape=(3,)), "the bytes of a tensor are too few"),
    "a huge size": (entry(shape=(2**40, 2**40)), "no file can hold"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_in_words(file, name):
    content, said = BROKEN[name]
    file.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        tensor_file.read(file)
    assert str(error.value).startswith("some.safetensors")
    assert len(str(error.value)) < 200


@pytest.mark.parametrize("gibibytes", [3, 0.05])
def test_a_header_of_gibibytes_is_refused_before_it_is_read(file, gibibytes, monkeypatch):
    length = int(gibibytes * 2**30)
    with file.open("wb") as sparse:
        sparse.write(struct.pack("<Q", length) + b"{")
        sparse.truncate(length + 8)
    monkeypatch.setattr("safetensors.safe_open", None)
    with pytest.raises(
        ValueError, match=r"^some\.safetensors has a header of .* bytes, but at most"
    ):
        tensor_file.read(file)


def test_what_is_no_file_is_refused_and_a_pipe_is_not_waited_for(file):
    for make in (file.mkdir, lambda: os.mkfifo(file), lambda: file.symlink_to(file)):
        make()
        with pytest.raises(ValueError, match=r"^some\.safetensors (is no file|cannot be read)"):
            tensor_file.read(file)
        file.rmdir() if file.is_dir() else file.unlink()


def test_a_header_is_read_once_while_the_file_does_not_change(file, monkeypatch):
    """Each tensor of a model is asked for by itself: of 800 layers that were two minutes."""
    made = []
    opens = safetensors.safe_open
    monkeypatch.setattr("safetensors.safe_open", lambda *a, **b: made.append(a) or opens(*a, **b))
    for factor, n_opened in ((1, 1), (2, 2)):
        tensor_file.write(file, {name: factor * each for name, each in tensors().items()})
        for name, tensor in tensors().items():
            assert Stored(str(file), name).value().equal(factor * tensor)
        assert len(made) == n_opened
    with file.open("r+b") as cut:
        cut.truncate(100)
    with pytest.raises(ValueError, match="cut off"):
        Stored(str(file), "one").value()


def test_a_step_of_a_file_says_what_is_not_there_or_cannot_be_read(file):
    tensor_file.write(file, {"ids": torch.tensor([1, 2])})
    for name, said in (("ids", "ids has numbers of kind I64"), ("a", "has no tensor of that name")):
        with pytest.raises(ValueError, match=said):
            Stored(str(file), name).value()


def test_a_quotation_is_short_and_moves_no_cursor():
    for value in ("x" * 10**6, ["y" * 100] * 9, "\x1b[31m" * 99, {"a": {"b": "c" * 99}}):
        assert len(tensor_file.quoted(value)) <= tensor_file.QUOTED
        assert tensor_file.quoted(value).isprintable()
