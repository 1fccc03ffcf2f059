"""What every page has around it, and what a process does once. Needs no torch."""

import gc
import threading
from base64 import b64encode
from importlib import import_module
from pathlib import Path

import streamlit as st

from ..reactive import settings
from ..reactive.with_streamlit import mend_streamlit
from ..streamlit_workarounds.message_batching import send_together
from ..streamlit_workarounds.run_queue import run_in_turns
from .contents import Lesson, lesson
from .of_the_system import give_large_blocks_back, raise_open_files, search_seldom

mend_streamlit()
run_in_turns()
send_together()
SPREAD = {"horizontal": True, "horizontal_alignment": "distribute", "vertical_alignment": "center"}
"""How what stands at both ends of a line is laid out."""
LINE = 760
"""Pixels that a line of words is wide at most: longer ones are hard to read."""
# A file of our own: Streamlit's icons by name are fetched from the network for a browser's tab.
# Within the page: a file that Streamlit serves is gone after a run of parts alone.
_PICTURE = Path(__file__).with_name("icon.png").read_bytes()
ICON = "data:image/png;base64," + b64encode(_PICTURE).decode()
_LOADING, _LOADED = threading.Lock(), []
PAUSE = 1.0
"""Seconds that the first page has for itself before torch is loaded."""


def takes(here: Lesson) -> str:
    """How long a lesson takes and what comes before it, as far as it says so."""
    time = [f"About {here.minutes} minutes."] if here.minutes else []
    before = [f"Comes after *{lesson(here.after).title}*."] if here.after else []
    words = " ".join(time + before)
    return f":gray[:small[{words}]]" if words else ""


def show_notices(drawn: str | None = None) -> None:
    """What could not be used, and what is drawn instead. Plain text: it may quote the person."""
    notices = [*settings.notices(), *filter(None, [drawn])]
    # Always there: else the browser would build all that is below it anew.
    with st.container():
        if notices:
            with st.container(border=True, key="notices"):
                for notice in notices:
                    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
                        st.markdown(":orange[:material/info:]", width="content")
                        st.text(notice, width="stretch")


def warm_up() -> None:
    """Once a process: what a server needs of the system; torch and charts in the background."""
    with _LOADING:
        if not _LOADED:
            _LOADED.append(True)
            raise_open_files()  # for a host that does not start the server by serve.py
            search_seldom()
            give_large_blocks_back()
            timer = threading.Timer(PAUSE, _load)
            timer.daemon = True
            timer.start()


def _load() -> None:
    for name in ("torch", "altair", "attention_core.trace"):
        import_module(name)
    # A collection that searches all that torch brings takes 170 ms; what is frozen is not searched.
    gc.collect()
    gc.freeze()
