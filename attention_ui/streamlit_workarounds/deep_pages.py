"""Works around Streamlit: tells a page with a path of its own, such as /causal_mask, where the
server is, and gives every page its style and its letters at once.

Streamlit's browser code first looks for the server below the page's own address, gets a 404, and
logs it as an error. With `BACKEND_BASE_URL` set it looks in the right place at once; a Streamlit
that does not know this setting looks as before. Our style comes late from within a page: by then
its first words stand elsewhere, and they jump.

A link to the home page has no path of its own: opened in another tab, it led to the page it stands
on. And a link's parameters may be older than the last move: Streamlit's browser made a step of
history of them, and another one of what the page then wrote, so that Back was needed twice.

What two parts of a page have to say at once is one message to Streamlit, and what it puts off is
lost where a page is left meanwhile.
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
