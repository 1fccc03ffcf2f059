"""The first picture of the lesson on softmax: a row whose sum is negative, shared out both ways."""

import math

import streamlit as st

from attention_core.mechanism.softmax import given_row, normalise_row
from attention_core.trace import Trace

from ...charts.bars import BAR, bars
from ...charts.chart import Chart
from ...page.show import show
from ...settings import session
from ...settings.control import control
from ...shell.frame import LINE
from ...words import number, percent

MATCHES = ("good", "fair", "poor")
GOOD, FAIR = 2.0, 1.0
WIDTH = 80
"""Pixels that the bars of one match take."""


def hero() -> None:
    """Three scores, of which the last can be moved, with both kinds of shares as bars."""
    poor = session.current().poor
    trace = normalise_row(given_row((GOOD, FAIR, poor)))
    control("poor", width=320)
    with st.container(horizontal=True, gap="large", vertical_alignment="center"):
        show(paired(trace, MATCHES, WIDTH))
        st.markdown(_said(trace, poor), width=LINE // 2)


def paired(trace: Trace, names: tuple[str, ...], width: int = BAR) -> Chart:
    """Both kinds of weights of a row, side by side."""
    return bars(
        names,
        {
            "divided by the sum": trace["sum_weights"].value.tolist(),
            "softmax": trace["softmax_weights"].value.tolist(),
        },
        "Weights of each key: the scores divided by their sum, and their softmax.",
        width,
    )


def _said(trace: Trace, poor: float) -> str:
    """What each way does to the good match and to the poor one."""
    total = trace["score_sum"].value.item()
    good, _, bad = trace["sum_weights"].value.tolist()
    if math.isclose(total, 0, abs_tol=1e-9):
        divided = "The sum is 0, and nothing can be divided by 0."
    elif total < 0:
        divided = (
            f"The sum is {number(total, 1)}. Dividing by it turns the order round: the "
            f"poor match gets {number(bad, 2)}, the good one {number(good, 2)}."
        )
    elif poor < 0:
        too_much = ", more than there is to share," if good > 1 else ""
        divided = (
            f"The sum is {number(total, 1)}. Divided by it, the good match gets {number(good, 2)}"
            f"{too_much} and the poor one {number(bad, 2)}, which no share can be."
        )
    else:
        divided = "No score is negative now, so both ways give proper shares."
    shares = trace["softmax_weights"].value.tolist()
    return (
        f"{divided}\n\nSoftmax gives {percent(shares[0])}, {percent(shares[1])} and "
        f"{percent(shares[2])}: never below 0, and never less to the better match. Dropping the "
        "signs is no way out: a score of −4 would then count as much as one of 4."
    )
