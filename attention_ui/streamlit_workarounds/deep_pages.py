"""Works around Streamlit, by public ways and its files: a page with a path of its own, such as
/causal_mask, looks for the server below it first, and logs an error; with `BACKEND_BASE_URL` it
looks in the right place. Our style comes at once, or first words jump; Streamlit's code for
pictures and controls comes while the server draws, and not when it names the first of them. A link
to the home page gets a path, or another tab opened the page it stands on; a link's parameters are
no step of the history of their own, or Back was needed twice; and what a page still has to say is
sent before it is left. See docs/streamlit/deep_page.py and tests/test_streamlit_contract.py.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import streamlit as st
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

USED = [
    *("ArrowVegaLiteChart", "BidiComponent", "Button", "ButtonGroup", "Checkbox", "Html"),
    *("NumberInput", "PageLink", "Selectbox", "Slider", "TextArea", "TextInput"),
]
"""What the pages have of Streamlit's elements that are files of their own."""


def code_of(*elements: str) -> list[str]:
    """Streamlit's files for these elements, with all that they import."""
    folder = INDEX.parent / "static/js"
    waiting = [path.name for each in elements for path in folder.glob(f"{each}.*.js")]
    found: dict[str, None] = {}
    while waiting:
        if (each := waiting.pop()) not in found and (folder / each).exists():
            found[each] = None
            text = (folder / each).read_text(encoding="utf-8")
            waiting += re.findall(r'(?:from|import)"\./([^"/]+)"', text)
    return [*found]


def deep_pages(names: Iterable[str]) -> list[Route]:
    """One route for each page; none where Streamlit's own index.html is not where it was."""
    new = {"Cache-Control": "no-cache"}
    there = names if INDEX.exists() else ()
    return [Route(f"/{name}", lambda _: HTMLResponse(_page(), headers=new)) for name in there]


@lru_cache
def _page() -> str:
    text = INDEX.read_text(encoding="utf-8")
    code = "".join(
        f'<link rel="modulepreload" crossorigin href="./static/js/{each}">'
        for each in code_of(*USED)
        if each not in text
    )
    ours = f"<template>{code}</template>{_SCRIPT}{SLANTED}{EARLY}"
    return text.replace("<head>", f"<head>{ours}", 1)
