"""Where a model's numbers stop being numbers, and what its file holds there."""

from collections.abc import Iterator

from torch import Tensor

from ..files.tensor_file import quoted
from .model import Model
from .run import Run, vocabulary_in_slices


def not_finite(run: Run, logits: Tensor | None = None) -> str:
    """Where in a run, or `logits`, numbers are nan or infinite first, and which weights; ""."""
    streams = [*run.before, run.final]
    first = next((at for at, each in enumerate(streams) if not each.isfinite().all()), None)
    if first is None and (logits is None or logits.isfinite().all()):
        return ""
    settings = run.model.settings
    ends = [each for each in settings.shapes() if each.startswith(("final_norm", "W_unembed"))]
    if first is None:
        where, names = "At its last step", ends + ["token_table"] * settings.tied
    elif first == 0:
        where, names = "In its embeddings", [each for each in settings.shapes() if each not in ends]
    else:
        where = f"In layer {first - 1}"
        names = [f"{first - 1}.{each}" for each in settings.shapes_of_layer()]
    told = ", ".join(words for name in names if (words := _of_tensor(run.model, name)))
    file = quoted(run.model.source.path.name)
    return f"{where} this model’s numbers become nan (not a number) or infinite: " + (
        f"“{file}” holds {told}."
        if told
        else "its weights are finite, but sums of them are larger than 3.4e38."
    )


def _of_tensor(model: Model, name: str) -> str:
    n_nan = n_infinite = 0
    for part in _parts(model, name):
        n_nan += int(part.isnan().sum())
        n_infinite += int(part.isinf().sum())
    told = [f"{n_nan:,} nan"] * (n_nan > 0) + [f"{n_infinite:,} infinite"] * (n_infinite > 0)
    return f"{' and '.join(told)} in {quoted(model.where(name).name)}" if told else ""


def _parts(model: Model, name: str) -> Iterator[Tensor]:
    """A tensor, a table of words in slices."""
    if name not in ("token_table", "W_unembed"):
        yield model.matrix(name)
        return
    for rows in vocabulary_in_slices(model):
        yield model.matrix(name, rows)
