"""A component that shows nothing, and tells the server what only the browser knows: by Streamlit's
public way, but that it ends what it began before it begins anew, else “it got slower the longer I
moved things” (docs/streamlit/component_does_not_end.py).
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException

NOT_THERE = (AttributeError, TypeError, StreamlitAPIException)
ENDS = """;
const ends = new WeakMap();
export default (given) => {
  ends.get(given.parentElement)?.();
  const end = begins(given);
  ends.set(given.parentElement, typeof end === 'function' ? end : undefined);
  return end;
};
"""
"""Streamlit 1.67's browser begins a component anew where its data or the theme have changed, and
ends the last one alone, once its place is gone: the others went on watching and telling.
"""


def text_of(name: str) -> str:
    """A script or style beside this module; a style has no `<`, or Streamlit drops it."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def unseen(name: str, js: str = "") -> Callable[..., None]:
    """A function that places the component with its script, `name.js` beside this module or
    another, which ends before it begins anew. Where Streamlit's components are not as expected,
    it does nothing, and the page works as with a browser that reports nothing.
    """
    place: Callable[..., Any] | None = None
    js = (js or text_of(f"{name}.js")).replace("export default", "const begins =") + ENDS
    with suppress(*NOT_THERE):
        place = st.components.v2.component(name, html="<span></span>", js=js)

    def put(**given: Any) -> None:
        if place is not None:
            with suppress(*NOT_THERE):
                place(**given)

    return put
