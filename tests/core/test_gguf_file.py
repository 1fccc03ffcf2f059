"""GGUF files: numbers of few bits, and files that are broken or mean harm."""

import struct
import tracemalloc

import gguf
import numpy as np
import pytest
import torch

from attention_core.files.gguf_file import GgufFile, opened_gguf
from attention_core.files.quantised import KINDS, in_full, taken_apart
from attention_core.files.refused import ModelRefused
from attention_core.operations import StoredInGguf
from gguf_files import FEW_BITS, string, value, written


@pytest.mark.parametrize("kind", KINDS, ids=[each.name for each in KINDS.values()])
def test_numbers_of_few_bits_are_those_of_the_package_gguf(kind):
    generator = np.random.default_rng(kind)
    n_columns = 3 * 256
    width = n_columns // KINDS[kind].n_numbers * KINDS[kind].n_bytes
    stored = generator.integers(0, 256, (5, width), dtype=np.uint8)
    which = gguf.GGMLQuantizationType(kind)
    assert gguf.GGML_QUANT_SIZES[which] == (KINDS[kind].n_numbers, KINDS[kind].n_bytes)
    assert which.name == KINDS[kind].name
    with np.errstate(all="ignore"):
        wanted = gguf.quants.dequantize(stored, which)
        found = in_full(kind, torch.from_numpy(stored), n_columns)
    assert found.shape == (5, n_columns)
    assert found.dtype == torch.float32
    np.testing.assert_array_equal(found.numpy(), wanted)


@pytest.mark.parametrize("kind", KINDS, ids=[each.name for each in KINDS.values()])
def test_a_number_of_few_bits_is_taken_apart_into_what_it_is_made_of(kind):
    n_numbers, n_bytes = KINDS[kind].n_numbers, KINDS[kind].n_bytes
    generator = np.random.default_rng(kind)
    blocks = torch.from_numpy(generator.integers(0, 128, (7, n_bytes), dtype=np.uint8))
    if KINDS[kind].name not in ("Q4_0", "Q4_1", "Q8_0"):
        assert taken_apart(kind, blocks[0], 0) is None
        return
    wanted = in_full(kind, blocks, n_numbers)
    for block in range(7):
        for at in (0, 5, 16, 31):
            scale, bits, added = taken_apart(kind, blocks[block], at)
            assert isinstance(bits, int)
            assert scale * bits + added == pytest.approx(float(wanted[block, at]), rel=1e-6)


@pytest.mark.parametrize(
    ("kind", "words"), [(0, None), (2, "4 bits (Q4_0)"), (14, "6 bits (Q6_K)"), (30, None)]
)
def test_how_many_bits_is_said(kind, words):
    assert KINDS[kind].words == words


FIELDS = {"general.architecture": "none", "a list": ["x", "y"], "numbers": [1, 2], "yes": True}
NUMBERS = np.arange(15.0).reshape(3, 5)


@pytest.fixture
def made(tmp_path):
    def make(content):
        path = tmp_path / "some.gguf"
        path.write_bytes(content)
        return path

    return make


def test_a_file_is_read_as_it_was_written(made):
    file = GgufFile(made(written(FIELDS, {"w": NUMBERS, "v": NUMBERS[0]}, {"v": "F16"})))
    assert file.fields == FIELDS
    np.testing.assert_array_equal(file.matrix("w").numpy(), NUMBERS)
    np.testing.assert_array_equal(file.matrix("v").numpy(), NUMBERS[0])
    np.testing.assert_array_equal(file.matrix("w", [2, 0, 2]).numpy(), NUMBERS[[2, 0, 2]])
    with pytest.raises(IndexError, match="no row 3"):
        file.matrix("w", [3])
    with pytest.raises(ModelRefused, match="no tensor u"):
        file.matrix("u")


def test_a_file_that_was_written_anew_is_read_anew(made):
    path = made(written(FIELDS, {"w": NUMBERS}))
    assert opened_gguf(path) is opened_gguf(path)
    made(written(FIELDS, {"w": NUMBERS, "another": NUMBERS}))
    assert "another" in opened_gguf(path).places


def test_a_file_that_became_shorter_is_said(made):
    path = made(written(FIELDS, {"w": NUMBERS}))
    file = GgufFile(path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ModelRefused, match="shorter since it was opened"):
        file.matrix("w")
    path.unlink()
    with pytest.raises(ModelRefused, match="cannot be read: No such file"):
        file.matrix("w")


def front(n_tensors=0, n_fields=0, version=3):
    return b"GGUF" + struct.pack("<IQQ", version, n_tensors, n_fields)


def tensor(name="w", shape=(5, 3), kind=0, offset=0, n_axes=None):
    axes = len(shape) if n_axes is None else n_axes
    return string(name) + struct.pack(f"<I{len(shape)}QIQ", axes, *shape, kind, offset)


def field(kinds, *numbers):
    """A file of one field: its name, and whole numbers of 4 and of 8 bytes."""
    return front(n_fields=1) + string("a") + struct.pack(kinds, *numbers)


def one_tensor(rest=99, **given):
    return front(1) + tensor(**given) + bytes(rest)


