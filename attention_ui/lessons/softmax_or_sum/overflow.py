"""An experiment of the lesson on softmax: numbers too large or too small for their precision."""

import streamlit as st
from torch import Tensor

from attention_core.mechanism.softmax import exp_limits, store_row

from ...charts.ledger import ledger
from ...page.show import light, show
from ...page.view import View
from ...settings import session
from ...settings.control import control, control_row
from ...words import number
from .score_row import row_trace


def overflow(view: View) -> None:
    """A softmax as its formula is written, in three precisions, beside the one that subtracts."""
    with control_row():
        control("push", width=420)
        control("precision")
    settings = session.current()
    trace = store_row(row_trace(settings), settings.push, settings.precision)
    value = {name: step.value for name, step in trace.items()}
    largest, zero = exp_limits(settings.precision)
    st.markdown(
        f"In {settings.precision}, e to a power above **{number(largest, 2)}** is infinite, and e "
        f"to a power of **{number(zero, 2)}** or less is 0. The largest score is now "
        f"**{number(value['stored_scores'].max().item(), 2)}**."
    )
    with st.container(horizontal=True, gap="large"):
        show(
            ledger(
                trace.labels("key"),
                {
                    "score": value["stored_scores"],
                    "e^score": value["naive_exponentials"],
                    "weight": value["naive_weights"],
                },
                ("e^score", "weight"),
                "As the formula is written",
            )
        )
        show(
            ledger(
                trace.labels("key"),
                {
                    "score − largest": value["lowered_scores"],
                    "e^(…)": value["exponentials"],
                    "weight": value["softmax_weights"],
                },
                ("e^(…)", "weight"),
                "With the largest subtracted first",
            )
        )
    st.caption("Red: `inf` or `nan`. Blue: 0 where the exact number is above 0.")
    _count(value["naive_exponentials"], value["naive_sum"], value["naive_weights"])
    light(*_stable_verdict(view, value["softmax_weights"], settings.precision))


def _count(powers: Tensor, total: Tensor, weights: Tensor) -> None:
    """How many numbers of the naive softmax are lost, and why."""
    infinite, lost = int(powers.isinf().sum()), int(weights.isnan().sum())
    counted = f"As written: {infinite} of {len(powers)} exponentials `inf`, {lost} weights `nan`."
    if (powers == 0).all():
        counted += " All exponentials are 0, so each weight is 0 / 0."
    elif lost:
        counted += " An infinite exponential divided by an infinite sum is not a number."
    elif total.isinf().any():
        counted += " Still, their sum is `inf`, so every weight is 0."
    light(not lost and not total.isinf().any(), counted)


def _stable_verdict(view: View, weights: Tensor, precision: str) -> tuple[bool, str]:
    gap = (weights.float() - view.trace["softmax_weights"].value).abs().max().item()
    return bool(weights.isfinite().all()), (
        "With the largest subtracted: no `inf`, no `nan`. The largest exponential is 1, whatever "
        f"the scores. The weights differ from those above by at most {gap:.1g}: numbers are "
        f"rounded to {precision}."
    )
