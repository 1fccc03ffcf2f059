"""The web server around the pages, by `st.App` in app.py, which `streamlit run` finds."""

import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Timer

import streamlit as st
from starlette.routing import Route

from ..streamlit_workarounds.deep_pages import deep_pages
from .class_links import class_links
from .contents import LESSONS
from .of_the_system import pack_with_less_effort, raise_open_files, search_seldom, send_at_once


def routes() -> list[Route]:
    """One route for each page, and those of classes."""
    return class_links() + deep_pages(["", *(lesson.name for lesson in LESSONS)])


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Set the process up to serve, and open a browser where Streamlit would."""
    raise_open_files()
    send_at_once()
    pack_with_less_effort()
    search_seldom()
    if not st.get_option("server.headless"):
        host = st.get_option("server.address") or "localhost"
        path = (st.get_option("server.baseUrlPath") or "").strip("/")
        Timer(0.5, open_browser, [f"http://{host}:{st.get_option('server.port')}/{path}"]).start()
    yield


def open_browser(address: str) -> None:
    """Open a browser; say the address where there is none."""
    if not webbrowser.open(address):
        print(f"No browser could be opened. The app is at {address}", flush=True)
