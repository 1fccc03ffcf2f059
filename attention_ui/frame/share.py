"""What is on the screen as a link: to share, to pin, and for a teacher to prepare."""

import streamlit as st

from ..controls import session
from ..controls.lesson_session import this_session
from ..controls.shared import MAX_TASKS, TASKS
from ..reactive import settings
from . import hand_out
from .address import address_of
from .class_share import MadeClass, make_class
from .contents import SECTIONS


def share() -> None:
    """The link to this page, with a button to copy it, and a panel for teachers."""
    if st.button("Share", key="share"):
        this_session().renew(MadeClass())
        _panel()


@st.dialog("Share what you see", width="medium")
def _panel() -> None:
    st.markdown("This link shows what you see, on a page of its own.")
    seen = session.shared()
    st.code(address_of(seen), language=None, wrap_lines=True)
    st.markdown(
        "**A link that shows less.** Hide parts of the page, or lock controls: they can be seen, "
        "and not changed."
    )
    here = {each.name: each.label for each in this_session().controls if each.label}
    labels = [*here.values()]
    called = {
        name: f"{label} ({_in_words(name)})" if labels.count(label) > 1 else label
        for name, label in here.items()
        if name not in SECTIONS
    }
    either = SECTIONS | called
    hidden = st.multiselect("Hide", [*either], format_func=either.get, key="share_hide")
    locked = st.multiselect("Lock", [*called], format_func=called.get, key="share_lock")
    embedded = st.toggle("Without Streamlit's frame, for a course page", key="share_embed")
    extra = {"tasks": _tasks()}
    for name, more in (("hide", hidden), ("lock", locked)):
        extra[name] = ",".join(dict.fromkeys([*session.names_in(name), *more]))
    if embedded:
        extra["embed"] = "true"
    query = seen | {name: value for name, value in extra.items() if value}
    st.code(address_of(query), language=None, wrap_lines=True)
    make_class()
    st.markdown(
        "**On paper.** A hand-out of this page: no controls, its questions with room to write, and "
        "their answers on the last sheet."
    )
    on_paper = query | hand_out.ADDRESS
    st.link_button("Open the hand-out", address_of(on_paper), icon=":material/print:")
    # The panel is drawn as a part of the page that stands, or before the page's cards.
    pictures = [*this_session().cards] or this_session().cards_before
    if pictures:
        st.markdown("**One picture alone**, live, for a page of your own.")
        card = st.selectbox("Picture", pictures, format_func=_in_words, key="share_card")
        alone = {"card": card, "cell": "none", "predict": "off", "embed": "true"}
        frame = (
            f'<iframe src="{address_of(seen | alone)}" title="Attention: {_in_words(card)}" '
            'width="100%" height="760" style="border:0" loading="lazy"></iframe>'
        )
        st.code(frame, language="html", wrap_lines=True)


def _tasks() -> str:
    typed = st.text_area(
        "Tasks, one per line",
        value=TASKS.field.write(settings.values().tasks),
        key="share_tasks",
        placeholder="Causal mask: why does row 0 have a weight of 1?",
        help="They stand on every page, in this order, each with room for an answer, and all "
        "answers can be handed in as a file. A lesson’s title and a colon at the beginning become "
        f"a link to it. At most {MAX_TASKS}.",
    )
    try:
        return TASKS.field.write(TASKS.field.read(typed))
    except ValueError as error:
        st.text(f"Tasks: {error}.")
        return ""


def _in_words(name: str) -> str:
    return name.replace("_", " ")
