"""What a person can take along: the program of the lesson, and each tensor as a table."""

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


def as_frame(trace: Trace, step: Step):
    """A step of one or two axes as a table with the names of its axes; one row a place."""
    import pandas as pd

    values = step.value if step.value.ndim == 2 else step.value[:, None]
    rows = [f"{at} {visible(name)}" for at, name in enumerate(trace.labels(step.axes[0]))]
    columns = [step.name]
    if step.value.ndim == 2:
        labels = trace.labels(step.axes[1])
        named = step.axes[1] == "d_in"
        columns = [label if named else f"{at} {visible(label)}" for at, label in enumerate(labels)]
    return pd.DataFrame(values.numpy(), index=pd.Index(rows, name=step.axes[0]), columns=columns)
