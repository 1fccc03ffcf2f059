"""Why what was added up so far has to shrink: the question, and what comes of not doing it."""

from math import exp

from attention_core.mistakes.rewriting import rewritten
from attention_core.mistakes.side_by_side import side_by_side
from attention_core.operations import Add, ShrinkAndAdd
from attention_core.trace import Step, Trace

from ...cards.questions import Pick, Verdict
from ...page.equation import equation
from ...page.show import note
from ...page.view import View
from ...picture.matrix import Matrix
from ...words import number

RIGHT = 1
CHOICES = (
    "Nothing: at the end everything is divided by the sum",
    "Keys that were seen early get too much weight",
    "Keys that were seen late get too much weight",
    "The weights no longer add up to 1",
)
WORKED = (2.0, 4.0), 5.0
"""The scores of one row in two tiles."""


def without_shrinking() -> Pick:
    """What comes of adding exponentials that were measured from different maxima."""
    truth = f"{CHOICES[RIGHT]}."
    return Pick(
        words="A row's maximum rises in its second tile, and nothing shrinks. What becomes of its "
        "context vector?",
        choices=CHOICES,
        judge=lambda guess: Verdict(
            guess[0] == RIGHT, ("Right: " if guess[0] == RIGHT else "") + truth
        ),
        truth=lambda: truth,
        teaches="Early exponentials were measured from a lower maximum, so they are too large "
        "beside late ones. The sum is too large in the same way, so the weights still add up to 1.",
    )


def worked_row() -> str:
    """A row of three scores in words, so that the factor is seen before the tables are."""
    first, late = WORKED
    old = max(first)
    was = sum(exp(score - old) for score in first)
    factor = exp(old - late)
    return (
        f"Say a row's scores are {first[0]:g} and {first[1]:g} in one tile, and {late:g} in the "
        f"next. After the first, m = {old:g} and ℓ = {exp(first[0] - old):.2f} + 1 = {was:.2f}. "
        f"Then m becomes {late:g}, so what was added is multiplied by e to the power of "
        f"{old:g} − {late:g}, {factor:.2f}: ℓ = {was:.2f} × {factor:.2f} + 1 = "
        f"{was * factor + 1:.2f}, as if {late:g} had been known from the start."
    )


def unshrunk(trace: Trace, block: int) -> Trace:
    """The trace beside one in which nothing shrinks, with the `difference` of the context vectors
    of a block of queries.
    """
    adds = (name for name, step in trace.items() if isinstance(step.operation, ShrinkAndAdd))
    wrong = rewritten(trace, dict.fromkeys(adds, _only_added))
    return side_by_side(trace, wrong, f"context_vectors_{block}")


def _only_added(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    before, _, brought = inputs
    return new.step(step.name, Add(), before, brought, axes=step.axes, symbol=step.symbol)


def show_unshrunk(view: View, block: int) -> None:
    """Context vectors without shrinking, the right ones, and how far off they are."""
    name = f"context_vectors_{block}"
    if f"wrong_{name}" not in view.trace:
        note("This block of queries meets one tile of keys alone, so nothing has to shrink.")
        return
    equation(view, "unshrunk", *parts(view.trace, name))
    note(words(view.trace))


def parts(trace: Trace, name: str) -> tuple[Matrix | str, ...]:
    """Wrong less right."""
    wrong, right = Matrix(trace[f"wrong_{name}"]), Matrix(trace[name])
    return wrong, "−", right, "=", Matrix(trace["difference"])


def words(trace: Trace) -> str:
    """How far off the worst entry is."""
    off = trace["difference"].value.abs().max().item()
    if off < 1e-6:
        return "Here no maximum rises after the first tile that is seen, so both are the same."
    return (
        f"Without shrinking, context vectors are off by up to {number(off, 3)}. There is "
        "no error and the shapes fit, but early keys get too much weight."
    )
