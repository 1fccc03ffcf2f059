"""Padding in the source: what hides it, and what it would take if nothing did."""

from attention_core.trace import Trace

from ...page.equation import equation
from ...page.show import light, note
from ...page.view import View
from ...settings import session
from ...settings.control import control
from ...words import number, percent
from .looking import padded
from .mixing import shares_of

SAME = 1e-6


def show_padding(view: View) -> None:
    """How many places of padding, the mask, the weights, and what they have changed."""
    control("padding", width=260)
    trace = padded(session.current())
    equation(view.beside(trace), "padding", *shares_of(trace))
    for each in verdicts(trace, view.trace):
        light(*each)
    note(words(trace))


def verdicts(trace: Trace, plain: Trace) -> list[tuple[bool, str]]:
    """Whether padding gets exactly nothing, and whether it leaves the context vectors alone."""
    if "mask" not in trace:
        return []
    mask = trace["mask"].value
    weights = trace["weights"].value
    most = weights.masked_fill(mask, 0).abs().max().item()
    context, before = trace["context_vectors"].value, plain["context_vectors"].value
    far = (context - before).abs().max().item()
    near = SAME * max(1.0, before.abs().max().item())
    return [
        (most == 0, f"Weight on padding: {number(most) if most else 'exactly 0'}."),
        (
            far <= near,
            "Context vectors are those of the source without padding: the largest difference is "
            f"{far:.1g}.",
        ),
    ]


def words(trace: Trace) -> str:
    """How much of a row would be on padding without the mask."""
    if "mask" not in trace:
        return "There is no padding now, and nothing to hide. Choose 1 place or more."
    share = unmasked_share(trace)
    return (
        f"Without the mask, padding would get up to {percent(share)} of a row. It has a vector "
        "like any token, so it has a score, and a score of 0 does not give a weight of 0: "
        "e to the power of 0 is 1."
    )


def unmasked_share(trace: Trace) -> float:
    """The most of a row that padding would get, were it not hidden."""
    hidden = ~trace["mask"].value[0]
    scores = trace["masked_scores"].inputs[0].value
    return scores.softmax(dim=-1)[:, hidden].sum(dim=-1).max().item()
