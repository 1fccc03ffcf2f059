"""What the first lesson shows beside heatmaps: tokens as chips, the vocabulary, the typed table."""

import streamlit as st
from torch import Tensor

from attention_core.text.inputs import TRAINED
from attention_core.text.tokenizers import TOKENIZERS, visible

from ...cards.questions import Verdict
from ...page.show import note
from ...page.view import View
from ...settings.control import control, control_row
from ...settings.settings import Settings
from ...widgets.grid import grid

IN_ORDER = "the tokens in sorted order"


def token_chips(settings: Settings) -> None:
    """The tokens in order, each in a frame, with the rule that cut them."""
    tokens = settings.visible_tokens
    with st.container(horizontal=True, gap="xsmall", key="chips_tokens"):
        for token in tokens:
            st.text(token)
    distinct = len(set(settings.inputs.tokens))
    rule = TOKENIZERS[settings.tokenizer].rule
    st.caption(f"{_count(len(tokens), 'token')}, {distinct} distinct. {rule}")


def vocabulary_chips(settings: Settings) -> None:
    """The vocabulary: each row's number and token, and what is wrong with it where something is."""
    inputs = settings.inputs
    if inputs.vocabulary == "random":
        st.caption("There is no vocabulary here: the ids are random numbers below 20,000.")
        return
    vocabulary = inputs.build_vocabulary()
    rows = vocabulary.rows()
    order = "every word that the network learned" if inputs.vocabulary == TRAINED else IN_ORDER
    words = f"The vocabulary has {_count(len(rows), 'row')}: {order}"
    if vocabulary.reserved:
        words += (
            f", then {len(vocabulary.reserved)} reserved, for tokens that it does not know and for "
            "filling up short sentences"
        )
    st.caption(f"{words}.")
    with st.container(horizontal=True, gap="xsmall", key="chips_vocabulary"):
        for row, token in enumerate(rows):
            st.text(f"{row}\u2002{visible(token)}")
    if unknown := vocabulary.unknown(inputs.tokens):
        listed = ", ".join(map(visible, unknown))
        st.text(f"Not in the vocabulary, so all of them share one row: {listed}")
    used = set(vocabulary.ids(inputs.tokens))
    unused = [row for row in range(len(rows)) if row not in used]
    if unused and inputs.vocabulary == "duplicates":
        note(
            f"Rows {', '.join(map(str, unused))} are never used: the sorted list was numbered "
            "before its duplicates were removed.",
        )


def identical_rows(vectors: Tensor) -> list[list[int]]:
    """The groups of rows (of two or more) that are equal in every entry."""
    groups: dict[tuple[float, ...], list[int]] = {}
    for place, vector in enumerate(vectors.tolist()):
        groups.setdefault(tuple(vector), []).append(place)
    return [group for group in groups.values() if len(group) > 1]


def identical_words(groups: list[list[int]], settings: Settings) -> str:
    """Which rows cannot be told apart, and why."""
    listed = "; ".join("rows " + ", ".join(map(str, group)) for group in groups)
    return f"Identical: {listed}. Nothing in these vectors says where a token stands" + (
        "." if settings.positions else ": turn on *Positions* below and they will differ."
    )


def judge_identical(guess: list[int], vectors: Tensor) -> Verdict:
    """How far a guess of the repeated rows is from the truth, in rows."""
    truth = repeated_rows(vectors)
    wrong = len({*truth} ^ {*guess})
    if wrong == 0:
        return Verdict(True, f"Right: {_rows(truth)}.")
    return Verdict(False, f"The rows are {_rows(truth)}: your guess is {_count(wrong, 'row')} off.")


def repeated_rows(vectors: Tensor) -> list[int]:
    """The places of all rows that are identical to another one."""
    return sorted(place for group in identical_rows(vectors) for place in group)


def repeated_words(vectors: Tensor) -> str:
    """Which rows those are."""
    rows = repeated_rows(vectors)
    return f"The rows are {_rows(rows)}." if rows else "None of them: all rows differ."


def _rows(places: list[int]) -> str:
    return ", ".join(map(str, places)) or "none"


def size_of_table() -> None:
    """Rows times width: the number of parameters of a table, and its size in memory."""
    with control_row(gap="large"):
        rows, width = control("table_rows", width=300), control("table_width", width=300)
    parameters = rows * width
    st.markdown(
        f"**{rows:,} × {width:,} = {parameters:,} parameters**, "
        f"{_bytes(4 * parameters)} as float32."
    )


def type_vectors(view: View) -> None:
    """The table of embeddings as a grid to type in."""
    settings = view.settings
    table = view.trace["embedding_table"]
    st.markdown("Type your own numbers into the table, and everything that follows uses them.")
    about = (settings.example, settings.seed)
    grid(view.trace, "edits", table, view.trace.get("drawn_table", table), about)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _bytes(size: int) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1_000:
            return f"{size:,.3g} {unit}"
        size /= 1_000
    return f"{size:,.3g} GB"
