"""The picture of all heads on the page: pointing stays in the browser, a click chooses a head."""

import numpy as np
import streamlit as st

from attention_core.text.tokenizers import visible

from ...controls import held
from ...controls.control import Values
from .lesson import MARKED, MODEL_HEAD, encoded_of, query_of, scores_of
from .raster import Heads, all_heads
from .seen import Seen

KEY = "chart_all_heads"


def heads_picture(values: Values, found: Seen, chosen: tuple[int, int]) -> None:
    """All heads on the text, those marked that do what is measured."""
    scores = scores_of(values, found)
    made = all_heads(
        Heads(
            found.run.weights.numpy(),
            scores.numpy(),
            [visible(each) for each in encoded_of(values).pieces],
            query_of(values),
            chosen,
            f"Heads that {MARKED[values.measure]}",
        )
    )
    st.vega_lite_chart(
        made.frame,
        made.spec,
        width="stretch",
        height="content",
        key=KEY,
        alt=made.alt,
        on_select=_told,
        selection_mode=["head"],
    )


def _told() -> None:
    """A head that was clicked on."""
    match st.session_state[KEY]["selection"].get("head"):
        case [{"id": str() as name}, *_] if MODEL_HEAD.name not in held.fixed():
            held.change(model_head=name)


def strongest(values: Values, found: Seen, most: int = 5) -> list[tuple[str, float]]:
    """The heads that do most of what is measured, as a link has them, and their shares."""
    scores = scores_of(values, found).numpy()
    best = np.argsort(-scores, axis=None)[:most]
    places = [np.unravel_index(each, scores.shape) for each in best]
    return [(f"{layer}.{head}", float(scores[layer, head])) for layer, head in places]
