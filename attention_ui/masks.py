"""What the lesson on the causal mask shows beside heatmaps: controls, ways to hide, the leak."""

import pandas as pd
import streamlit as st
import torch

from attention_core.embedding import embed
from attention_core.masking import attend_masked, change_token, drop_weights
from attention_core.trace import Trace

from . import session
from .beats import equation
from .charts.bars import bars
from .charts.heatmap import Matrix
from .questions import Verdict
from .settings import MAX_DROP_SEED, MAX_TOKENS, WAYS_TO_HIDE, Settings
from .show import folded, light, note, show
from .view import View

ROUNDING = 1e-6
"""Context vectors that move less than this have not moved: another sum was rounded otherwise."""


def prefix_of(way: str) -> str:
    """What the names of a way's steps begin with."""
    return "" if way == "minus_infinity" else f"{way}_"


def choose_mask(settings: Settings) -> None:
    """The rules of the mask, and cells of it turned round by hand."""
    tokens = settings.numbered_tokens
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        session.control(st.toggle, "Causal: no later key", "causal")
        session.control(
            st.slider,
            "Window: keys back, 0 for all",
            "window",
            min_value=0,
            max_value=MAX_TOKENS,
            width=220,
        )
        session.control(
            st.selectbox,
            "A key that nobody sees",
            "hidden",
            version=len(tokens),
            options=list(range(len(tokens))),
            index=None,
            placeholder="none",
            format_func=tokens.__getitem__,
            width=200,
        )
    with folded("Turn single cells", "turn_cells", ":material/flip:") as is_open:
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
            "Turn this cell",
            on_click=session.change,
            kwargs={"turned": tuple(sorted(turned))},
            disabled=len(turned) > 32,
        )
        if settings.turned:
            st.button("Turn all back", on_click=session.change, kwargs={"turned": ()})


def say_blind(trace: Trace) -> None:
    """The queries that may look at nothing. The tokens are a person's text."""
    blind = (~trace["mask"].value).all(dim=-1).nonzero().flatten().tolist()
    if not blind:
        return
    note(
        "Softmax has nothing to share out where every key is hidden: it would be 0 divided by 0. "
        "The weights of such a row are set to 0, as torch's `scaled_dot_product_attention` does, "
        "and its context vector is 0.",
    )
    names = trace.labels("query")
    st.text("Nothing to look at: " + ", ".join(f"query {at} “{names[at]}”" for at in blind))


def hidden_share(trace: Trace, way: str) -> torch.Tensor:
    """How much weight each query gives to keys that the mask hides. (query,)"""
    weights = trace[f"{prefix_of(way)}weights"].value
    return weights.masked_fill(trace["mask"].value, 0.0).sum(dim=-1)


def leaks(settings: Settings, way: str, token: int, amount: float) -> torch.Tensor:
    """How far each context vector moves when one token's vector changes. (query,)"""
    trace = attend_masked(embed(settings.inputs), settings.mask, settings.divide)
    change_token(trace, token, amount, prefix_of(way))
    return trace["moved"].value.abs().max(dim=-1).values


def judge_leaks(guess: list[int], settings: Settings) -> Verdict:
    """Which ways let the last token reach an earlier context vector, measured."""
    last = len(settings.inputs.tokens) - 1
    ways = list(WAYS_TO_HIDE)
    blind = attend_masked(embed(settings.inputs), settings.mask, settings.divide)["mask"].value
    unseen = ~blind[:, last]
    unseen[last] = False  # its own context vector moves with its weights
    truth = [
        place
        for place, way in enumerate(ways)
        if (leaks(settings, way, last, 1.0)[unseen] > ROUNDING).any()
    ]
    listed = " and ".join(WAYS_TO_HIDE[ways[place]] for place in truth) or "none of them"
    right = guess == truth
    return Verdict(right, f"{'Right: ' if right else 'It is '}{listed}.")


@st.fragment
def ways_to_hide(view: View) -> None:
    """One way at a time: its weights and its lights, and all ways side by side."""
    session.save(view.page)
    session.choice("Hide by", "way")
    settings = session.current()
    trace, way = view.trace, prefix_of(settings.way)
    equation(view, "ways", build=lambda now: _way(trace, prefix_of(now.way)))
    sums = trace[f"{way}weights"].value.sum(dim=-1)
    seen = trace["mask"].value.any(dim=-1)
    off = (sums[seen] - 1).abs().max().item() if seen.any() else 0.0
    if off < 1e-5:
        light(True, f"Rows sum to 1: the farthest is off by {off:.1g}.")
    else:
        low, high = sums[seen].min(), sums[seen].max()
        light(False, f"Rows sum to {low:.4f} up to {high:.4f}, not to 1.")
    most = hidden_share(trace, settings.way).max().item()
    if most == 0:
        light(True, "No weight on hidden keys: exactly 0.")
    else:
        light(False, f"Up to {most:.4f} of a row's weight is on keys that the mask hides.")
    table = {label: hidden_share(trace, name).tolist() for name, label in WAYS_TO_HIDE.items()}
    st.markdown("Weight on hidden keys, for each query:")
    names = [f"{at} {name}" for at, name in enumerate(settings.visible_tokens)]
    st.dataframe(
        pd.DataFrame(table, index=pd.Index(names, name="query")).round(4).T, width="content"
    )


