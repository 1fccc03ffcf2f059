"""A mend for Streamlit: a deep page is told where its server is.

Streamlit's browser looks for the server below a deep page's own address first, and logs the 404
that it is told as an error. Where this is set, it looks there; a Streamlit that does not know it
looks as before.
"""

from collections.abc import Iterable
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

# Relative, as all addresses of Streamlit's index.html: a proxy may add a prefix.
_BASE = "<script>window.__streamlit = { BACKEND_BASE_URL: new URL('.', location).href };</script>"
INDEX = Path(st.__file__).parent / "static" / "index.html"


def deep_pages(names: Iterable[str]) -> list[Route]:
    """One route for each page; none where Streamlit's own index.html is not where it was."""
    return [Route(f"/{name}", _deep_page) for name in names] if INDEX.exists() else []


def _deep_page(_: Request) -> HTMLResponse:
    text = INDEX.read_text(encoding="utf-8")
    return HTMLResponse(
        text.replace("<head>", "<head>" + _BASE, 1), headers={"Cache-Control": "no-cache"}
    )
