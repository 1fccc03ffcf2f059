"""Around the reading of a model's files: what goes wrong, in the words of the one who reads it."""

import errno
import struct

import pytest

from attention_core.files.reading import OURS, in_words, reading
from attention_core.files.refused import ModelRefused
from attention_core.files.tensor_file import state_of
from attention_core.real_model.names import __file__ as OWN_FILE


class PanicException(BaseException):  # as a library in Rust calls it
    pass


def raised(error):
    try:
        raise error
    except BaseException as found:
        return found


@pytest.mark.parametrize(("error", "said"), [
    (OSError(errno.EACCES, "Permission denied", "/a/b/config.json"),
     "config.json cannot be read: Permission denied"),
    (OSError("gone"), "a file of it cannot be read: gone"),
    (MemoryError(), "it needs more memory than there is here"),
    (RuntimeError("DefaultCPUAllocator: not enough memory: you"), "it needs more memory than"),
    (RuntimeError("[enforce fail] can't allocate memory"), "it needs more memory than"),
    (RuntimeError("CUDA out of memory"), "it needs more memory than"),
    (UnicodeDecodeError("utf-8", b"x", 0, 1, "odd"), "a file of it is broken: "),
    (EOFError("ends"), "a file of it is broken: ends"),
    (struct.error("unpack requires"), "a file of it is broken: unpack requires"),
])  # fmt: skip
def test_what_the_file_or_the_machine_did_is_said_of_it(error, said):
    words = in_words(raised(error))
    assert words.startswith(said)
    assert "mistake of ours" not in words
    assert "/a/b" not in words


def test_of_a_mistake_of_ours_the_last_place_in_our_code_is_told():
    def stumble(depth):
        return {}["x"] if depth == 0 else stumble(depth - 1)

    found = raised_in = None
    try:
        stumble(2)
    except KeyError as error:
        found, raised_in = in_words(error), error.__traceback__
    last = raised_in
    while last.tb_next:
        last = last.tb_next
    assert found.endswith(f"KeyError: 'x' (test_reading.py, line {last.tb_lineno})")
    assert "Please report it" in found
    assert (OURS / "attention_core" / "real_model" / "names.py").samefile(OWN_FILE)
    assert in_words(ValueError("never raised")).endswith("ValueError: never raised")


def around(error, as_opened=None):
    """What comes of an error, or of none, while a model is read."""
    with reading(as_opened):
        if error:
            raise error


@pytest.mark.parametrize(("error", "becomes", "said"), [
    (ValueError("odd"), ModelRefused, "mistake of ours"),
    (ModelRefused("as it is"), ModelRefused, r"^as it is$"),
    (PanicException("at byte 3"), ModelRefused, "PanicException: at byte 3"),
    (KeyboardInterrupt(), KeyboardInterrupt, r"^$"),
])  # fmt: skip
def test_around_a_reading_errors_become_refusals_and_what_ends_a_run_does_not(error, becomes, said):
    with pytest.raises(becomes, match=said):
        around(error)


def test_that_a_file_has_changed_is_said_first_whatever_it_made_go_wrong(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"a")
    opened = {path: state_of(path), tmp_path / "beside": None}
    around(None, opened)
    path.write_bytes(b"abc")
    for error in (None, ValueError("odd"), ModelRefused("broken")):
        with pytest.raises(ModelRefused, match="has changed since it was opened"):
            around(error, opened)
    path.unlink()
    with pytest.raises(ModelRefused, match="is not there any more"):
        around(None, opened)
