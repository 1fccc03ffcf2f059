"""The style of every page, in files beside this one: ours and constant, only for looks."""

from .sideways import WIDER
from .unseen_component import text_of

SIDEBAR_WIDTH = 264
_TOGGLES = "predict large drop_blanks causal causal_heads bias positions t_scaled qk_norm gated"
TOGGLES = f":is({', '.join(f'.st-key-control_{name}' for name in _TOGGLES.split())})"
"""The controls whose bar is no lower than the widget."""
_LINES = ", ".join(
    f"linear-gradient(#8a8a8a, #8a8a8a) 0 {at * 2.2:.1f}rem / 100% 1px no-repeat"
    for at in range(1, 24)
)
_MEANS = {
    "WITHOUT_CONTROLS": text_of("without_controls.css"),
    "SIDEBAR_WIDTH": str(SIDEBAR_WIDTH),
    "TOGGLES": TOGGLES,
    "WIDER": WIDER,
    "LINES_TO_WRITE_ON": _LINES,
}


def _style(name: str) -> str:
    text = text_of(f"{name}.css")
    for word, meant in _MEANS.items():
        text = text.replace(word, meant)
    return f"<style>\n{text}</style>"


STYLE, CARDS, ON_PAPER = _style("style"), _style("cards"), _style("on_paper")
"""Of every page: on the screen, of its cards and pictures, and how it prints."""
ROOM_OF_SIDEBAR = _style("room_of_sidebar")
"""Until the sidebar is there; else it would push the page aside."""
ALONE, LARGE = _style("alone"), _style("large")
"""Beside them, of a picture that stands alone, and of a page for the wall of a room."""
DARK_ON_PAPER = _style("dark_on_paper")
"""Beside `ON_PAPER`, of a page in the dark theme: paper is white. Pictures choose by the scheme;
one that is a canvas, and a chart that Streamlit gave its theme, have their colours turned."""
HAND_OUT = _style("hand_out")
"""Beside `ON_PAPER`, of a page that is a hand-out: on the screen it looks as it prints. Whether the
closing questions begin a sheet, no style can tell: so lines for notes go on below them, and where
they would come out again on the next sheet, the answers lie over them."""
