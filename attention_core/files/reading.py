"""Around the reading of a model's files: whatever goes wrong there, in words."""

import struct
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .refused import ModelRefused
from .tensor_file import State, quoted, state_of

OURS = Path(__file__).parents[2]
"""Where this program's own code lies."""
NO_MEMORY = ("allocate memory", "not enough memory", "out of memory")
"""What torch says of it, as a RuntimeError."""

AsOpened = Mapping[Path, State | None]
"""How a model's files were when it was opened; None for one that was not there."""


@contextmanager
def reading(as_opened: AsOpened | None = None) -> Iterator[None]:
    """Around what reads a model: what goes wrong is a ModelRefused, first that files changed."""
    try:
        yield
    except BaseException as error:
        # The panic of a library in Rust is no Exception; what ends a run of a page is none either.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        _check_unchanged(as_opened)
        if isinstance(error, ModelRefused):
            raise
        raise ModelRefused(in_words(error)) from error
    _check_unchanged(as_opened)


def _check_unchanged(as_opened: AsOpened | None) -> None:
    for path, before in (as_opened or {}).items():
        if (now := state_of(path)) != before:
            what = "is not there any more" if now is None else "has changed since it was opened"
            raise ModelRefused(f"{quoted(path.name)} {what}")


def in_words(error: BaseException) -> str:
    """What went wrong, for a model's reader: by the file, the machine, or our code, and where."""
    said = quoted(str(error))
    if isinstance(error, OSError):
        name = quoted(Path(str(error.filename)).name) if error.filename else "a file of it"
        return f"{name} cannot be read: {error.strerror or said}"
    if isinstance(error, MemoryError) or any(each in str(error) for each in NO_MEMORY):
        return "it needs more memory than there is here"
    if isinstance(error, UnicodeError | EOFError | struct.error):
        return f"a file of it is broken: {said}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if Path(each.filename).is_relative_to(OURS)] or frames
    where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    return (
        "Attention Explorer stumbled over it, which is a mistake of ours and not of your file. "
        f"Please report it: {type(error).__name__}: {said}{where}"
    )
