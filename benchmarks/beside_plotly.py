"""The same matrices as a page of Plotly heatmaps in Streamlit, side by side with ours."""

from functools import partial
from importlib.util import find_spec

from . import HERE
from .beside import point, side_by_side
from .figures import Part
from .lessons import move
from .process import server
from .watching import Watched

LESSON, TOOLTIP = "simplified_attention?predict=off&example=wild_cat", "#vg-tooltip-element"


def beside_plotly(browser, app, empty, quick: bool) -> list[Part]:
    """A slider and the pointer, on our page and on Plotly's, one after the other."""
    if find_spec("plotly") is None:
        raise SystemExit("The part plotly needs Plotly: pip install plotly")
    moves = 3 if quick else 8
    with server(HERE / "plotly_page") as other:
        ours = (f"{app.url}/{LESSON}", ".st-key-drawn_scores .cells_marks path", TOOLTIP)
        theirs = (other.url, ".nsewdrag", ".hoverlayer")
        pages = {
            "Attention Explorer, simplified attention": partial(_measure, *ours, moves),
            "Plotly, four heatmaps": partial(_measure, *theirs, moves),
        }
        figures = side_by_side(browser, empty, pages)
    how = (
        "*slider*: the width of the vectors by one, until the last change in sight. *number*: the "
        "pointer from cell to cell, until the tooltip has the cell's number. *pointer*: the same, "
        "until the last change of the page: Plotly's shows the number and nothing else, ours "
        "outlines what the cell is made of and dims the rest. Plotly's page has four heatmaps and "
        "nothing else (benchmarks/plotly_page)."
    )
    return [Part("Beside Plotly", how, figures)]


def _measure(
    address: str, cells: str, tooltip: str, moves: int, watched: Watched
) -> dict[str, list[float]]:
    watched.open(address)
    slider = [one.seen for one in move(watched, "st-key-control_d_in", moves)]
    box = watched.page.locator(cells).first.bounding_box()
    places = [(box["x"] + 12 + 29 * place, box["y"] + 10) for place in range(3)]
    number = point(watched, places, moves, within=tooltip)
    return {"slider": slider, "number": number, "pointer": point(watched, places, moves)}
