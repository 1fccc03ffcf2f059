"""What is wider than its place scrolls, and so does code that is higher, and not by pointer alone:
the keyboard reaches it too.

Streamlit gives such a place no `tabindex`, and some browsers then pass it by.
"""

from .unseen_component import text_of, unseen

WIDER = "[data-testid=stVegaLiteChart], [data-testid=stMarkdownContainer] table, "
WIDER += ".katex-display, .stCode pre"
"""What may be wider than its place, as a selector."""
_component = unseen("sideways", text_of("sideways.js").replace("WIDER", WIDER))


def reach_by_keyboard() -> None:
    """Place the watcher for this, which shows nothing."""
    _component(key="sideways")
