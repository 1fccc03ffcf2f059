"""The row of scores that the lesson on softmax is about: where it comes from, what its sum does."""

import math

import streamlit as st
from torch import Tensor

from attention_core.mechanism.simplified import SimplifiedOptions
from attention_core.mechanism.softmax import compare_row, given_row
from attention_core.text.embedding import embed
from attention_core.trace import Trace

from ...settings import session
from ...settings.choices import MAX_SCORE, MAX_SCORES
from ...settings.control import control, control_row
from ...settings.settings import Settings
from ...words import number, true_minus

NUDGE = 10.0
"""How far the slider for one score goes, unless the score itself is further out."""


def row_trace(settings: Settings) -> Trace:
    """A trace with `score_row` (key): a row of the example's scores, or the typed one."""
    if settings.row_from == "hand":
        return given_row(settings.typed)
    options = SimplifiedOptions(settings.similarity, settings.divide)
    return compare_row(embed(settings.inputs), settings.row_query, options)


def numbered_keys(settings: Settings) -> tuple[str, ...]:
    """What can be chosen among: the tokens, or the typed scores, each with its place."""
    if settings.row_from == "example":
        return settings.numbered_tokens
    return tuple(
        f"{place}: score {true_minus(f'{score:g}')}" for place, score in enumerate(settings.typed)
    )


def choose_row(settings: Settings) -> None:
    """The controls that say which row of scores the whole page is about."""
    with control_row():
        control("row_from")
        if settings.row_from == "example":
            control("row_query", width=240)
        else:
            control("typed", width=360)
    if settings.row_from == "hand":
        _nudge(settings.typed)
    _take_over(settings)


def _nudge(scores: tuple[float, ...]) -> None:
    """A slider for one of the typed scores."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        key = f"nudged_of_{len(scores)}"
        at = st.selectbox(
            "Move score", range(len(scores)), key=key, format_func="number {}".format, width=160
        )
        score = scores[at]
        hidden = score == -math.inf
        reach = NUDGE if hidden else max(NUDGE, abs(score))
        slider = f"nudge_{at}_of_{len(scores)}_within_{reach}"
        st.session_state[slider] = 0.0 if hidden else score
        st.slider(
            "to (hidden now, −∞)" if hidden else "to",
            min_value=-reach,
            max_value=reach,
            step=0.1,
            key=slider,
            width=320,
            on_change=_nudged,
            args=(scores, at, slider),
        )


def _nudged(scores: tuple[float, ...], at: int, key: str) -> None:
    moved = round(float(st.session_state[key]), 6)
    if moved == round(scores[at], 6):
        return  # a slider that is gone, and was told of
    session.overwrite(typed=(*scores[:at], moved, *scores[at + 1 :]))
    session.redraw()


def _take_over(settings: Settings) -> None:
    """A way to begin with the example's own row."""
    if settings.row_from == "example" and len(settings.inputs.tokens) <= MAX_SCORES:
        st.button(
            "Change these scores by hand",
            type="tertiary",
            icon=":material/edit:",
            on_click=_taken_over,
            key="take_over",
        )


def _taken_over() -> None:
    scores = row_trace(session.current())["score_row"].value.tolist()
    bounded = (min(max(score, -MAX_SCORE), MAX_SCORE) for score in scores)
    session.overwrite(row_from="hand", typed=tuple(round(score, 4) for score in bounded))


def is_hidden(scores: Tensor) -> bool:
    """Whether no score of a row is a finite number: then there is nothing to share."""
    return not scores.isfinite().any()


def sum_verdict(scores: Tensor, weights: Tensor) -> tuple[bool, str]:
    """What dividing a row (key,) by its sum has done: whether the weights are shares, in words."""
    total = scores.sum().item()
    if is_hidden(scores):
        return (
            False,
            "The scores are all −∞, so their sum is −∞ too, and −∞ / −∞ is `nan` (not a number).",
        )
    if not scores.isfinite().all():
        return False, (
            "A hidden score of −∞ makes the sum −∞ too. Then −∞ / −∞ is `nan` (not a number), and "
            "the others get 0. Dividing by the sum cannot hide a key."
        )
    if total == 0:
        return False, (
            "The scores sum to exactly 0, and dividing by 0 gives no weights: 0 / 0 is `nan` (not "
            "a number), and any other score divided by 0 is `inf` (infinite)."
        )
    best, worst = int(scores.argmax()), int(scores.argmin())
    ends = (
        f"Key {best} has the largest score, {number(scores[best].item())}, and gets "
        f"{number(weights[best].item())}; key {worst} has the smallest, "
        f"{number(scores[worst].item())}, and gets {number(weights[worst].item())}."
    )
    if total < 0 and best != worst:
        return False, f"The sum is {number(total)}, below 0, so the order is reversed. {ends}"
    below = int((weights < 0).sum())
    if below:
        more = " The largest is above 1: more than there is to share." if weights.max() > 1 else ""
        some = "1 weight is" if below == 1 else f"{below} weights are"
        told = f"The sum is {number(total)}. {some} below 0, which no share can be.{more} {ends}"
        return False, told
    return (
        True,
        f"This row has {_sign(total)}, so dividing by the sum, {number(total)}, gives proper "
        "shares.",
    )


def _sign(total: float) -> str:
    """What no score is, where all have the sign of their sum or are 0."""
    return "no score below 0" if total > 0 else "no score above 0"
