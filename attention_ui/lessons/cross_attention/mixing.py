"""What is mixed, and by which shares: values of the source, and weights made as ever."""

from attention_core.mechanism.attention import scale_of
from attention_core.trace import Trace

from ...picture.equation_parts import Parts
from ...picture.matrix import Matrix
from ...words import number


def shares_of(trace: Trace) -> Parts:
    """The scores as softmax gets them, masked where there is padding, and what it makes of them."""
    weights = trace["weights"]
    return (Matrix(weights.inputs[0]), "→", Matrix(weights))


def made_words(trace: Trace) -> str:
    """How weights are made of the scores, and values of the source."""
    width, n_values = (trace[f"W_{role}"].value.shape[-1] for role in ("key", "value"))
    divided = {
        "none": "",
        "sqrt_d": f"each score is divided by √{width} = {number(width**0.5, 2)}, and ",
        "d": f"each score is divided by {width}, and ",
    }[scale_of(trace)]
    return (
        f"The weights are made as ever: {divided}softmax turns each row into shares of 1. So are "
        f"the values: the source's vectors, times a matrix of their own that is {n_values} wide. "
        "Both are drawn under *Go deeper*."
    )
