"""Recordings of models' attention that the app was started with. A visitor names one, no path."""

import os
from collections import OrderedDict
from pathlib import Path
from threading import Lock

from attention_core.files.reading import reading
from attention_core.files.refused import ModelRefused
from attention_core.files.tensor_file import quoted, state_of
from attention_core.recording.recording import Recording
from attention_core.recording.saved import load_recording

from ..reactive.isolation import gate_opened
from ..reactive.source import source
from .started import RECORDING

ENDING = ".safetensors"
MOST_FILES = 200
"""So many files of a folder can be chosen, the first by their names."""
LARGEST_FILE = 2**30
"""Bytes. A recording is read as a whole, and `recorded` keeps half as much where nobody says more.
"""
KEPT = 2
"""So many recordings stay open, for whoever goes to and fro."""
_OPENING = Lock()
_OPEN = OrderedDict[tuple, Recording | str]()


def paths() -> dict[str, Path]:
    """Where the recordings lie, by the name that a link has for each: its place."""
    return {f"{at}": each for at, each in enumerate(_files())}


@source()
def _files(_: str) -> tuple[Path, ...]:
    given = os.environ.get(RECORDING, "")
    if not given:
        return ()
    path = Path(os.path.abspath(os.path.expanduser(given)))
    try:
        if path.is_dir():
            files = sorted(each for each in path.iterdir() if each.suffix == ENDING)
            return tuple(files[:MOST_FILES])
    except OSError:
        pass  # opened as a file, it says why it cannot be
    return (path,)


def choices() -> dict[str, str]:
    """The recordings by name, and what they are called on the page: as their files are."""
    return {name: quoted(path.name) for name, path in paths().items()}


def opened(name: str) -> Recording:
    """A recording, opened once for everybody. Raises ModelRefused, in words."""
    _file_of.touch(name)  # once it is written anew, what was made of it is stale
    path = paths().get(name)
    if path is None:
        raise ModelRefused("there is no such recording")
    key = path, state_of(path)
    with _OPENING:  # else two who come at once would both read it
        if key not in _OPEN:
            with gate_opened():  # the source has tracked which file it is, and what state it is in
                _OPEN[key] = _read(path)
            while len(_OPEN) > KEPT:
                _OPEN.popitem(last=False)
        _OPEN.move_to_end(key)
        found = _OPEN[key]
    if isinstance(found, str):
        raise ModelRefused(found)
    return found


@source()
def _file_of(name: str) -> tuple:
    path = paths().get(name)
    return str(path), path and state_of(path)


def _read(path: Path) -> Recording | str:
    """The recording in a file, or why there is none."""
    try:
        state = state_of(path)
        if state and state[1] > LARGEST_FILE:
            raise ModelRefused(
                f"{quoted(path.name)} has {state[1] / 2**20:,.0f} MB, and at most "
                f"{LARGEST_FILE / 2**20:,.0f} are read: record fewer layers=[…] or queries=slice(…)"
            )
        with reading():
            found = load_recording(path)
            if not len(found):
                raise ModelRefused(f"{quoted(path.name)} is a recording without a layer")
            return found
    except ModelRefused as error:
        return f"{error}"