ALIGNMENT = front(n_fields=1) + string("general.alignment")
NASTY = "\x1b[2J" + "x" * 900
BROKEN = {
    "empty": (b"", "cut off before its tensors, or no GGUF file: 4 bytes are to follow, but 0 do"),
    "another kind of file": (b"PK\3\4" + bytes(100), "does not begin with GGUF"),
    "version 1": (front(version=1) + bytes(64), "of version 1:"),
    "other byte order": (b"GGUF" + struct.pack(">I", 3) + bytes(64), "in another byte order"),
    "too many fields": (front(n_fields=2**63) + bytes(64), "fields, but at most 10,000"),
    "too many tensors": (front(n_tensors=2**40) + bytes(64), "tensors, but at most 100,000"),
    "fields that end early": (front(n_fields=9_999) + string("a") + value(1), "8 bytes are to f"),
    "a field without a name": (front(n_fields=1) + bytes(64), "a name of 0 characters"),
    "a string of gigabytes": (field("<IQ", 8, 2**40), f": {2**40:,} bytes are to follow"),
    "a name of gigabytes": (front(n_fields=1) + struct.pack("<Q", 2**62), f": {2**62:,} bytes"),
    "a list of more strings than bytes": (field("<IIQ", 9, 8, 2**61), f": {2**64:,} bytes are"),
    "a list of more numbers than bytes": (field("<IIQ", 9, 12, 2**60), f": {2**63:,} bytes are"),
    "a list of lists": (field("<" + "IIQ" * 500, *(9, 9, 1) * 500), "a list of what is not read"),
    "a value of no kind": (field("<I", 13) + bytes(9), "kind 13 that there is not"),
    "a field twice": (front(n_fields=2) + (string(NASTY) + value(1)) * 2, "twice"),
    "a tensor twice": (front(2) + tensor() * 2 + bytes(200), "the tensor w twice"),
    "a tensor of no axes": (one_tensor(shape=()), "0 axes"),
    "a tensor of many axes": (one_tensor(shape=(1,) * 9), "9 axes"),
    "a tensor of nothing": (one_tensor(shape=(0, 3)), "3 × 0"),
    "a tensor larger than numbers go": (one_tensor(shape=(2**33, 2**33)), "cannot be"),
    "a tensor of half a block": (one_tensor(shape=(33, 1), kind=2), "Q4_0"),
    "numbers of no kind": (one_tensor(kind=99), "kind 99"),
    "a tensor behind the end": (one_tensor(offset=2**40), "is cut off: w ends"),
    "a tensor that ends behind the end": (one_tensor(20), "is cut off: w ends"),
    "an alignment of 0": (ALIGNMENT + value(0), "general.alignment"),
    "an alignment of words": (ALIGNMENT + value("x"), "general.alignment"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_in_words(made, name):
    content, words = BROKEN[name]
    with pytest.raises(ModelRefused, match=words) as refused:
        GgufFile(made(content))
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 200


def test_a_file_with_any_byte_changed_is_read_or_refused(made):
    """No other error, whatever stands there."""
    content = written(FIELDS, {"w": NUMBERS})
    for at in range(len(content) - 64):
        for other in (0, 255, content[at] ^ 1):
            changed = content[:at] + bytes([other]) + content[at + 1 :]
            try:
                file = GgufFile(made(changed))
                for name in file.places:
                    file.matrix(name)
            except ModelRefused:
                pass


@pytest.mark.parametrize(("content", "words"), [
    (("<IQ", 8, 6 * 2**30), "more than 67,108,864 bytes before its tensors"),
    (("<IQ", 8, 60 * 2**20), "bytes of memory"),
    (("<IIQ", 9, 1, 60 * 2**20), "bytes of memory"),
    (("<IIQ", 9, 7, 60 * 2**20), "bytes of memory"),
    (("<IIQ", 9, 8, 7 * 2**20), "bytes of memory"),
])  # fmt: skip
def test_metadata_takes_no_more_memory_than_is_allowed(made, monkeypatch, content, words):
    """A file that is as large as it says, without a byte of it on the disk."""
    monkeypatch.setattr("attention_core.files.gguf_file.LARGEST_VALUES", allowed := 8 * 2**20)
    path = made(field(*content))
    with path.open("r+b") as file:
        file.truncate(8 * 2**30)
    tracemalloc.start()
    try:
        with pytest.raises(ModelRefused, match=words):
            GgufFile(path)
        assert tracemalloc.get_traced_memory()[1] < allowed
    finally:
        tracemalloc.stop()


def test_every_kind_of_value_is_read_as_the_package_gguf_writes_it(tmp_path):
    kinds, path = gguf.GGUFValueType, tmp_path / "some.gguf"
    whole = {
        getattr(kinds, f"{sign}INT{bits}"): (
            -(2 ** (bits - 1)) * (not sign),
            2 ** (bits - (not sign)) - 1,
        )
        for sign in ("U", "")
        for bits in (8, 16, 32, 64)
    }
    values = whole | {
        kinds.FLOAT32: (-1.5, 2.0**127),
        kinds.FLOAT64: (-0.1, 1e300),
        kinds.BOOL: (True, False),
        kinds.STRING: ("", "Käse 🐈"),
    }
    assert {*values} == {*kinds} - {kinds.ARRAY}
    writer, wanted = gguf.GGUFWriter(path, "none"), {}
    for kind, each in values.items():
        for at, one in enumerate(each):
            wanted[f"{kind.name}.{at}"] = one
            writer.add_key_value(f"{kind.name}.{at}", one, kind)
        wanted[kind.name] = [*each]
        writer.add_key_value(kind.name, [*each], kinds.ARRAY, kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    found = GgufFile(path).fields
    assert {name: found[name] for name in wanted} == wanted
    assert all(type(found[name]) is type(one) for name, one in wanted.items())


def test_a_number_of_few_bits_is_taken_apart_into_its_block_s_scale_bits_and_summand():
    stored = StoredInGguf(str(FEW_BITS), "four_bits")
    numbers = stored.value()
    for index in ((0, 0), (1, 5), (2, 63)):
        made = stored.arithmetic(index)
        assert made.value == pytest.approx(float(numbers[index]))
        product, added = made.parts
        scale, bits = product.parts
        assert bits.value in range(16)
        assert scale.value * bits.value + added.value == pytest.approx(made.value)
