"""What is wider than its place scrolls, by keyboard too, for which Streamlit gives no way. On a
page for the wall of a room, the arrow keys go from card to card.
"""

from .unseen_component import text_of, unseen

WIDER = "[data-testid=stVegaLiteChart], [data-testid=stMarkdownContainer] table, "
WIDER += ".katex-display, .stCode pre"
"""What may be wider than its place, as a selector."""
_wider = unseen("sideways", text_of("sideways.js").replace("WIDER", WIDER))
_cells = unseen("cells")
_turner = unseen("projector", text_of("projector.js").replace("WIDER", WIDER))


def reach_by_keyboard() -> None:
    """Place the watchers for this and for the cells of pictures, which show nothing."""
    _wider(key="sideways")
    _cells(key="cells")


def listen_for_arrow_keys() -> None:
    """Let the keys ← and → go to the heading before and after, of a page for a wall."""
    _turner(key="turner")
