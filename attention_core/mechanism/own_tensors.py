"""A person's own tensors as steps: looked at before anything is computed from them."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ..operations import Given
from ..operations.base import kind_of
from ..trace import Step, Trace
from ..utils.validation import validated

PRECISIONS = {torch.float32: None, torch.float16: "float16", torch.bfloat16: "bfloat16"}
"""The kinds of numbers that attention is computed in here, as `Given` writes them."""
LARGEST = 100_000
"""A given tensor has no more numbers: each of them is written out in the program."""


def own(name: str, numbers: Tensor | Sequence, n_axes: Sequence[int]) -> Tensor:
    """A tensor of one's own, or nested lists, as a tensor. Raises ValueError, in words, where it
    has not one of these numbers of axes, is empty or too large, or not finite in `PRECISIONS`.
    """
    tensor = as_tensor(name, numbers)
    if tensor.dtype == torch.int64 and not hasattr(numbers, "dtype"):
        tensor = tensor.float()  # a list of whole numbers
    if tensor.dtype not in PRECISIONS:
        raise ValueError(
            f"{name} has numbers of {kind_of(tensor)}, but attention is computed in float32, "
            "float16 or bfloat16: choose one, such as `.float()` of a tensor or "
            '`.astype("float32")` of an array'
        )
    if tensor.ndim not in n_axes:
        wanted = f"{' or '.join(map(str, n_axes))} {'axis' if n_axes == (1,) else 'axes'}"
        raise ValueError(f"{name} is {sizes(tensor)}: it needs {wanted}, not {tensor.ndim}")
    if not tensor.isfinite().all():
        at = (~tensor.isfinite()).nonzero()[0].tolist()
        raise ValueError(f"{name} has {tensor[tuple(at)].item()} at {at}: all must be finite")
    return tensor


def as_tensor(name: str, numbers: Tensor | Sequence) -> Tensor:
    """A tensor, or nested lists as one. Raises ValueError where it is none, empty or too large."""
    try:
        tensor = torch.as_tensor(numbers).detach().cpu()
    except (RuntimeError, TypeError, ValueError) as error:
        raise ValueError(f"{name} is no tensor, and no list of rows of one length") from error
    if not tensor.numel():
        raise ValueError(f"{name} is {sizes(tensor)}: it is empty")
    if tensor.numel() > LARGEST:
        raise ValueError(
            f"{name} is {sizes(tensor)}, which are {tensor.numel():,} numbers: at most {LARGEST:,} "
            "can be given, since each is kept to be taken apart"
        )
    return tensor


def given_labels(**labels: Sequence[str]) -> dict[str, Sequence[str]]:
    """The names of places, of those axes for which some are given."""
    return {axis: names for axis, names in labels.items() if names}


def give(
    trace: Trace, name: str, tensor: Tensor, axes: tuple[str, ...], symbol: str | None = None
) -> Step:
    """Add a tensor to a trace, as numbers that were given."""
    given = Given.of(tensor, PRECISIONS.get(tensor.dtype))
    return trace.step(name, given, axes=axes, symbol=symbol)


Vectors = Trace | Tensor | Sequence
"""What attention on embeddings takes: a trace that has them, or the vectors themselves."""


@validated
def trace_of(vectors: Vectors) -> Trace:
    """A trace with `embeddings` (token, d_in), perhaps of vectors. Raises ValueError for none."""
    if not isinstance(vectors, Trace):
        numbers = own("vectors", vectors, (2,))
        vectors = Trace()
        give(vectors, "embeddings", numbers, ("token", "d_in"))
    return vectors


def check_same_kind(tensors: dict[str, Tensor]) -> None:
    """Raises ValueError where tensors have numbers of several kinds."""
    (first, wanted), *others = tensors.items()
    for name, tensor in others:
        if tensor.dtype != wanted.dtype:
            raise ValueError(
                f"{first} has numbers of {kind_of(wanted)} and {name} of {kind_of(tensor)}: they "
                "need to be of one kind"
            )


def sizes(tensor: Tensor) -> str:
    """A shape in words, such as 2 × 3."""
    return " × ".join(map(str, tensor.shape)) or "a single number"
