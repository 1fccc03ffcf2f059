"""What is on the screen as a link: to share, to pin, and for a teacher to prepare."""

import streamlit as st

from ..controls import held
from ..settings.choices import MAX_TASKS, SECTIONS
from ..settings.settings import FIELDS, SETTINGS, Settings, label
from .address import address_of


def share(settings: Settings) -> None:
    """The link to this page, with a button to copy it, and a panel for teachers."""
    if st.button("Share", key="share"):
        _panel(settings)


@st.dialog("Share what you see", width="medium")
def _panel(settings: Settings) -> None:
    st.markdown("This link shows what you see, on a page of its own.")
    seen = held.shared()
    st.code(address_of(seen), language=None, wrap_lines=True)
    st.markdown("**For a class.** Leave things out, or let controls be seen and not changed.")
    names = [name for name, each in SETTINGS.items() if each.label]
    hidden = st.multiselect("Hide", [*SECTIONS, *names], format_func=_called, key="share_hide")
    locked = st.multiselect("Lock", names, format_func=label, key="share_lock")
    embedded = st.toggle("Without Streamlit's frame, for a course page", key="share_embed")
    extra = {"hide": ",".join(hidden), "lock": ",".join(locked), "tasks": _tasks(settings)}
    if embedded:
        extra["embed"] = "true"
    query = seen | {name: value for name, value in extra.items() if value}
    st.code(address_of(query), language=None, wrap_lines=True)
    pictures = st.session_state[held.SHOWN]
    if pictures:
        st.markdown("**One picture alone**, live, for a page of your own.")
        only = st.selectbox("Picture", pictures, format_func=_in_words, key="share_only")
        alone = {"only": only, "cell": "none", "predict": "off", "embed": "true"}
        frame = f'<iframe src="{address_of(seen | alone)}" width="100%" height="600">'
        st.code(f"{frame}</iframe>", language="html", wrap_lines=True)


def _tasks(settings: Settings) -> str:
    """The tasks that a teacher has typed, as a link has them."""
    typed = st.text_area(
        "Tasks, one per line",
        value=FIELDS["tasks"].write(settings.tasks),
        key="share_tasks",
        placeholder="Causal mask: why does row 0 have a weight of 1?",
        help="They stand on every page, in this order, each with room for an answer, and all "
        "answers can be handed in as a file. A lesson’s title and a colon at the beginning become "
        f"a link to it. At most {MAX_TASKS}.",
    )
    try:
        return FIELDS["tasks"].write(FIELDS["tasks"].read(typed))
    except ValueError as error:
        st.text(f"Tasks: {error}.")
        return ""


def _called(name: str) -> str:
    return SECTIONS.get(name) or label(name)


def _in_words(name: str) -> str:
    return name.replace("_", " ")
