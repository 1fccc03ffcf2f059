"""What is on the screen as a link: to share, to pin, and for a teacher to prepare."""

from urllib.parse import urlencode

import streamlit as st

from ..settings import session
from ..settings.link import to_pin, to_query
from ..settings.settings import SETTINGS, Settings, label


def pin_button(settings: Settings) -> None:
    """Pin what is on the screen, or take the pin away."""
    if settings.pin:
        label, icon = "Unpin", ":material/keep_off:"
    else:
        label, icon = "Pin and compare", ":material/keep:"
    st.button(
        label,
        key="pin",
        icon=icon,
        on_click=_pin,
        help="Keep these settings, then change something: each lesson shows what it changes.",
    )


def _pin() -> None:
    settings = session.current()
    session.change(pin="" if settings.pin else to_pin(settings))


def share(settings: Settings) -> None:
    """The link to this page, with a button to copy it, and a panel for teachers."""
    if st.button("Share", icon=":material/link:", key="share"):
        _panel(settings)


@st.dialog("Share what you see", width="medium")
def _panel(settings: Settings) -> None:
    st.markdown("This link shows what you see, on a page of its own.")
    st.code(_link(to_query(settings)), language=None, wrap_lines=True)
    st.markdown("**For a class.** Leave controls out, or let them be seen and not changed.")
    names = [name for name, each in SETTINGS.items() if each.label]
    hidden, locked = (
        st.multiselect(title, names, format_func=label, key=f"share_{key}")
        for title, key in (("Hide", "hide"), ("Lock", "lock"))
    )
    embedded = st.toggle("Without Streamlit's frame, for a course page", key="share_embed")
    extra = {"hide": ",".join(hidden), "lock": ",".join(locked)}
    if embedded:
        extra["embed"] = "true"
    query = to_query(settings) | {name: value for name, value in extra.items() if value}
    st.code(_link(query), language=None, wrap_lines=True)


def _link(query: dict[str, str]) -> str:
    """The address of this page with these parameters."""
    address = (st.context.url or "").split("?")[0]
    return address + ("?" + urlencode(query) if query else "")
