"""The two parts of the block: attention in brief, and the feed-forward."""

import streamlit as st

from attention_core.trace import Step, Trace

from ...picture.equation_parts import NEW_LINE, Parts
from ...picture.matrix import Matrix
from ...settings import session
from ...shell.contents import lesson
from ...words import number, percent


def heads_drawn(trace: Trace) -> Parts:
    """The weights of the first head, and what all heads add together."""
    return (Matrix(trace["head_weights"], lead=(0,)), Matrix(added_by(trace, "attention")))


def added_by(trace: Trace, part: str) -> Step:
    """What a part adds to the stream: its output, or what dropout has left of it."""
    name = f"{part}_output"
    return trace[f"dropped_{name}" if f"dropped_{name}" in trace else name]


def way_to_heads(page: str) -> None:
    """The way to the lesson on heads, with the settings of today."""
    target = lesson("multi_head_attention")
    st.page_link(
        target.page,
        label=f"More about heads: {target.title}",
        icon=target.icon,
        query_params=session.link_query(page),
    )


def widened(trace: Trace, token: int) -> Parts:
    """The feed-forward of one token: what it reads, hidden numbers, what is left of them, back to
    the width.
    """
    step, way = added_by(trace, "feed_forward"), []
    begins = trace["hidden"].inputs[0]
    while step is not begins:  # by way of what dropout leaves, where there is any
        given = step.inputs[0]
        is_labelled = given.axes[-1] != step.axes[-1]  # else the row above has the same labels
        way += [Matrix(step, rows=(token,), column_labels=is_labelled), "→", NEW_LINE]
        step = given
    return (Matrix(step, rows=(token,)), *reversed(way))


def arrows_words(trace: Trace, activation: str) -> str:
    """What each arrow of the feed-forward stands for, in the order of the lines."""
    read, bend = trace["hidden"].inputs[0].name, activation.upper().replace("RELU", "ReLU")
    kept = "dropped_activated" if "dropped_activated" in trace else "activated"
    end = " Dropout sets some numbers to 0." if kept != "activated" else ""
    return (
        f"The arrows: `hidden` = `{read}` · `W_1` + `b_1`, `activated` = {bend} of `hidden`, "
        f"`feed_forward_output` = `{kept}` · `W_2` + `b_2`.{end}"
    )


def silenced_words(trace: Trace, activation: str) -> str:
    """How many of the hidden numbers the activation has silenced, measured."""
    hidden, activated = trace["hidden"].value, trace["activated"].value
    n_cells, below = hidden.numel(), (hidden < 0).double().mean().item()
    if activation == "relu":
        zeros = (activated == 0).double().mean().item()
        return (
            f"ReLU turns what is negative into 0: here {percent(zeros)} of the {n_cells} hidden "
            "numbers, and which ones differs from token to token."
        )
    least = number(activated.min().item(), 2)
    return (
        f"GELU lets a little of the negative numbers through: {percent(below)} of the {n_cells} "
        f"hidden numbers are negative, and the lowest that comes out is {least}. Large numbers "
        "stay as they are."
    )
