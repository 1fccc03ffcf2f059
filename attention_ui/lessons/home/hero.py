"""The first picture on the home page: a sentence that shows where each of its tokens looks."""

import streamlit as st

from attention_core.mechanism.simplified import SimplifiedOptions, attend
from attention_core.text.embedding import embed

from ...charts.live import live
from ...charts.matrix import Matrix
from ...charts.placed import Placed
from ...charts.sizes import CellSize
from ...page.show import show
from ...settings.settings import Settings
from ...shell.frame import LINE

SMALL = CellSize(22, 14, 0)


def hero(settings: Settings) -> None:
    """The sentence, shaded by the weights of the token that is pointed at, and all its weights."""
    trace = attend(embed(settings.inputs), SimplifiedOptions(divide=settings.divide))
    weights = Matrix(trace["weights"], column_labels=False)
    placed = Placed("", weights, SMALL, compact=True)
    chart = live(trace, [[placed]], settings.first_query)
    st.markdown(
        "**Where does each word look?** Point at a word, or at a cell: each row of the picture "
        "below is one word's attention, shared out over the whole sentence.",
        width=LINE,
    )
    with st.container(key="eq_hero"):
        show(chart)
