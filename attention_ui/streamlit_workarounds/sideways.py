"""What is wider than its place scrolls, by keyboard too, for which Streamlit gives no way."""

from .unseen_component import text_of, unseen

WIDER = "[data-testid=stVegaLiteChart], [data-testid=stMarkdownContainer] table, "
WIDER += ".katex-display, .stCode pre"
"""What may be wider than its place, as a selector."""
_wider = unseen("sideways", text_of("sideways.js").replace("WIDER", WIDER))
_cells = unseen("cells")


def reach_by_keyboard() -> None:
    """Place the watchers for this and for the cells of pictures, which show nothing."""
    _wider(key="sideways")
    _cells(key="cells")
