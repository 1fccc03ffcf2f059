"""*Save picture*: an equation as a file, for slides."""

from collections.abc import Mapping
from uuid import uuid4

import streamlit as st

from ..controls import held
from ..streamlit_workarounds.saved_picture import save_picture
from .contents import lesson
from .file_names import file_name

PRESSED = "picture_pressed"
KINDS = {"png": "PNG", "svg": "SVG, sharp at every size"}
LOOKS = {"light": "Light", "dark": "Dark"}
INKS = {"light": "#000000", "dark": "#ffffff"}


@st.dialog("Save picture")
def save_dialog(
    name: str, card: str, is_canvas: bool, is_covered: bool, grounds: Mapping[str, str]
) -> None:
    """Ask how, then save, on the ground of the chosen theme. A picture that is a canvas is as it
    was drawn: pixels, in the page's own theme.
    """
    page = st.session_state[held.HERE][0]
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
        st.session_state[PRESSED] = uuid4().hex
    if press := st.session_state.get(PRESSED):
        colours = {"ground": grounds[look], "ink": INKS[look], "dark": look == "dark"}
        title = f"{lesson(page).title}: {card}"
        save_picture(press, name, file_name(page, name, ""), kind, title, **colours)
