"""The picture of all heads on the page: pointing stays in the browser, a click chooses a head."""

import re
from functools import partial

import numpy as np
import streamlit as st

from attention_core.text.tokenizers import visible

from ...charts.chart import Chart
from ...controls import held
from ...controls.control import Values
from .lesson import MODEL_HEAD, asked_of, encoded_of, measure_of, query_of, scores_of
from .raster import Heads, all_heads
from .seen import Seen

IS_HEAD = re.compile(r"\d+\.\d+")


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
            measure_of(values).name,
            strongest_first=values.heads_order == "strongest",
            at_least=values.heads_from / 100,
        ),
        found.once,
    )
    choosing("all_heads", made)


def choosing(name: str, made: Chart) -> None:
    """A picture in which a click on a head chooses it."""
    key = f"fills_{name}"
    look = {"width": "stretch", "height": "content", "alt": made.alt, "key": key}
    chosen = {"on_select": partial(choose_head, key), "selection_mode": ["head"]}
    st.vega_lite_chart(made.frame, made.spec, **look, **chosen)


def choose_head(key: str) -> bool:
    """From a callback: take a head that was clicked on in a chart. Whether there was one."""
    match st.session_state.get(key, {}).get("selection", {}).get("head"):
        case [{"id": str() as name}, *_] if IS_HEAD.fullmatch(name):
            if MODEL_HEAD.name not in held.fixed():
                return held.change(model_head=name)
    return False


def to_switch_off(values: Values, found: Seen, chosen: tuple[int, int]) -> None:
    """Buttons that switch off the head that is looked at, and the one that brought most; and one
    that switches all on again.
    """
    best = found.brought(*asked_of(values, found)).heads[0]
    offers = {
        f"{best.layer}.{best.head}": "which brought most",
        f"{chosen[0]}.{chosen[1]}": "which you look at",
    }
    off = values.model_off.split(", ") if values.model_off else []
    with st.container(horizontal=True):
        for name, why in offers.items():
            if name not in off:
                st.button(
                    f"Without {name}, {why}",
                    key=f"switch_off_{name}",
                    on_click=held.change,
                    kwargs={"model_off": ", ".join([*off, name])},
                )
        if off:
            st.button("All on", key="switch_on", on_click=held.change, kwargs={"model_off": ""})


def strongest(values: Values, found: Seen, most: int = 5) -> list[tuple[str, float]]:
    """The heads that do most of what is measured, as a link has them, and their shares."""
    scores = scores_of(values, found).numpy()
    best = np.argsort(-scores, axis=None)[:most]
    places = [np.unravel_index(each, scores.shape) for each in best]
    return [(f"{layer}.{head}", float(scores[layer, head])) for layer, head in places]
