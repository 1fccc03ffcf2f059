"""Works around Streamlit: a page with a path of its own, such as /causal_mask, looks for the server
below it first, and logs an error; with `BACKEND_BASE_URL` it looks in the right place. Our style
comes at once, or first words jump; a link to the home page gets a path, or another tab opened the
page it stands on; a link's parameters are no step of the history of their own, or Back was needed
twice; and what a page still has to say is sent before it is left.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from .style import CARDS, ROOM_OF_SIDEBAR, STYLE
from .unseen_component import text_of

_SCRIPT = f"<script>\n{text_of('deep_pages.js')}</script>"
# Streamlit's own style comes after it, so each rule has to be the stronger one.
EARLY = re.sub(r"^( *)(?=[\[.])", r"\1:root ", STYLE + CARDS + ROOM_OF_SIDEBAR, flags=re.MULTILINE)
INDEX = Path(st.__file__).parent / "static" / "index.html"
# Streamlit's page asks at once for its upright letters, and for the slanted ones when a word needs
# them: by then a paragraph has been broken with other letters, and would break anew.
SLANTED = "".join(
    f'<link rel="preload" href="./{path.relative_to(INDEX.parent).as_posix()}" as="font" '
    'type="font/woff2" crossorigin>'
    for path in INDEX.parent.rglob("SourceSans*Italic*.woff2")
)


def deep_pages(names: Iterable[str]) -> list[Route]:
    """One route for each page; none where Streamlit's own index.html is not where it was."""
    return [Route(f"/{name}", _deep_page) for name in names] if INDEX.exists() else []


def _deep_page(_: Request) -> HTMLResponse:
    text = INDEX.read_text(encoding="utf-8")
    return HTMLResponse(
        text.replace("<head>", "<head>" + _SCRIPT + SLANTED + EARLY, 1),
        headers={"Cache-Control": "no-cache"},
    )
