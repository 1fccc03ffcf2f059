"""The frame of every page: configuration, contents, shared controls, notices, previous and next.

Needs no torch, so the home page can be on the screen before torch is loaded.
"""

import gc
import sys
import threading
from base64 import b64encode
from importlib import import_module
from pathlib import Path

import streamlit as st

from ..settings import session
from ..settings.control import control, control_row
from ..settings.fit import drawn_instead
from ..settings.settings import Settings
from ..streamlit_workarounds.parts_alone import named_part
from ..streamlit_workarounds.reconnect import run_again_when_back
from ..streamlit_workarounds.style import STYLE
from ..streamlit_workarounds.unreadable_messages import leave_out_what_cannot_be_read
from .contents import HOME, LESSONS, Lesson, lesson
from .descriptors import raise_open_files
from .glossary import title_and_glossary
from .memory import give_large_blocks_back
from .share import pin_button, share

leave_out_what_cannot_be_read()
LINE = 760
"""Pixels that a line of words is wide at most: longer ones are hard to read."""
# A file of our own: Streamlit's icons by name are fetched from the network for a browser's tab.
# Within the page: a file that Streamlit serves is gone after a run of parts alone.
_PICTURE = Path(__file__).resolve().parents[2] / "docs" / "icon.png"
ICON = "data:image/png;base64," + b64encode(_PICTURE.read_bytes()).decode()
_LOADING, _LOADED = threading.Lock(), []
PAUSE = 1.0
"""Seconds that the first page has for itself before torch is loaded."""


def open_page(name: str) -> Settings:
    """The first call of every page. Returns the settings that the page is to show."""
    _warm_up()
    here = lesson(name)
    st.set_page_config(
        page_title=here.title if here is HOME else f"{here.title} · {HOME.title}",
        page_icon=ICON,
        layout="wide",
    )
    settings = session.load(name)
    st.html(STYLE)
    with st.sidebar:
        title_and_glossary()
        _contents()
        st.divider()
        _controls(name)
        run_again_when_back()
    session.save(name)
    return settings


def open_lesson(name: str) -> Settings:
    """Open a page that is a lesson: its title and its idea in one sentence."""
    settings = open_page(name)
    here = lesson(name)
    st.title(here.title, anchor=False)
    show_notices()
    st.markdown(here.idea, width=LINE)
    if words := takes(here):
        st.caption(words)
    return settings


def takes(here: Lesson) -> str:
    """How long a lesson takes and what comes before it, as far as it says so."""
    time = [f"About {here.minutes} minutes."] if here.minutes else []
    before = [f"Comes after *{lesson(here.after).title}*."] if here.after else []
    return " ".join(time + before)


def close_lesson(name: str) -> None:
    """The links to the lessons before and after this one."""
    pages = (HOME, *LESSONS)
    at = pages.index(lesson(name))
    st.divider()
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        query = session.link_query("way")
        _link(pages[at - 1], query, f"Previous: {pages[at - 1].title}", ":material/arrow_back:")
        if at + 1 < len(pages):
            following = pages[at + 1]
            _link(following, query, f"Next: {following.title}", ":material/arrow_forward:", "right")


def show_notices() -> None:
    """What could not be used of a link or a control. Plain text: it may quote the person."""
    notices = st.session_state[session.NOTICES]
    if not notices:
        return
    with st.container(border=True, key="notices"):
        for notice in notices:
            with st.container(horizontal=True, vertical_alignment="center", wrap=False):
                st.markdown(":orange[:material/info:]", width="content")
                st.text(notice, width="stretch")


def _link(
    page: Lesson,
    query: dict[str, str],
    label: str | None = None,
    icon: str | None = None,
    icon_position: str = "left",
) -> None:
    st.page_link(
        page.page,
        label=label or page.title,
        icon=icon or page.icon,
        icon_position=icon_position,
        query_params=query,
    )


@named_part(session.CONTENTS)
def _contents() -> None:
    """Our own contents; Streamlit's would show file names on a cold deep link. A part of its own,
    since the links carry the settings.
    """
    query = session.link_query("contents")
    _link(HOME, query, "Home")
    group = ""
    for page in LESSONS:
        if page.group != group:
            st.caption(page.group)
            group = page.group
        _link(page, query)


@named_part(session.CONTROLS)
def _controls(name: str) -> None:
    """The settings that all lessons share. A part of its own: for a control outside of all parts
    Streamlit begins to run the page before it asks what the control changes.
    """
    if session.wants_whole_page():
        st.rerun()
    session.save(name)
    settings = session.current()
    control("example")
    if settings.has_own_text and "example" not in settings.hide:
        st.caption("The text is your own. What you have not changed is this example's.")
    control("sentence")
    control("tokenizer")
    with control_row(wrap=False, gap="small"):
        control("seed")
        if "seed" not in settings.hide + settings.lock:
            st.button(
                "Next",
                key="next_seed",
                on_click=session.next_seed,
                args=("seed",),
                help="The seed after this one: other random numbers.",
            )
    control("d_in")
    control("drop_blanks")
    if drawn := drawn_instead(settings):
        st.text(drawn)  # plain: it quotes the person
    control("predict")
    st.divider()
    _back()
    pin_button(settings)
    share(settings)


@named_part(session.BACK)
def _back() -> None:
    """A button that is there when it would change something."""
    if session.wants_whole_page():
        st.rerun()
    if session.is_changed():
        st.button("Back to the example", on_click=session.reset, icon=":material/undo:")


def _warm_up() -> None:
    """What is done once a process: ask the system for what a server needs, and load torch and the
    charts in the background, while the person reads.

    Not at once: the import would compete with the page that is being sent.
    """
    with _LOADING:
        if not _LOADED:
            _LOADED.append(True)
            raise_open_files()  # for a host that does not start the server by serve.py
            give_large_blocks_back()
            pause = 0.0 if "torch" in sys.modules else PAUSE
            timer = threading.Timer(pause, _load)
            timer.daemon = True
            timer.start()


def _load() -> None:
    import_module("attention_ui.page.equation")
    # A collection that searches all that torch brings takes 170 ms; what is frozen is not searched.
    gc.collect()
    gc.freeze()
