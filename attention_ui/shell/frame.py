"""The frame of every page: configuration, contents, shared controls, notices, previous and next.

Needs no torch, so the home page can be on the screen before torch is loaded.
"""

import gc
import sys
import threading
from base64 import b64encode
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from itertools import groupby
from pathlib import Path

import streamlit as st

from attention_core.examples import EXAMPLES
from attention_core.small_models.grammar import LONGEST, WORDS

from ..settings import session
from ..settings.control import control, control_row
from ..settings.fit import drawn_instead
from ..settings.settings import Settings
from ..streamlit_workarounds.left_pages import run_no_part_of_a_page_that_was_left
from ..streamlit_workarounds.parts_alone import named_part
from ..streamlit_workarounds.projector import LARGE, listen_for_arrow_keys
from ..streamlit_workarounds.reconnect import run_again_when_back
from ..streamlit_workarounds.sideways import reach_by_keyboard
from ..streamlit_workarounds.style import ALONE, STYLE
from ..streamlit_workarounds.unreadable_messages import leave_out_what_cannot_be_read
from .contents import AT_A_GLANCE, CUTTING, FIRST_CHECKED, HOME, LESSONS, Lesson, lesson
from .descriptors import raise_open_files
from .glossary import title_and_glossary
from .memory import give_large_blocks_back
from .share import pin_button, share
from .tasks import show_tasks

leave_out_what_cannot_be_read()
run_no_part_of_a_page_that_was_left()
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
    warm_up()
    here = lesson(name)
    settings = session.load(name)
    st.set_page_config(
        page_title=here.title if here is HOME else f"{here.title} · {HOME.title}",
        page_icon=ICON,
        layout="wide",
        initial_sidebar_state="collapsed" if settings.large else "auto",
    )
    st.html(STYLE)
    if settings.only:
        st.html(ALONE)
    if settings.large:
        st.html(LARGE)
        listen_for_arrow_keys()
    with st.sidebar, st.container(gap="xsmall"):
        title_and_glossary(settings)
        _contents(name)
        _controls(name)
        run_again_when_back()
        reach_by_keyboard()
    session.save(name)
    return settings


def open_lesson(name: str) -> tuple[Settings, AbstractContextManager]:
    """Open a page that is a lesson: its title and its idea in one sentence. Returns the settings,
    and the place beside the title. Of a picture that stands alone there is neither.
    """
    settings = open_page(name)
    if settings.only:
        show_notices()
        return settings, st.container()
    here = lesson(name)
    with st.container(
        key="title_row",
        horizontal=True,
        horizontal_alignment="distribute",
        vertical_alignment="center",
    ):
        st.title(here.title, anchor=False, width="content")
        beside_title = st.container(width="content", key="outline")
    show_notices()
    show_tasks(settings)
    st.markdown(f"{here.idea} {takes(here)}".strip(), width=LINE)
    return settings, beside_title


def show_outline(headings: Sequence[tuple[str, str]]) -> None:
    """A button that opens the headings of the page, words and anchor, as links."""
    with st.popover("On this page", icon=":material/toc:", type="tertiary", key="toc"):
        st.markdown("\n".join(f"- [{words}](#{anchor})" for words, anchor in headings))


def takes(here: Lesson) -> str:
    """How long a lesson takes and what comes before it, as far as it says so."""
    time = [f"About {here.minutes} minutes."] if here.minutes else []
    before = [f"Comes after *{lesson(here.after).title}*."] if here.after else []
    words = " ".join(time + before)
    return f":gray[:small[{words}]]" if words else ""


def close_lesson(name: str) -> None:
    """The links to the lessons before and after this one."""
    if "contents" in session.current().hide:
        return
    pages = (HOME, *LESSONS)
    at = pages.index(lesson(name))
    st.divider()
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        query = session.link_query("way")
        _link(pages[at - 1], query, f"Previous: {pages[at - 1].title}", ":material/arrow_back:")
        is_done = name in session.current().done
        st.button(
            "Done (undo)" if is_done else "Mark as done",
            key="mark_done",
            type="tertiary",
            icon=":material/check_circle:" if is_done else ":material/radio_button_unchecked:",
            on_click=_mark,
            args=(name,),
        )
        if at + 1 < len(pages):
            following = pages[at + 1]
            _link(following, query, f"Next: {following.title}", ":material/arrow_forward:", "right")


def _mark(name: str) -> None:
    """Mark a lesson as done, or take that back."""
    session.change(done=tuple(sorted({*session.current().done} ^ {name})))


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
def _contents(name: str) -> None:
    """Our own contents; Streamlit's would show file names on a cold deep link. A part of its own,
    since the links carry the settings. The lessons beside this one stand open, other groups can be
    opened.
    """
    query = session.link_query("contents")
    if "contents" in session.current().hide:
        return
    here = lesson(name)
    opened = FIRST_CHECKED.group if here in (HOME, AT_A_GLANCE) else here.group
    with st.container(gap="xxsmall", key="contents"):
        _link(HOME, query, "Home")
        for group, pages in groupby(LESSONS, lambda page: page.group):
            # The first group is said by its place, below Home: room for the controls.
            is_first = group == AT_A_GLANCE.group
            fold = nullcontext() if is_first else st.expander(group, expanded=group == opened)
            with fold, st.container(gap="xxsmall"):
                for page in pages:
                    is_done = page.name in session.current().done
                    called = page.short or page.title
                    _link(page, query, f"{called} ✓" if is_done else called)


@named_part(session.CONTROLS)
def _controls(name: str) -> None:
    """The settings that all lessons share. A part of its own: for a control outside of all parts
    Streamlit begins to run the page before it asks what the control changes.
    """
    if session.wants_whole_page():
        st.rerun()
    session.save(name)
    settings = session.current()
    with st.container(gap="xxsmall"):
        control("example")
        if settings.has_own_text and "example" not in settings.hide:
            st.caption("The text is your own. What you have not changed is this example's.")
        control("sentence")
        if EXAMPLES[settings.example].is_trained:
            st.caption(
                f"This network knows {len(WORDS) - 1} words, and reads up to {LONGEST - 1} at a "
                "time."
            )
        first = lesson(name).first
        for each in first:
            control(each)
        _seed(settings)
        control("d_in")
        if drawn := drawn_instead(settings):
            st.text(drawn)  # plain: it quotes the person
        if settings.positions:
            st.caption("Positions are on: each place adds a vector of its own to the embeddings.")
        with st.container(horizontal=True, gap="xsmall"):
            if "pin" not in settings.hide:
                pin_button(settings)
            if "share" not in settings.hide:
                share(settings)
        _back(name)
        control("predict")
        for each in CUTTING:
            if each not in first:
                control(each)
        control("large")


def _seed(settings: Settings) -> None:
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


@named_part(session.BACK)
def _back(name: str) -> None:
    """A button that is there when it would change something."""
    if session.wants_whole_page():
        st.rerun()
    session.save(name)
    if session.is_changed():
        st.button("Back to the example", on_click=session.reset, icon=":material/undo:")


def warm_up() -> None:
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
