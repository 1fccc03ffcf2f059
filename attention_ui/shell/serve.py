"""The web server around the pages: what is done when it starts, and how a deep page is sent.

Used by `st.App` in app.py, which `streamlit run` finds by itself.
"""

import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Timer

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from .contents import LESSONS
from .descriptors import raise_open_files

# Streamlit's browser looks for the server below a deep page's own address first, and logs the 404
# that it is told as an error. Where this is set, it looks there; a Streamlit that does not know it
# looks as before. Relative, as all addresses of Streamlit's index.html: a proxy may add a prefix.
_BASE = "<script>window.__streamlit = { BACKEND_BASE_URL: new URL('.', location).href };</script>"
_INDEX = Path(st.__file__).parent / "static" / "index.html"


def _deep_page(_: Request) -> HTMLResponse:
    text = _INDEX.read_text(encoding="utf-8")
    return HTMLResponse(
        text.replace("<head>", "<head>" + _BASE, 1), headers={"Cache-Control": "no-cache"}
    )


def routes() -> list[Route]:
    """One route for each lesson."""
    return [Route(f"/{lesson.name}", _deep_page) for lesson in LESSONS] if _INDEX.exists() else []


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Raise the limit of open files, and open a browser where Streamlit would."""
    raise_open_files()
    if not st.get_option("server.headless"):
        host = st.get_option("server.address") or "localhost"
        path = (st.get_option("server.baseUrlPath") or "").strip("/")
        address = f"http://{host}:{st.get_option('server.port')}/{path}"
        Timer(0.5, webbrowser.open, [address]).start()
    yield