def _way(trace: Trace, way: str) -> tuple[Matrix | str, ...]:
    """Scores with the mask, as this way has them, and the weights."""
    mask, weights = trace["mask"], trace[f"{way}weights"]
    before = weights.inputs[0]
    if way == "zero_filled_":
        before = trace["zero_filled_scores"]
    return (Matrix(before, mask=mask), "→", Matrix(weights, row_labels=False, mask=mask))


@st.fragment
def leak(view: View) -> None:
    """Change one token's vector, and measure which context vectors move."""
    session.save(view.page)
    tokens = session.current().numbered_tokens
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        session.control(
            st.selectbox,
            "Change the vector of",
            "changed_token",
            version=len(tokens),
            options=list(range(len(tokens))),
            format_func=tokens.__getitem__,
            width=200,
        )
        session.control(
            st.slider,
            "Add to each entry",
            "change_by",
            min_value=-4.0,
            max_value=4.0,
            step=0.1,
            width=220,
        )
        session.control(
            st.selectbox,
            "Hide by",
            "way",
            version="_of_leak",
            options=list(WAYS_TO_HIDE),
            format_func=WAYS_TO_HIDE.__getitem__,
            width=260,
        )
    settings = session.current()
    way, token = prefix_of(settings.way), settings.changed_token
    trace = attend_masked(embed(settings.inputs), settings.mask, settings.divide)
    change_token(trace, token, settings.change_by, way)
    beside = view.beside(trace)
    equation(
        beside,
        "leak",
        Matrix(trace[f"changed_{way}context_vectors"], title="context_vectors, changed"),
        "−",
        Matrix(trace[f"{way}context_vectors"], row_labels=False),
        "=",
        Matrix(trace["moved"], row_labels=False),
    )
    unseen = ~trace["mask"].value[:, token]
    unseen[token] = False
    moved = trace["moved"].value.abs().max(dim=-1).values[unseen]
    n_hidden, n_moved = int(unseen.sum()), int((moved > ROUNDING).sum())
    if not n_hidden:
        st.markdown("The mask lets every query look at this token, so nothing can leak.")
    elif n_moved:
        light(
            False,
            f"It leaks: {n_moved} of the {n_hidden} queries that may not look at this token have "
            f"another context vector, by up to {moved.max():.4f}.",
        )
    else:
        light(
            True,
            f"No leak: the {n_hidden} queries that may not look at this token keep their context "
            f"vectors. The largest change is {moved.max():.1g}.",
        )


@st.fragment
def dropout(view: View) -> None:
    """Weights dropped by chance, and the rest made larger, with the mean over many draws."""
    session.save(view.page)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        session.control(
            st.slider,
            "Chance of being dropped",
            "dropout",
            min_value=0.0,
            max_value=0.9,
            step=0.05,
            width=240,
        )
        session.control(
            st.slider,
            "Seed of the draw",
            "drop_seed",
            min_value=0,
            max_value=MAX_DROP_SEED,
            width=200,
        )
    settings = session.current()
    trace = attend_masked(embed(settings.inputs), settings.mask, settings.divide, ways=("",))
    drop_weights(trace, settings.dropout, settings.drop_seed)
    mask = trace["mask"]
    equation(
        view.beside(trace),
        "dropout",
        Matrix(trace["weights"], mask=mask),
        "→",
        Matrix(trace["dropped_weights"], row_labels=False, mask=mask),
    )
    query = len(settings.inputs.tokens) - 1
    row, dropped = trace["weights"].value[query], trace["dropped_weights"].value[query]
    names = trace.labels("key")
    title = f"Weights of query {query}: as they are, dropped once, and the mean of {DRAWS:,} draws."
    mean = _mean_of_draws(row, settings.dropout)
    show(bars(names, {"as they are": row.tolist(), "mean of many": mean.tolist()}, title))
    st.markdown(
        f"This row now sums to {dropped.sum():.4f}. Each weight that is kept is divided by "
        f"{1 - settings.dropout:.2f}, so the mean stays: over {DRAWS:,} draws, the row's weights "
        f"are off by {(mean - row).abs().max():.4f} at most. Dropout is for training only."
    )


DRAWS = 4_000


def _mean_of_draws(row: torch.Tensor, probability: float) -> torch.Tensor:
    """The mean of a row under many draws of dropout."""
    draws = torch.rand(DRAWS, len(row), generator=torch.Generator().manual_seed(0))
    kept = (row / (1 - probability)).expand(DRAWS, -1).masked_fill(draws < probability, 0.0)
    return kept.mean(dim=0)
