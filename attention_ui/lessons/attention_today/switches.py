"""The switches of the lesson, in one row, and known models that set them all."""

import streamlit as st

from ...page.show import light
from ...page.view import View
from ...settings import session
from ...settings.control import control, control_row
from ...settings.settings import SETTINGS, Settings
from .checks import moved_light

MODELS = {"GPT-2": "gpt2", "Llama 3 8B": "llama3", "Mistral 7B": "mistral"}


def choose_switches() -> None:
    """What can be switched on, and models that set all switches as they have them."""
    now = session.current()
    with control_row(vertical_alignment="top", gap="medium"):
        control("kv_heads", width="content")
        control("places", width="content")
        control("soft_cap", label="Soft cap", width=150)
        control("window", label="Window", width=150)
        if session.current().window:
            control("sinks", label="Sinks", width=110)
    row = {"horizontal": True, "vertical_alignment": "center"}
    with st.container(gap="medium", **row):
        with st.container(gap="xsmall", width="content", **row):
            st.caption("Set them as in (scaled down)", width="content")
            kept = {*now.hide, *now.lock}
            for label, model in MODELS.items():
                st.button(
                    label,
                    key=f"as_in_{model}",
                    on_click=_set_as_in,
                    args=(model,),
                    disabled=not switches_of(model, now).keys() - kept,
                )
        if "head" not in now.hide:
            with st.container(gap="xsmall", width="content", **row):
                st.caption("Head that is shown", width="content")
                with st.container(width="content"):
                    control("head", elsewhere=True, label_visibility="collapsed")


def _set_as_in(model: str) -> None:
    """From a button: set the switches as a model has them, but for those a link has fixed."""
    now = session.current()
    kept = {*now.hide, *now.lock}
    chosen = switches_of(model, now)
    session.overwrite(**{name: value for name, value in chosen.items() if name not in kept})
    session.redraw(controls=True)


def switches_of(model: str, settings: Settings) -> dict[str, object]:
    """The switches of a known model, for as many heads and tokens as there are here: Llama 3 8B and
    Mistral 7B have a quarter as many key/value heads as query heads, and Mistral's window is half
    of its context.
    """
    plain = {"places": "none", "window": 0, "sinks": 0, "soft_cap": 0.0}
    if model == "gpt2":
        return plain | {"kv_heads": settings.n_heads}
    fitting = SETTINGS["kv_heads"].values(settings)
    quarter = max(count for count in fitting if count == 1 or 4 * count <= settings.n_heads)
    llama = plain | {"places": "rotary", "kv_heads": quarter}
    if model == "llama3":
        return llama
    return llama | {"window": max(1, len(settings.inputs.tokens) // 2)}


def on_words(settings: Settings, odd: bool) -> str:
    """Which of the two pictures is which, and in what today's differs from 2017."""
    on = []
    if (fewer := settings.kv_heads) < settings.n_heads:
        on.append("1 key/value head" if fewer == 1 else f"{fewer} key/value heads")
    if settings.places == "alibi":
        on.append("ALiBi")
    elif settings.places == "rotary" and not odd:
        on.append("rotary positions")
    if settings.window:
        on.append(f"a window of {settings.window}")
        if settings.sinks:
            on.append("1 sink" if settings.sinks == 1 else f"{settings.sinks} sinks")
    if settings.soft_cap:
        on.append(f"a soft cap of ±{settings.soft_cap:g}")
    if not on:
        return "`head_weights` are as in 2017. Nothing is on now, so `today_weights` are the same."
    return f"As in 2017: `head_weights`. **On now**, in `today_weights`: **{', '.join(on)}**."


def now_words(settings: Settings, odd: bool) -> str:
    """What is on, where it is not what the switches say; '' where it is."""
    if settings.places == "rotary" and odd:
        return (
            f"Rotary positions are left out here: they turn columns in pairs, and a head is "
            f"{settings.heads_recipe.d_head} wide. Choose an even width under *Heads share keys "
            "and values*."
        )
    return ""


def choose_heads() -> None:
    """How many query heads there are, and how wide."""
    with control_row(vertical_alignment="top"):
        control("n_heads", width=204)
        control("d_head", width=204)


def show_moved(view: View) -> None:
    """How far the whole text is moved, and what that does to the scores."""
    control("moved_by", width=330)
    light(*moved_light(view.trace, session.current().moved_by))
