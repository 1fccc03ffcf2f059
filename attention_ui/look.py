"""What the second lesson says about one query: whom it looks at, and walking through its keys."""

import streamlit as st
from torch import Tensor

from attention_core.trace import Trace

from . import session
from .predict import Verdict
from .settings import Settings
from .show import light


def asked_query(weights: Tensor) -> int:
    """The row worth asking about: the first whose largest weight is not its own; else the last."""
    own = weights.diagonal()
    surprising = (weights.max(dim=-1).values > own + 1e-6).nonzero().flatten()
    return int(surprising[0]) if len(surprising) else len(weights) - 1


def judge_look(guess: int, row: Tensor) -> Verdict:
    """How much weight lies between a guess and the truth; equal largest weights are all right."""
    best = row.max().item()
    missed = best - row[guess].item()
    places = (row >= best - 1e-6).nonzero().flatten().tolist()
    truth = " and ".join(f"key {place}" for place in places)
    if missed <= 1e-6:
        return Verdict(True, f"Right: {truth}, with a weight of {best:.4f}.")
    return Verdict(
        False,
        f"It is {truth}, with {best:.4f}. Your key has {row[guess].item():.4f}: "
        f"{missed:.4f} less. The longest vectors often win, not the most alike.",
    )


def choose_query(settings: Settings) -> None:
    """A select box for the query that the lesson follows."""
    tokens = settings.visible_tokens
    session.control(
        st.selectbox,
        "Query",
        "query",
        options=list(range(len(tokens))),
        format_func=lambda place: f"{place}: {tokens[place]}",
        width=240,
    )


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


def say_stretch(plain: Trace, now: Trace, settings: Settings) -> None:
    """What the change did to the chosen query, in numbers."""
    row = settings.query
    before, after = plain["weights"].value[row], now["weights"].value[row]
    moved = (after - before).abs().sum().item() / 2
    top_before, top_after = int(before.argmax()), int(after.argmax())
    words = f"Query {row} gave most to key {top_before} ({before[top_before]:.4f})"
    if moved < 1e-6:
        st.markdown(words + " and nothing has moved: change something above.")
    else:
        st.markdown(
            f"{words}; now to key {top_after} ({after[top_after]:.4f}). "
            f"In all, {moved:.4f} of its weight has moved."
        )


def say_blanks(trace: Trace, settings: Settings) -> None:
    """How much weight goes to blank tokens, where there are any."""
    tokens = settings.inputs.tokens
    blanks = [place for place, token in enumerate(tokens) if token.isspace()]
    if not blanks:
        return
    on_blanks = trace["weights"].value[:, blanks].sum(dim=-1)
    worst = int(on_blanks.argmax())
    light(
        False,
        f"{len(blanks)} of {len(tokens)} tokens are blanks. Row {worst} gives them "
        f"{on_blanks[worst]:.4f} of its weight, and your query gives them "
        f"{on_blanks[settings.query]:.4f}. Drop them with the switch in the sidebar.",
    )
