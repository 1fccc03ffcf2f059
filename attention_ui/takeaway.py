"""What a person can take along: the program of the lesson, and each tensor as a table."""

import pandas as pd
import streamlit as st

from attention_core.export import program
from attention_core.tokenizers import visible
from attention_core.trace import Step, Trace

from .show import folded
from .view import View

TABLE_ROWS = 256


@st.fragment
def take_away(view: View) -> None:
    """The PyTorch program that gives exactly these numbers, and the tensors as tables."""
    st.header("Take it with you", anchor="take_away")
    st.markdown(
        "This program was written from the steps above. It needs torch and nothing else, and "
        "gives the same tensors."
    )
    with folded("The program", "program", ":material/code:") as is_open:
        if is_open:
            code = program(view.trace, f"Attention Explorer: {view.page.replace('_', ' ')}")
            st.download_button(
                "Download the program",
                code,
                file_name=f"{view.page}.py",
                mime="text/x-python",
                icon=":material/download:",
                on_click="ignore",
            )
            st.code(code, language="python")
    with folded("Tensors as tables", "tables", ":material/table:") as is_open:
        if is_open:
            name = st.selectbox("Tensor", list(view.trace), key="table_of")
            step = view.trace[name]
            st.caption(f"`{name}` has the shape {step.shape}.")
            _table(view.trace, step)


def _table(trace: Trace, step: Step) -> None:
    frame = as_frame(trace, step)
    if len(frame) > TABLE_ROWS:
        st.caption(
            f"The first {TABLE_ROWS} of {len(frame):,} rows are shown; the CSV has them all."
        )
    st.dataframe(frame.head(TABLE_ROWS), width="content")
    st.download_button(
        "Download as CSV",
        lambda: frame.to_csv(),
        file_name=f"{step.name}.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )


def as_frame(trace: Trace, step: Step) -> pd.DataFrame:
    """A step as a table: its last axis across, the others down, with the names of their places."""
    *down, across = step.axes if step.value.ndim > 1 else (*step.axes, "")
    values = step.value.reshape(-1, step.value.shape[-1] if across else 1)
    index = pd.MultiIndex.from_product([numbered(trace, axis) for axis in down], names=down)
    columns = numbered(trace, across) if across else [step.name]
    return pd.DataFrame(values.numpy(), index=index, columns=columns)


def numbered(trace: Trace, axis: str) -> list[str]:
    """The places of an axis by number and name; repeated tokens can be told apart."""
    names = map(visible, trace.labels(axis))
    return [str(at) if name == str(at) else f"{at} {name}" for at, name in enumerate(names)]
