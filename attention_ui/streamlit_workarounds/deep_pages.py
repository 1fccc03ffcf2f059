"""Works around Streamlit: tells a page with a path of its own, such as /causal_mask, where the
server is.

Streamlit's browser code first looks for the server below the page's own address, gets a 404, and
logs it as an error. With `BACKEND_BASE_URL` set it looks in the right place at once; a Streamlit
that does not know this setting looks as before.
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
