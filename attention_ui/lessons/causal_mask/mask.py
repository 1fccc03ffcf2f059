"""What the lesson on the causal mask says of its mask, and the controls that make it."""

import streamlit as st
from torch import Tensor

from attention_core.trace import Trace

from ...page.show import folded, note
from ...settings import session
from ...settings.control import control, control_row
from ...settings.settings import Settings


def choose_mask(settings: Settings) -> None:
    """The rules of the mask, and cells of it flipped by hand."""
    with control_row():
        control("causal")
        control("window", width=230)
        control("hidden", width=200)
    with folded("Flip single cells", "turn_cells", ":material/flip:") as is_open:
        if is_open:
            _turn_cells(settings)


def _turn_cells(settings: Settings) -> None:
    """A query and a key, and a button that turns their cell of the mask."""
    tokens = settings.numbered_tokens
    places = range(len(tokens))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = [
            st.selectbox(
                label,
                places,
                format_func=tokens.__getitem__,
                key=f"turn_{label}_{len(tokens)}",
                width=200,
            )
            for label in ("Query", "Key")
        ]
        turned = set(settings.turned) ^ {(chosen[0], chosen[1])}
        st.button(
            "Flip this cell",
            on_click=session.change,
            kwargs={"turned": tuple(sorted(turned))},
            disabled=len(turned) > 32,
        )
        if settings.turned:
            st.button("Undo all flips", on_click=session.change, kwargs={"turned": ()})


def mask_words(settings: Settings, mask: Tensor) -> str:
    """Which rules make this mask (query, key), and how it is drawn."""
    n_tokens = len(mask)
    back = settings.window - 1 if 0 < settings.window < n_tokens else None
    tokens = "token" if back == 1 else f"{back} tokens"
    if back == 0:
        words = "The window is one key wide: a query may look at itself alone"
    elif settings.causal:
        before = "what came before" if back is None else f"the {tokens} before it"
        words = f"A text is read from left to right, so a query may look at itself and at {before}"
    elif back is None:
        words = "Without the causal rule a query may look at every key, also at those after it"
    else:
        words = (
            "Without the causal rule a query may look both ways: at itself, at the "
            f"{tokens} before it and the {tokens} after it"
        )
    if mask.equal(mask.new_ones(mask.shape).tril()):
        words += ": the lower triangle"
    if settings.hidden is not None and settings.hidden < n_tokens:
        words += f"; but key {settings.hidden} is hidden from every query"
    turned = sum(max(cell) < n_tokens for cell in settings.turned)
    if turned:
        words += ". 1 cell is" if turned == 1 else f". {turned} cells are"
        words += " flipped by hand"
    faint = "no cell is hidden" if mask.all() else "a faint cell is hidden"
    return f"{words}. ✓ is True, *may look*; {faint}."


def weights_words(mask: Tensor) -> str:
    """What is shared out, and the first query of a mask (query, key) as its simplest case."""
    words = "Each query shares out its weight among the keys it may see. The first query sees "
    keys = mask[0].nonzero().flatten().tolist()
    if not keys:
        return f"{words}no key, so it has nothing to share: its weights are 0."
    if len(keys) > 1:
        return f"{words}{len(keys)} of the {len(mask)} keys."
    return f"{words}one key, {f'key {keys[0]}' if keys[0] else 'itself'}, and gives it everything."


def context_words(mask: Tensor) -> str:
    """What the context vectors under a mask (query, key) can be used for."""
    n_rows, ahead = len(mask), int(mask.triu(1).any(dim=-1).sum())
    if not ahead:
        return (
            "A context vector is now a mean of what came before, its own token included. That is "
            "why one text can train the prediction of every next token at once: no row has seen "
            "its answer."
        )
    see = "sees" if ahead == 1 else "see"
    return (
        f"A context vector is a mean of what its query may see. Here {ahead} of {n_rows} rows "
        f"{see} a later token. Such a mask is of no use for predicting the next token: a row that "
        "looks ahead may have seen its answer."
    )


def blind_rows(mask: Tensor) -> list[int]:
    """The queries of a mask (query, key) that may look at nothing."""
    return (~mask).all(dim=-1).nonzero().flatten().tolist()


def say_blind(trace: Trace) -> None:
    """The queries that may look at nothing. The tokens are a person's text."""
    blind = blind_rows(trace["mask"].value)
    if not blind:
        return
    note(
        "Softmax has nothing to share out where every key is hidden: it would be 0 divided by 0. "
        "The weights of such a row are set to 0, as torch's `scaled_dot_product_attention` does, "
        "and its context vector is 0.",
    )
    names = trace.labels("query")
    st.text("Nothing to look at: " + ", ".join(f"query {at} “{names[at]}”" for at in blind))
