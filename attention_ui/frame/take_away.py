"""What a person can take along: the lesson as a program, as notebooks, a sheet and tensors."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from attention_core.export.check_file import NAME as CHECK_NAME
from attention_core.export.check_file import check_file
from attention_core.export.exercise import exercise
from attention_core.export.notebook import notebook
from attention_core.export.program import program, tensors
from attention_core.export.spreadsheet import spreadsheet, too_large
from attention_core.text.tokenizers import visible
from attention_core.trace import Step, Trace

from ..controls.covered import EVERY, covered_how
from ..reactive import settings
from .as_file import as_file
from .data_frame import put_frame
from .file_names import file_name

TABLE_ROWS = 256
LONGEST = 400
"""Characters of a line of a program that is broken: ten lines of a phone."""


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
    refused: Callable[[Trace], str] = lambda _: ""
    """Why there is no such file of a trace, in words; "" where there is one."""


DOWNLOADS = (
    Download(
        "Program",
        "One line of PyTorch per step.",
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
        "Spreadsheet",
        "Live formulas for Excel or LibreOffice: change one number, such as a weight or a cell of "
        "the mask, and everything after it follows.",
        spreadsheet,
        ".xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ":material/grid_on:",
        refused=too_large,
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


CHECK = Download(
    "Check your code",
    "Do rows sum to 1, does the future leak, is it √d? It asks all that of your "
    "`attention(x, W_q, W_k, W_v)` or `nn.Module`, and names what fails first, and likely why.",
    lambda *_: check_file(),
    ".py",
    "text/x-python",
    ":material/rule:",
)
"""The same on every page."""


def take_away(page: str, trace: Trace) -> None:
    """Downloads that give exactly these numbers elsewhere: programs, notebooks, tensors."""
    st.header("Take it with you", anchor="take_away")
    st.markdown(
        "Each file is made from the steps above when you ask for it. Program, notebook, "
        "spreadsheet and tensors give the same numbers."
    )
    if covered_how(EVERY):
        st.caption("They hold all numbers, also those that open questions above ask for.")
    with st.container(gap="medium"):
        for download in DOWNLOADS:
            _row(page, trace, download)
        as_file(page)
        st.markdown(
            "Have you written attention yourself? This file checks it on your own computer, and is "
            "the same on every page."
        )
        _row(page, trace, CHECK)
    fold = _folded("Read the program", "program", ":material/code:")
    if fold.open:
        with fold:
            code = program(trace, title_of(page))
            # Lines are broken where the page is narrower, but not those of large tensors.
            is_short = max(map(len, code.splitlines()), default=0) <= LONGEST
            st.code(code, language="python", wrap_lines=is_short)
    fold = _folded("Tensors as tables", "tables", ":material/table:")
    if fold.open:
        with fold:
            step = trace[st.selectbox("Tensor", list(trace), key="table_of")]
            st.caption(f"`{step.name}` has the shape {step.shape}.")
            _table(page, trace, step)


def take_along(name: str, trace: Trace, files: Sequence[Download] = DOWNLOADS) -> None:
    """The same for a trace that a card has beside the page's: a button for each kind of file."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("Take these steps with you:", width="content")
        for each in files:
            refusal, called = each.refused(trace), file_name(name + each.suffix, "", each.kind)
            make, key = partial(each.make, trace, title_of(name)), f"download_{name}_{each.label}"
            st.download_button(each.label, make, called, each.mime, key, refusal or each.words,
                               "ignore", icon=each.icon, disabled=bool(refusal))  # fmt: skip


def _folded(label: str, key: str, icon: str):
    """What is folded away, and costs nothing until it is opened."""
    return st.expander(label, key=f"fold_{key}", icon=icon, on_change="rerun")


def title_of(page: str) -> str:
    """What the files call themselves: the lesson, never the person's sentence."""
    return f"Attention Explorer: {page.replace('_', ' ')}"


def name_of(page: str, trace: Trace, sentence: str, kind: str) -> str:
    """A file's name: the lesson's, and the sentence's where it is part of the lesson."""
    return file_name(page, sentence if "token_ids" in trace else "", kind)


def _row(page: str, trace: Trace, download: Download) -> None:
    """A button for a file of this page, and what it gives; or why there is none."""
    refusal = download.refused(trace)
    needs = f" {_needs(trace)}" if download.make is program else ""
    name = name_of(page + download.suffix, trace, _sentence(), download.kind)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.download_button(
            download.label,
            partial(download.make, trace, title_of(page)),
            file_name=CHECK_NAME if download is CHECK else name,
            mime=download.mime,
            icon=download.icon,
            on_click="ignore",
            key=f"download_{download.label}",
            disabled=bool(refusal),
            width=150,
        )
        st.markdown(refusal or download.words + needs, width=560)


def _needs(trace: Trace) -> str:
    if any(step.operation.constants() for step in trace.values()):
        return "It reads the model’s file: at its top stands where that lies on your computer."
    return "It needs torch and nothing else."


def _sentence() -> str:
    return settings.values().get("sentence", "")


def _table(page: str, trace: Trace, step: Step) -> None:
    cover = covered_how(step.name)
    frame = as_frame(trace, step, cover.mask_on(step) if cover else None)
    if cover:
        st.caption("Cells that an open question asks for are empty.")
    if len(frame) > TABLE_ROWS:
        st.caption(
            f"The first {TABLE_ROWS} of {len(frame):,} rows are shown; the CSV has them all."
        )
    put_frame(frame.head(TABLE_ROWS), hide_index=False)
    st.download_button(
        "Download as CSV",
        lambda: frame.to_csv(),
        file_name=name_of(f"{page}_{step.name}", trace, _sentence(), ".csv"),
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )


def numbered(trace: Trace, axis: str) -> list[str]:
    """The places of an axis by number and name; repeated tokens can be told apart."""
    return [
        label if trace.name_of(axis, at) is None else f"{at} {visible(label)}"
        for at, label in enumerate(trace.labels(axis))
    ]


def as_frame(trace: Trace, step: Step, hidden: Tensor | None = None) -> pd.DataFrame:
    """A step as a table: its last axis across, the others down, with the names of their places.
    Cells that are `hidden`, True in the shape of the step, are empty.
    """
    *down, across = step.axes if step.value.ndim > 1 else (*step.axes, "")
    values = step.value
    if hidden is not None:
        values = values.float().masked_fill(hidden, torch.nan)
    values = values.reshape(-1, step.value.shape[-1] if across else 1)
    index = pd.MultiIndex.from_product([numbered(trace, axis) for axis in down], names=down)
    columns = numbered(trace, across) if across else [step.name]
    return pd.DataFrame(values.numpy(), index=index, columns=columns)
