"""A page for the wall of a room: larger, and the arrow keys go from card to card."""

from .sideways import WIDER
from .unseen_component import text_of, unseen

_turner = unseen("projector", text_of("projector.js").replace("WIDER", WIDER))


def listen_for_arrow_keys() -> None:
    """Let the keys ← and → go to the heading before and after."""
    _turner(key="turner")
