"""What comes of a matrix of zeros: weights and context vectors with one of the three set to 0."""

from dataclasses import replace

from torch import Tensor

from attention_core.mechanism.trainable import attend_trainable
from attention_core.recipes import PLURAL, ROLES
from attention_core.text.embedding import embed
from attention_core.trace import Trace

from ...page.equation import equation
from ...page.show import folded, note
from ...page.view import View
from ...picture.matrix import Matrix
from ...settings import session
from ...settings.control import control
from ...settings.settings import Settings

NEAR = 1e-5


def with_zeros(settings: Settings) -> Trace:
    """The lesson's trace with one of its matrices set to 0."""
    recipe, at = settings.projections, ROLES.index(settings.zeroed)
    width = recipe.width(settings.zeroed)
    zeros = tuple((row, column, 0.0) for row in range(settings.d_in) for column in range(width))
    edits = (*recipe.edits[:at], zeros, *recipe.edits[at + 1 :])
    return attend_trainable(embed(settings.inputs), replace(recipe, edits=edits))


def set_to_zero(view: View) -> None:
    """A choice of the matrix, what it does to weights and context vectors, and that in words."""
    with folded("What if a matrix were all 0?", "zeroed", ":material/exposure_zero:") as is_open:
        if not is_open:
            return
        control("zeroed")
        settings = session.current()
        trace = with_zeros(settings)
        weights, context = trace["weights"], trace["context_vectors"]
        same = ["context_vectors"]  # in their shape, which may be asked for
        if weights.value.equal(view.trace["weights"].value):
            same.append("weights")
        beside = view.beside(trace, same=same)
        equation(beside, "zeroed", Matrix(weights), "→", Matrix(context))
        note(zero_words(trace, settings.zeroed))


def zero_words(trace: Trace, role: str) -> str:
    """What a matrix of zeros has made of queries, keys or values, and of what comes after."""
    left = "its bias alone" if f"b_{role}" in trace else "0"
    words = f"Every {role} is {left}"
    weights, context = trace["weights"].value, trace["context_vectors"].value
    if role == "value":
        same = "the same for every token" if left != "0" else "0"
        return (
            f"{words}, and so every context vector is {same}. The weights do not notice: they come "
            "from queries and keys."
        )
    even = 1 / weights.shape[-1]
    if alike(weights, even):
        return (
            f"{words}, so a query fits all keys equally well: every weight is {even:.2f}, and "
            "every context vector is the plain mean of all values."
        )
    return f"{words}, so all {PLURAL[role]} are the same, and every row of weights too" + (
        ", and so is every context vector." if alike(context, context[0]) else "."
    )


def alike(value: Tensor, other: Tensor | float) -> bool:
    """Whether all numbers are these, but for rounding."""
    return bool(((value - other).abs() < NEAR).all())
