"""What a person can take along: the lesson as a program, as notebooks, and as tensors."""

import json
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import pandas as pd
import streamlit as st

from attention_core.export.check_file import NAME as CHECK_NAME
from attention_core.export.check_file import check_file
from attention_core.export.exercise import exercise
from attention_core.export.notebook import notebook
from attention_core.export.program import program, tensors
from attention_core.text.tokenizers import visible
from attention_core.trace import Step, Trace

from .file_names import file_name
from .show import folded, show_program
from .view import View

TABLE_ROWS = 256


class Download(NamedTuple):
    """One file to take along."""

    label: str
    words: str
    make: Callable[[Trace, str], str | bytes]
    """Makes the file from a trace and a title."""
    kind: str
    mime: str
    icon: str
    suffix: str = ""
    """Added to the lesson's name in the file name, where two downloads are of one kind."""


DOWNLOADS = (
    Download(
        "Program",
        "One line of PyTorch per step. It needs torch and nothing else.",
        program,
        ".py",
        "text/x-python",
        ":material/code:",
    ),
    Download(
        "Notebook",
        "The same lines for Jupyter or Colab, each with its formula, its shape and its tensor.",
        lambda trace, title: json.dumps(notebook(trace, title), indent=1),
        ".ipynb",
        "application/x-ipynb+json",
        ":material/menu_book:",
    ),
    Download(
        "Exercise",
        "The notebook with lines taken out for you to write. It checks each of them on your own "
        "computer and names the first that is wrong, and what is likely wrong with it. Where a "
        "wrong line would happen to be right on the numbers above, it draws others.",
        lambda trace, title: json.dumps(exercise(trace, title), indent=1),
        ".ipynb",
        "application/x-ipynb+json",
        ":material/edit_note:",
        "_exercise",
    ),
    Download(
        "All tensors",
        "One file that `torch.load` reads: a dictionary of every tensor by its name.",
        lambda trace, _: tensors(trace),
        ".pt",
        "application/octet-stream",
        ":material/data_array:",
    ),
)


def take_away(view: View) -> None:
    """Downloads that give exactly these numbers elsewhere: programs, notebooks, tensors."""
    st.header("Take it with you", anchor="take_away")
    st.markdown(
        "Each file is made from the steps above when you ask for it. Program, notebook and tensors "
        "give the same numbers."
    )
    with st.container(gap="medium"):
        for download in DOWNLOADS:
            _row(view, download)
        st.markdown(
            "Have you written attention yourself? This file checks it on your own computer, and is "
            "the same on every page."
        )
        _check_row()
    with folded("Read the program", "program", ":material/code:") as is_open:
        if is_open:
            show_program(program(view.trace, title_of(view)))
    with folded("Tensors as tables", "tables", ":material/table:") as is_open:
        if is_open:
            name = st.selectbox("Tensor", list(view.trace), key="table_of")
            step = view.trace[name]
            st.caption(f"`{name}` has the shape {step.shape}.")
            _table(view, step)


def title_of(view: View) -> str:
    """What the files call themselves: the lesson, never the person's sentence."""
    return f"Attention Explorer: {view.page.replace('_', ' ')}"


def name_of(view: View, kind: str, suffix: str = "") -> str:
    """A file's name: the lesson's, and the sentence's where it is part of the lesson."""
    sentence = view.settings.inputs.sentence if "token_ids" in view.trace else ""
    return file_name(view.page + suffix, sentence, kind)


def _row(view: View, download: Download) -> None:
    """A button for a file of this page, and what it gives."""
    _button(
        download.label,
        download.words,
        partial(download.make, view.trace, title_of(view)),
        name_of(view, download.kind, download.suffix),
        download.mime,
        download.icon,
    )


def _check_row() -> None:
    """A button for the file that checks a person's own code, and what that does."""
    _button(
        "Check your code",
        "Do rows sum to 1, does the future leak, is it √d? It asks all that of your "
        "`attention(x, W_q, W_k, W_v)` or `nn.Module`, and names what fails first, and likely why.",
        check_file,
        CHECK_NAME,
        "text/x-python",
        ":material/rule:",
    )


def _button(
    label: str, words: str, make: Callable[[], str | bytes], name: str, mime: str, icon: str
) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.download_button(
            label,
            make,
            file_name=name,
            mime=mime,
            icon=icon,
            on_click="ignore",
            key=f"download_{label}",
            width=150,
        )
        st.markdown(words, width=560)


def _table(view: View, step: Step) -> None:
    frame = as_frame(view.trace, step)
    if len(frame) > TABLE_ROWS:
        st.caption(
            f"The first {TABLE_ROWS} of {len(frame):,} rows are shown; the CSV has them all."
        )
    st.dataframe(frame.head(TABLE_ROWS), width="content")
    st.download_button(
        "Download as CSV",
        lambda: frame.to_csv(),
        file_name=name_of(view, ".csv", f"_{step.name}"),
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
    return [
        label if trace.name_of(axis, at) is None else f"{at} {visible(label)}"
        for at, label in enumerate(trace.labels(axis))
    ]
