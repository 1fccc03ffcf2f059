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
from .measures import MEASURES
from .model import Model
from .survey import MOST_PAIRS, Survey, token_ids

FORMAT = 1
"""To be raised when a survey holds something else, or a measure is taken in another way."""
ABOUT = "about"
ROUNDED = 1e-5
"""A sum of weights may be above 1 by this."""


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
            tensor_file.write(written, _tensors(survey), {ABOUT: _about(model, sentences)})
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
            if (file.metadata() or {}).get(ABOUT) != _about(model, sentences):
                return None
            tensors = file.get_tensors()
    except (OSError, ValueError):
        return None
    return _survey(model, sentences, tensors)


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


def _survey(model: Model, sentences: Sequence[str], tensors: dict[str, Tensor]) -> Survey | None:
    """The survey that these tensors hold; None where they cannot be one of this model."""
    n, heads = len(MEASURES), (model.settings.n_layers, model.settings.n_heads)
    wanted = {
        "n_read": (torch.int64, ()),
        "means": (torch.float64, (n, *heads)),
        "n_queries": (torch.int64, (n,)),
        "n_sentences": (torch.int64, (n,)),
        "pair_weights": (torch.float32, (*heads, MOST_PAIRS)),
        "pair_places": (torch.int64, (*heads, MOST_PAIRS, 3)),
    }
    if {name: (each.dtype, tuple(each.shape)) for name, each in tensors.items()} != wanted:
        return None
    numbers, read, queries, those, weights, places = (tensors[name] for name in (
        "means", "n_read", "n_queries", "n_sentences", "pair_weights", "pair_places",
    ))  # fmt: skip
    lengths = torch.tensor([len(token_ids(model, each)) for each in sentences])
    sentence, where = places[..., 0], places[..., 1:]
    if (
        not 0 <= read <= len(sentences)
        or not ((those >= 0) & (those <= read) & (those <= queries)).all()
        or not ((queries == 0)[:, None, None] == numbers.isnan()).all()
        or not _is_share(numbers.nan_to_num())
        or not _is_share(weights)
        or not ((sentence >= 0) & (sentence < len(sentences))).all()
    ):
        return None
    is_pair = weights[..., None] > 0
    if not (~is_pair | ((where >= 0) & (where < lengths[sentence][..., None]))).all():
        return None
    return Survey(
        int(read), numbers, tuple(queries.tolist()), tuple(those.tolist()), weights, places
    )


def _is_share(numbers: Tensor) -> bool:
    """Whether all are from 0 to 1; NaN is not."""
    return bool(((numbers >= 0) & (numbers <= 1 + ROUNDED)).all())
