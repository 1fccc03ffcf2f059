"""Dropout on the weights: what it does to one draw, and to the mean of many."""

import streamlit as st
import torch

from attention_core.mechanism.masking import attend_masked, drop_weights
from attention_core.text.embedding import embed
from attention_core.trace import Trace

from ...charts.bars import bars
from ...page.equation import equation
from ...page.show import show
from ...page.view import View
from ...settings import session
from ...settings.control import control, control_row
from ...settings.settings import Settings
from ...words import number

DRAWS = 4_000


def dropped(settings: Settings) -> Trace:
    """The trace of the experiment: the masked weights, and what one draw leaves of them."""
    trace = attend_masked(embed(settings.inputs), settings.mask, settings.divide, ways=("",))
    drop_weights(trace, settings.dropout, settings.drop_seed)
    return trace


def dropout(view: View) -> None:
    """Weights dropped by chance, and the rest made larger, with the mean over many draws."""
    with control_row():
        control("dropout", width=240)
        control("drop_seed", width=200)
        control("query", width=240)
    settings = session.current()
    trace = dropped(settings)
    equation(view.beside(trace), "dropout", trace["dropped_weights"])
    query = settings.query
    row, once = trace["weights"].value[query], trace["dropped_weights"].value[query]
    names = trace.labels("key")
    st.markdown(f"**Row {query}**: its weights as they are, and the mean of {DRAWS:,} draws.")
    title = f"Weights of query {query}: as they are, and the mean of {DRAWS:,} draws of dropout."
    mean = _mean_of_draws(row, settings.dropout)
    show(bars(names, {"as they are": row.tolist(), "mean of many": mean.tolist()}, title))
    st.markdown(
        f"Dropped once, as above, row {query} sums to {number(once.sum().item())}. Each weight "
        f"that is kept is divided by {1 - settings.dropout:.2f}, so the mean stays: over {DRAWS:,} "
        f"draws, the row's weights are off by at most {number((mean - row).abs().max().item())}. "
        "Dropout is for training only."
    )


def _mean_of_draws(row: torch.Tensor, probability: float) -> torch.Tensor:
    """The mean of a row under many draws of dropout."""
    draws = torch.rand(DRAWS, len(row), generator=torch.Generator().manual_seed(0))
    kept = (row / (1 - probability)).expand(DRAWS, -1).masked_fill(draws < probability, 0.0)
    return kept.mean(dim=0)
