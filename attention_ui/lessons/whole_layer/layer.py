"""The layer as one chart, its switches, and the ways from it to the lessons."""

from dataclasses import replace

import streamlit as st

from attention_core.trace import Trace

from ...charts.layer import layer, n_drawn
from ...page.equation import draw_columns, first_query
from ...page.view import View
from ...picture.equation_parts import Parts, equation_of
from ...picture.matrix import Matrix
from ...settings import session
from ...settings.control import control, control_row
from ...settings.settings import Settings
from ...shell.contents import lesson

SWITCHES = {
    "n_heads": {"width": 96},
    "d_model": {"label": "d_model", "width": 96},
    "scale": {"label": "Divide scores by", "width": "content"},
    "normalise": {"width": "content"},
    "temperature": {"width": 104},
    "layer_dropout": {"width": 96},
    "causal_heads": {"label": "Causal", "width": "content"},
}
"""The switches of the layer, and how they look in their row."""
LESSON_OF = {
    "embeddings": "tokenize_and_embed",
    "scores": "simplified_attention",
    "weights": "softmax_or_sum",
    "scaled_scores": "divide_by_sqrt_d",
    "queries": "queries_keys_values",
    "masked_scores": "causal_mask",
    "output": "multi_head_attention",
}
"""Which lesson takes its time over which of the matrices."""


def switches() -> None:
    """All that can be changed of the layer; the sentence and its vectors are in the sidebar."""
    with control_row(vertical_alignment="top", gap="small"):
        for name, look in SWITCHES.items():
            control(name, **look)


def show_layer(view: View) -> None:
    """All matrices of the layer, below the sentence."""
    view = view.now(session.current())
    trace = view.trace
    columns = [
        [[replace(each, matrix=_outlined(view, each.matrix)) for each in line] for line in lines]
        for lines in layer(trace)
    ]
    draw_columns(view, "layer", columns, first_query(view))


def _outlined(view: View, matrix: Matrix) -> Matrix:
    name = matrix.step.name
    return replace(matrix, highlighted=view.highlighted(name), chosen=view.chosen(name))


def left_out_words(trace: Trace) -> str:
    """Says so where not all heads are drawn; else ''."""
    shown, n_heads = n_drawn(trace), trace.size("head")
    if shown == n_heads:
        return ""
    return (
        f"Drawn here: {shown} of {n_heads} heads, to keep the page quick. Each can be opened with "
        "its numbers further down, and the tables have them all."
    )


def opened(trace: Trace, now: Settings) -> Parts:
    """One matrix of the layer with its numbers, as the equation that makes it, in one head; behind
    weights, what dropout leaves of them.
    """
    name = f"head_{now.opened}" if f"head_{now.opened}" in trace else now.opened
    step = trace[name]
    dropped = trace.get("head_dropped_weights") if name == "head_weights" else None
    steps = (step,) if dropped is None else (step, dropped)
    head = min(now.head, trace.size("head") - 1)
    drawn = [
        Matrix(each, lead=(head,), transposed=at == 1 and step.operation.transpose)
        for at, each in enumerate((*step.inputs, *steps))
        if each.axes[0] == "head"
    ]
    return equation_of(*steps, drawn=drawn)


def ways_to_lessons(page: str) -> None:
    """A link from each matrix to the lesson about it, with the settings of today."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption("More about", width="content")
        for name, target in LESSON_OF.items():
            st.page_link(
                lesson(target).page,
                label=f"`{name}`",
                query_params=session.link_query(page),
                help=lesson(target).title,
            )
