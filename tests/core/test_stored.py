"""Tensors in a file: what is written is read again, and a broken file is refused in words."""

import json
import re
import struct

import pytest
import torch

from attention_core import stored
from attention_core.small_models import shipped


@pytest.fixture
def file(tmp_path):
    return tmp_path / "some.safetensors"


def tensors(dtype=torch.float32):
    generator = torch.Generator().manual_seed(2)
    shapes = {"one": (2, 3, 5), "row": (7,), "single": (), "none": (0, 3)}
    return {
        name: torch.randn(shape, generator=generator).to(dtype) for name, shape in shapes.items()
    }


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_what_is_written_is_read_again_bit_by_bit(file, dtype):
    stored.write(file, tensors(dtype), {"made by": "a test"})
    found = stored.read(file)
    assert [*found] == [*tensors()]
    for name, tensor in tensors(dtype).items():
        assert found[name].dtype == dtype
        assert found[name].equal(tensor)


def test_the_file_is_laid_out_as_the_format_says(file):
    stored.write(file, {"a": torch.tensor([[1.0, 2.0]]), "b": torch.tensor([3.0])}, {"x": "y"})
    content = file.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    assert length % 8 == 0
    assert json.loads(content[8 : 8 + length]) == {
        "__metadata__": {"x": "y"},
        "a": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]},
        "b": {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]},
    }
    assert struct.unpack("<3f", content[8 + length :]) == (1.0, 2.0, 3.0)


def test_other_numbers_are_not_stored(file):
    with pytest.raises(ValueError, match=r"only float32 and float16"):
        stored.write(file, {"ids": torch.tensor([1, 2])})


def with_header(header, numbers=b"\0" * 8):
    written = json.dumps(header).encode() if isinstance(header, dict | list) else header
    return struct.pack("<Q", len(written)) + written + numbers


def entry(dtype="F32", shape=(2,), places=(0, 8)):
    return with_header({"a": {"dtype": dtype, "shape": shape, "data_offsets": places}})


BROKEN = {
    "empty": (b"", "it has 0 bytes"),
    "short": (b"\1\2\3", "it has 3 bytes"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "within its header"),
    "cut in the header": (entry()[:20], "within its header"),
    "no JSON": (with_header(b"{never"), "header that cannot be read"),
    "no text": (with_header(b"\xff\xfe\x00"), "header that cannot be read"),
    "a list": (with_header([1]), "header that cannot be read"),
    "no shape": (with_header({"a": {"dtype": "F32"}}), "header that cannot be read"),
    "words as places": (entry(places=("a", "b")), "header that cannot be read"),
    "one place": (entry(places=(0,)), "header that cannot be read"),
    "another kind": (entry(dtype="I64"), "kind I64"),
    "cut in the numbers": (entry()[:-1], "a end beyond the file"),
    "below 0": (entry(places=(-8, 0)), "below 0"),
    "shape below 0": (entry(shape=(-1, -2)), "below 0"),
    "end before start": (entry(places=(8, 0)), "below 0"),
    "another size": (entry(shape=(3,)), "a is 3, which 8 bytes cannot hold"),
    "a huge size": (entry(shape=(2**40, 2**40)), "cannot hold"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_in_words(file, name):
    content, said = BROKEN[name]
    file.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        stored.read(file)
    assert str(error.value).startswith("some.safetensors")


def test_the_shipped_weights_cut_off_anywhere_are_refused(file):
    content = shipped.WEIGHTS.read_bytes()
    for length in range(0, len(content), 997):
        file.write_bytes(content[:length])
        with pytest.raises(ValueError, match=file.name):
            stored.read(file)
