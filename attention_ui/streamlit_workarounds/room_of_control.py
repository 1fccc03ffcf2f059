"""Where the browser puts a control that a picture carries.

Vega empties the element first, so that its inside must be no business of React's, and it looks for
it once: the element has to be there before the picture. An `st.html` need not be, since Streamlit
loads what draws it from a file of its own, as it does for the picture; an `st.space` always is.
"""

from streamlit.delta_generator import DeltaGenerator


def put_empty_room(place: DeltaGenerator) -> None:
    """The only element of this container: the room that `in_room` finds."""
    place.space("stretch")


def in_room(key: str) -> str:
    """The CSS selector of the room in the container of this key."""
    return f".st-key-{key} .stSpace"
