"""What the second lesson says about one query: which to ask about, a walk through its keys."""

from dataclasses import replace

import streamlit as st
from torch import Tensor

from attention_core.export.program import program
from attention_core.mechanism.simplified import SimplifiedOptions, attend
from attention_core.text.embedding import embed
from attention_core.trace import Trace

from ...charts.bars import bars
from ...page.show import folded, show, show_program
from ...page.view import View
from ...predict.common_questions import largest_keys
from ...settings import session
from ...settings.control import control, control_row
from ...settings.settings import Settings
from ...words import number, repeated


def asked_query(weights: Tensor) -> int:
    """The row worth asking about: the first whose largest weight is not its own; else the last."""
    own = weights.diagonal()
    surprising = (weights.max(dim=-1).values > own + 1e-6).nonzero().flatten()
    return int(surprising[0]) if len(surprising) else len(weights) - 1


def stepper(settings: Settings) -> int:
    """Walk key by key: how many keys have been reached."""
    n_keys = len(settings.inputs.tokens)
    reached = min(settings.upto, n_keys)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for label, icon, target in (
            ("First", ":material/first_page:", 1),
            ("Back", ":material/chevron_left:", max(reached - 1, 1)),
            ("Next key", ":material/chevron_right:", min(reached + 1, n_keys)),
            ("All", ":material/last_page:", n_keys),
        ):
            st.button(
                label,
                icon=icon,
                on_click=session.change,
                kwargs={"upto": target},
                disabled=target == reached,
            )
        st.text(f"{reached} of {n_keys} keys so far")
    return reached


def stretch(view: View, options: SimplifiedOptions) -> None:
    """An experiment on a trace of its own: one vector stretched, and one query's weights."""
    st.markdown(
        "Make one vector longer. With the dot product, a positive score grows and takes weight "
        "from the others; a negative one falls further. With the cosine, length does not count. "
        "A negative factor makes the vector point the other way. Grey bars are the weights before."
    )
    with control_row():
        control("stretch", width=200)
        control("factor", width=240)
    settings = session.current()
    changed = replace(options, stretched=settings.stretch, factor=settings.factor)
    stretched = attend(embed(settings.inputs), changed)
    before = view.trace["weights"].value[settings.query]
    now = stretched["weights"].value[settings.query]
    show(
        bars(
            view.trace.labels("key"),
            {"before": before.tolist(), "now": now.tolist()},
            f"Weights of query {settings.query} for each key, before the stretch and now.",
        )
    )
    words = f"Query {settings.query} gave most to {largest_keys(before)}"
    moved = (now - before).abs().sum().item() / 2
    if moved < 1e-6:
        st.markdown(f"{words}, and no weight has moved.")
    else:
        st.markdown(
            f"{words}; now it gives most to {largest_keys(now)}. "
            f"In all, {moved:.4f} of its weight has moved."
        )
    with folded("The program with this vector", "stretched_program", ":material/code:") as is_open:
        if is_open:
            show_program(program(stretched, "Attention Explorer: one vector stretched"))


def twice_words(settings: Settings, trace: Trace) -> str:
    """What becomes of a word that stands there twice, by its places: the word is the visitor's, and
    this is Markdown. "" where none does, or where its two tokens have different ids.
    """
    tokens = settings.inputs.tokens
    found = repeated(tokens)
    if found is None or len({int(trace["token_ids"].value[at]) for at in found}) > 1:
        return ""
    first, again = found
    context = trace["context_vectors"].value
    gap = (context[first] - context[again]).abs().max().item()
    stands = f"Token {first} comes again as token {again}."
    if settings.positions:
        return (
            f"{stands} Its position makes its vector another, and the two contexts differ by up to "
            f"{number(gap, 2)}."
        )
    return (
        f"{stands} Equal words have equal vectors, so both rows of weights are alike, and both get "
        f"the same context vector (they differ by {gap:.1g}): nothing here knows where a word "
        "stands. Turn on *Positions* in the sidebar and they will differ."
    )


def blanks_words(trace: Trace, settings: Settings) -> str:
    """How much weight goes to blank tokens; '' where there are none."""
    tokens = settings.inputs.tokens
    blanks = [place for place, token in enumerate(tokens) if token.isspace()]
    if not blanks:
        return ""
    on_blanks = trace["weights"].value[:, blanks].sum(dim=-1)
    worst = int(on_blanks.argmax())
    return (
        f"{len(blanks)} of {len(tokens)} tokens are blanks. Row {worst} gives them "
        f"{on_blanks[worst]:.4f} of its weight, and your query gives them "
        f"{on_blanks[settings.query]:.4f}. Drop them with the switch in the sidebar."
    )


def most_alike(trace: Trace) -> tuple[int, int]:
    """Two tokens that are alike, neither of them the one that the question is about."""
    others = trace["scores"].value.clone().fill_diagonal_(float("-inf"))
    asked = asked_query(trace["weights"].value)
    others[asked] = others[:, asked] = float("-inf")
    row, column = divmod(int(others.argmax()), len(others))
    return row, column
