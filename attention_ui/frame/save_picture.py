"""*Save picture*: an equation as a file, for slides."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import uuid4

import streamlit as st

from ..controls.lesson_session import this_session
from ..streamlit_workarounds.saved import save_picture
from .contents import lesson
from .file_names import file_name

KINDS = {"png": "PNG", "svg": "SVG, sharp at every size"}
LOOKS = {"light": "Light", "dark": "Dark"}
INKS = {"light": "#000000", "dark": "#ffffff"}


@dataclass
class Pressed:
    """Which press of *Save* was the last: a run that breaks off loses none."""

    press: str = ""


@st.dialog("Save picture")
def save_dialog(
    name: str, card: str, is_canvas: bool, is_covered: bool, grounds: Mapping[str, str]
) -> None:
    """Ask how, then save, on the chosen theme's ground; a canvas stays as it was drawn."""
    page = this_session().page
    if is_covered:
        st.markdown("Its **?** are saved as they are: answer the question first to have numbers.")
    look, kind = st.context.theme.type or "light", "png"
    if is_canvas:
        st.markdown("This picture has so many cells that it is drawn as pixels, as on the screen.")
    else:
        # As radio buttons: no choice can be taken away.
        kind = st.radio("Kind", KINDS, format_func=KINDS.get, key="save_kind", horizontal=True)
        at = [*LOOKS].index(look)
        look = st.radio(
            "Look", LOOKS, index=at, format_func=LOOKS.get, key="save_look", horizontal=True
        )
    if st.button("Save", type="primary", key="save_now", icon=":material/download:"):
        this_session().own(Pressed).press = uuid4().hex
    if press := this_session().own(Pressed).press:
        colours = {"ground": grounds[look], "ink": INKS[look], "dark": look == "dark"}
        title = f"{lesson(page).title}: {card}"
        save_picture(press, name, file_name(page, name, ""), kind, title, **colours)
