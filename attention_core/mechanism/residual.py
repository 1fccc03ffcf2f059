"""What each part of a block brought to a token's vector: the residual stream, followed back."""

from torch import Tensor

from ..operations import Add, ScaleShift, Standardise
from ..trace import Step, Trace
from ..utils.validation import validated


@validated
def contributions(
    trace: Trace, token: int | tuple[int, ...], of: str = "output"
) -> dict[str, Tensor]:
    """What was added to a token's vector (d,), by the names of the steps, in order: together they
    are the vector, in float64.

    For a block with its norms before, these are rows of `embeddings`, `attention_output` and so on
    as they stand. A norm that stands in the stream's way, as with norms after, is undone part by
    part: taking away the mean can be done to each by itself, the standard deviation is that of
    the whole, as it came out, and the norm's bias is a part of its own. So what a part brought is
    exact, but without it the others would be divided by another number. The stream is followed
    through all blocks of the trace, and through the sum that `embeddings` may be. `token` is a
    place, or in a batch (text, place); `of` the step whose vector is asked about.

    Raises KeyError for a step, and IndexError for a token, that is not there.
    """
    return _brought(trace[of], token)


def _brought(step: Step, token: int | tuple[int, ...]) -> dict[str, Tensor]:
    operation = step.operation
    if isinstance(operation, Add):
        stream, added = step.inputs
        return _brought(stream, token) | {added.name: _row(added, token)}
    if isinstance(operation, ScaleShift):
        standard, gain, *bias = step.inputs
        parts = _brought(standard, token)
        found = {name: part * gain.value.double() for name, part in parts.items()}
        return found | {each.name: each.value.double() for each in bias}
    if isinstance(operation, Standardise):
        vectors, _, variance = step.inputs
        deviation = (_row(variance, token) + operation.epsilon).sqrt()
        parts = _brought(vectors, token)
        return {name: (part - part.mean()) / deviation for name, part in parts.items()}
    return {step.name: _row(step, token)}


def _row(step: Step, token: int | tuple[int, ...]) -> Tensor:
    try:
        return step.value[token].double()
    except IndexError:
        raise ValueError(f"there is no token {token}: {step.name} is {step.shape}") from None
