"""A survey kept in a small file, bound to the model's files as they are and the sentences."""

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import torch
from torch import Tensor

from ..files import tensor_file
from ..kept import digest
from .measures import MEASURES
from .model import Model
from .survey import MOST_PAIRS, Survey

FORMAT = 1
"""To be raised when a survey holds something else, or a measure is taken in another way."""
ABOUT, WHOLE = "about", "whole"


def folder() -> Path | None:
    """`$XDG_CACHE_HOME/attention-explorer`, or in `~/.cache`; None where there is no home. Source:
    XDG Base Directory Specification, by which a relative path does not count.
    """
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        above = named if named.is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return above / "attention-explorer"


def keep(model: Model, sentences: Sequence[str], survey: Survey) -> bool:
    """Keep a survey of these sentences; whether it could be: no folder is no error."""
    path = _path(model)
    if path is None:
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Beside it first: who reads meanwhile has the old one or the new one, and no half.
        with tempfile.TemporaryDirectory(dir=path.parent) as beside:
            written = Path(beside) / path.name
            tensors = _tensors(survey)
            said = {ABOUT: _about(model, sentences), WHOLE: _digest(tensors)}
            tensor_file.write(written, tensors, said)
            written.replace(path)
    except OSError:
        return False
    return True


def kept(model: Model, sentences: Sequence[str]) -> Survey | None:
    """The survey kept for a model and these sentences; None where stale, broken or none."""
    path = _path(model)
    try:
        if path is None or not path.exists() or path.stat().st_size > _most_bytes(model):
            return None
        with tensor_file.opened(path) as file:
            said, tensors = file.metadata() or {}, file.get_tensors()
        if (said.get(ABOUT), said.get(WHOLE)) != (_about(model, sentences), _digest(tensors)):
            return None
    except (OSError, ValueError):
        return None
    counts = {name: tuple(tensors[name].tolist()) for name in ("n_queries", "n_sentences")}
    return Survey(**tensors | counts | {"n_read": int(tensors["n_read"])})


def _path(model: Model) -> Path | None:
    """A file for each place where a model lies: a new model there takes the place of the old."""
    above = folder()
    place = hashlib.sha256(str(model.source.path.absolute()).encode()).hexdigest()
    return above and above / f"survey-{place[:16]}.safetensors"


def _about(model: Model, sentences: Sequence[str]) -> str:
    """The model's files by name, size and time, and the sentences. Raises OSError for none."""
    path = model.source.path
    files = sorted(each for each in path.iterdir() if each.is_file()) if path.is_dir() else [path]
    stats = [(each.name, each.stat().st_size, each.stat().st_mtime_ns) for each in files]
    digest = hashlib.sha256("\n".join(sentences).encode()).hexdigest()
    return json.dumps([FORMAT, *MEASURES, stats, digest])


def _most_bytes(model: Model) -> int:
    """More than a survey of this model can take."""
    n_heads = model.settings.n_layers * model.settings.n_heads
    return 2**16 + n_heads * (16 * len(MEASURES) + 64 * MOST_PAIRS)


def _tensors(survey: Survey) -> dict[str, Tensor]:
    found = {each.name: getattr(survey, each.name) for each in fields(Survey)}
    return {name: torch.as_tensor(value) for name, value in found.items()}


def _digest(tensors: dict[str, Tensor]) -> str:
    """What tells a survey that is as it was written from a broken one."""
    return repr([(name, digest(each)) for name, each in sorted(tensors.items())])
