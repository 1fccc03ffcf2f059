"""Two experiments of the lesson on softmax: add a constant, multiply by a factor."""

import math

import streamlit as st
from torch import Tensor

from attention_core.mechanism.softmax import Spread, normalise_row, spreads
from attention_core.rounding import agree, difference
from attention_core.trace import Trace

from ...charts.chart import Chart
from ...charts.curves import curves
from ...page.equation import equation
from ...page.show import light, show
from ...page.view import View
from ...settings import session
from ...settings.choices import FACTORS
from ...settings.control import control, control_row
from ...settings.settings import FIELDS
from ...shell.frame import LINE
from ...words import number
from .hero import paired
from .score_row import row_trace, sum_verdict

LARGEST_SHIFT = FIELDS["shift"].most


def add_constant(view: View) -> None:
    """Add one number to all scores: softmax stays, dividing by the sum explodes near a sum of 0."""
    scores = view.trace["score_row"].value
    finite = bool(scores.isfinite().all())
    with control_row():
        control("shift", width=320)
        control("shift", "_exact", widget="text_input", label="or exactly", width=150)
        if finite:
            _to_zero(-scores.double().mean().item())
    shift = session.current().shift
    trace = normalise_row(row_trace(session.current()), shift=shift)
    show(paired(trace, trace.labels("key")))
    moved = trace[trace["score_sum"].inputs[0].name].value
    light(*sum_verdict(moved, trace["sum_weights"].value))
    if not shift:
        return
    name = "softmax_weights"
    pairs = [(trace[name].value, view.trace[name].value)]
    light(
        agree(pairs, (trace, name), (view.trace, name)),
        "Softmax has not moved: the largest difference from the weights above is "
        f"{difference(pairs):.1g}.",
    )


def _to_zero(constant: float) -> None:
    """A button that brings the sum of the scores near 0, to where the weights explode."""
    nearest = round(constant * 200) / 200
    st.button(
        "Bring the sum near 0",
        key="to_zero",
        on_click=session.overwrite,
        kwargs={"shift": nearest},
        disabled=abs(nearest) > LARGEST_SHIFT,
        help=f"The sum is 0 where the constant is {number(constant)}: minus the mean of the "
        "scores.",
    )


def magnify(view: View) -> None:
    """Multiply all scores: from all keys alike to one key alone, and what is left to learn from."""
    control("magnify", width=420)
    factor = session.current().magnify
    scores = view.trace["score_row"].value
    trace = normalise_row(row_trace(session.current()), magnify=factor)
    weights = trace["softmax_weights"].value
    if not weights.isfinite().all():
        light(False, "0 · (−∞) is not a number. With a hidden score, choose a factor above 0.")
        return
    _spread(Spread.of(weights), weights)
    with st.container(horizontal=True, gap="large"):
        show(paired(trace, trace.labels("key")))
        show(_curves(scores, factor))
    if factor:
        light(*sum_stays(view.trace, trace))
    tie = what_a_tie_does(scores)
    if tie:
        st.markdown(tie, width=LINE)
    st.markdown(
        "**The gradient.** Training moves the scores along the derivatives of the weights. Cell "
        "j, k says how much weight j changes when score k grows a little. The diagonal is never "
        "negative, the rest never positive. Each column sums to 0, since the weights always sum "
        "to 1: what one key wins, the others lose. Each row sums to 0 as well, since adding the "
        "same number to all scores changes no weight. Where a weight is nearly 0 or nearly 1, its "
        "row is nearly 0, and nothing is learned.",
        width=LINE,
    )
    equation(view.beside(trace), "gradient", trace["jacobian"])


def sum_stays(before: Trace, after: Trace) -> tuple[bool, str]:
    """Whether the shares by the sum are the same with the scores multiplied, in words."""
    name = "sum_weights"
    if not before[name].value.isfinite().all():
        return False, "The sum gives no shares here, multiplied or not."
    pairs = [(after[name].value, before[name].value)]
    return agree(pairs, (after, name), (before, name)), (
        "The shares by the sum have not moved, since the factor cancels: the largest difference is "
        f"{difference(pairs):.1g}. A constant moves them and leaves softmax alone; a factor does "
        "the opposite."
    )


def what_a_tie_does(scores: Tensor) -> str:
    """What it means for the gradient that several of the largest scores (key,) are equal; "" where
    one alone is the largest.
    """
    equal = int((scores == scores.max()).sum())
    if equal == 1:
        return ""
    return (
        f"**A tie.** Here {equal} of the largest scores are equal. No factor can decide between "
        f"them: each ends with 1/{equal}, and the gradient does not fade, since a nudge to one of "
        "them would still move much weight. In a row without a tie it fades as the factor grows."
    )


def winners(scores: Tensor) -> str:
    """Who has all the weight in the end, where scores (key,) are multiplied by more and more."""
    equal = int((scores == scores.max()).sum())
    if equal == 1:
        return "the largest score takes all"
    if equal == len(scores):
        return "they still are, since all scores are equal"
    return f"the largest score takes all; here {equal} are equal, and get 1/{equal} each"


def _spread(spread: Spread, weights: Tensor) -> None:
    """Three numbers for how a row is spread."""
    alike = len(weights)
    with st.container(horizontal=True, gap="large"):
        for label, value in (
            (f"Largest weight, at least {1 / alike:.4f}", f"{spread.largest:.4f}"),
            (f"Entropy, at most {math.log2(alike):.4f} bits", f"{spread.entropy:.4f}"),
            ("Gradient: the Jacobian's length", f"{spread.gradient:.3g}"),
        ):
            st.metric(label, value, width=240)


def _curves(scores: Tensor, factor: float) -> Chart:
    """Largest weight, entropy and gradient over all factors of the slider."""
    most = math.log2(len(scores)) or 1.0
    all_of_them = spreads(scores, FACTORS)
    lines = {
        "largest weight": [spread.largest for spread in all_of_them],
        "entropy": [spread.entropy / most for spread in all_of_them],
        "gradient": [spread.gradient for spread in all_of_them],
    }
    shown = {
        name: [value if math.isfinite(value) else None for value in values]
        for name, values in lines.items()
    }
    here = FACTORS.index(factor)
    return curves(
        [f"{factor:g}" for factor in FACTORS],
        shown,
        here,
        "factor",
        "Largest weight, entropy as a fraction of its maximum, and gradient, over the factor.",
    )
