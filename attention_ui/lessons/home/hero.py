"""The first picture on the home page: a sentence that shows where each of its tokens looks."""

import streamlit as st

from attention_core.mechanism.simplified import SimplifiedOptions, attend
from attention_core.mechanism.trainable import attend_trainable
from attention_core.text.embedding import embed
from attention_core.text.tokenizers import visible
from attention_core.trace import Trace

from ...charts.live import live
from ...charts.placed import Placed
from ...charts.sizes import CellSize
from ...page.show import show
from ...picture.matrix import Matrix
from ...settings.settings import Settings
from ...shell.frame import LINE

SMALL = CellSize(22, 14, 0)


def hero(settings: Settings) -> None:
    """The sentence, shaded by the weights of the token that is pointed at, and all its weights."""
    trace = alike = attend(embed(settings.inputs), SimplifiedOptions(divide=settings.divide))
    if settings.projections.given_for("query", settings.d_in):  # by hand, so that it makes sense
        trace = attend_trainable(embed(settings.inputs), settings.projections)
    weights = Matrix(trace["weights"], column_labels=False)
    placed = Placed("", weights, SMALL, compact=True)
    chart = live(trace, [[placed]], settings.first_query)
    with st.container(key="eq_hero"):
        show(chart)
    st.text(most_looked_at(trace, settings.first_query, alike))
    st.markdown(
        "Point at a word, or at a cell, to see where each word looks. Each row of the small "
        "picture is one word's attention, shared out over the whole sentence: it sums to 1.",
        width=LINE,
    )


def most_looked_at(trace: Trace, query: int, alike: Trace) -> str:
    """Which tokens a query looks at most, in words, and how much it would if only likeness
    counted. Plain text, since tokens are a visitor's.
    """
    names = [visible(token) for token in trace.labels("key")]
    shares, places = trace["weights"].value[query].topk(min(2, len(names)))
    whom = ["itself" if at == query else f"“{names[at]}”" for at in places]
    most, *less = zip(shares.tolist(), whom, strict=True)
    told = f"“{names[query]}” gives {most[0]:.0%} of its attention to {most[1]}"
    told += "".join(f", and {share:.0%} to {name}" for share, name in less) + "."
    if trace is alike:
        return told
    by_likeness = [f"{share:.0%}" for share in alike["weights"].value[query][places].tolist()]
    return f"{told} By likeness alone it would be {' and '.join(by_likeness)}."
