"""The same matrices as a page of Plotly heatmaps in Streamlit, side by side with ours."""

import statistics
import tempfile
from importlib.util import find_spec
from pathlib import Path

from serving import start_server

from . import HERE
from .figures import Figure, Part
from .moves import move
from .watching import Watched, new_page

LESSON = "simplified_attention?predict=off&cell=none"
# From the pointer's event to the last change that it makes: an outline, a tooltip.
CLOCK = """() => {
  const clock = window.pointing = { began: 0, changed: 0 };
  for (const first of ['pointerover', 'pointermove', 'mousemove']) addEventListener(first, () => {
    const now = performance.now();
    if (now - clock.began > 100) clock.began = now;
  }, true);
  new MutationObserver(() => { clock.changed = performance.now(); }).observe(document.body,
    { subtree: true, childList: true, attributes: true, characterData: true });
}"""


def beside_plotly(browser, app, empty, quick: bool) -> list[Part]:
    """A slider and the pointer, on our page and on Plotly's, one after the other."""
    if find_spec("plotly") is None:
        raise SystemExit("The part plotly needs Plotly: pip install plotly")
    with tempfile.TemporaryDirectory() as folder:
        other = start_server(Path(folder) / "plotly.txt", HERE / "plotly_page")
        try:
            return _measured(browser, app, empty, other, 3 if quick else 8)
        finally:
            other.stop()


def _measured(browser, app, empty, other, moves: int) -> list[Part]:
    beside = new_page(browser)
    beside.open(empty.url)
    beside.page.locator("input").first.focus()
    figures = []
    pages = {
        "Attention Explorer, simplified attention": (
            f"{app.url}/{LESSON}",
            "g[class*=cells_] path",
        ),
        "Plotly, four heatmaps": (other.url, ".nsewdrag"),
    }
    for what, (address, cells) in pages.items():
        watched = new_page(browser)
        watched.open(address)
        reference = statistics.median(beside.press("ArrowRight").seen for _ in range(4))
        slider = statistics.median(one.seen for one in move(watched, "control_d_in", moves))
        pointer = statistics.median(_point(watched, cells, moves))
        figures.append(
            Figure(
                what,
                {
                    "slider": slider,
                    "slider × empty": slider / reference,
                    "pointer": pointer,
                    "pointer × empty": pointer / reference,
                },
                {},
            )
        )
        print(f"  {what}: slider {slider:.0f}, pointer {pointer:.0f}", flush=True)
        watched.page.context.close()
    beside.page.context.close()
    how = (
        "The width of the vectors by one, and the pointer from cell to cell, until the last change "
        "in sight. Plotly's page has four heatmaps and nothing else (benchmarks/plotly_page); it "
        "shows a cell's number, ours also what it is made of. BertViz loads its parts from the "
        "network while it runs, and could not be measured here."
    )
    return [Part("Beside Plotly", how, figures)]


def _point(watched: Watched, cells: str, moves: int) -> list[float]:
    page = watched.page
    box = page.locator(cells).first.bounding_box()
    page.evaluate(CLOCK)
    times = []
    for number in range(moves + 1):
        page.mouse.move(box["x"] + 12 + 29 * (number % 3), box["y"] + 10)
        page.wait_for_timeout(400)
        if number:
            times.append(page.evaluate("pointing.changed - pointing.began"))
    return times
