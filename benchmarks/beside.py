"""Another tool's picture of the same numbers beside ours: a slider against Plotly's heatmaps, the
pointer on a token against BertViz's head view.
"""

import statistics
import tempfile
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path

from attention_ui.controls.control import understood
from attention_ui.lessons.whole_layer.lesson import CONTROLS, trace_of
from attention_ui.picture.matrix import names_of

from . import HERE
from .figures import Figure, Part, tried
from .watching import Stage, Watched, new_page, server, stage

LINK = "example=wild_cat&predict=off"
MODULES = HERE.parent / "node_modules"
SCRIPTS = {
    "require.min.js": "requirejs/require.js",
    "d3.min.js": "d3/dist/d3.min.js",
    "jquery.min.js": "jquery/dist/jquery.min.js",
}
"""What BertViz's page loads from the network, unless npm has put it into `MODULES`."""
# To the clock and to what waits until a page is still, BertViz's view is a Streamlit page at rest.
PAGE = """<!doctype html><meta charset="utf-8">
<body data-testid="stApp" data-test-connection-state="CONNECTED" data-test-script-state="notRunning"
><section data-testid="stMain"><main data-testid="stMainBlockContainer"><h1>BertViz</h1>{}</main>
</section></body>"""
TOKENS = """() => {
  const theirs = [...document.querySelectorAll('#left .background')];
  const ours = [...document.querySelectorAll('[class*=st-key-drawn_]')]
    .map((drawn) => [...drawn.querySelectorAll('svg .cells_marks path')]
      .filter(({ __data__ }) => __data__?.datum.look === 'token box'))
    .find((found) => found.length);
  const found = ours ?? theirs;
  found[0].scrollIntoView({ block: 'center' });
  return found.map((one) => one.getBoundingClientRect())
    .map(({ x, y, width, height }) => [x + width / 2, y + height / 2]);
}"""


def _beside(on: Stage, what: str, measure: Callable[[Watched], Iterable[float]]) -> list[Figure]:
    """One page: the median of what is timed on it, and its ratio to the empty page."""
    empty, watched = on.empty.now(), new_page(on.browser)
    with tried(what) as rows:
        took = statistics.median(measure(watched))
        rows.append(Figure(what, {"median": took, "empty": empty, "× empty": took / empty}))
    watched.close()
    return rows


def plotly(quick: bool) -> list[Part]:
    """A slider on our page and on Plotly's, one after the other."""
    if find_spec("plotly") is None:
        raise SystemExit("The part plotly needs Plotly: pip install plotly")

    def slider(address: str, watched: Watched) -> list[float]:
        watched.open(address)
        return [one.seen for one in watched.move("st-key-control_d_in", 3 if quick else 8)]

    with stage() as on, server(HERE / "plotly_page") as other:
        pages = {
            "Attention Explorer, simplified attention": f"{on.app.url}/simplified_attention?{LINK}",
            "Plotly, four heatmaps": other.url,
        }
        figures = [
            figure
            for what, address in pages.items()
            for figure in _beside(on, what, lambda watched, at=address: slider(at, watched))
        ]
    how = (
        "The width of the vectors by one, until the last change in sight. Plotly's page has four "
        "heatmaps and nothing else (benchmarks/plotly_page)."
    )
    return [Part("Beside Plotly", how, figures)]


def bertviz(quick: bool) -> list[Part]:
    """The pointer on a token: BertViz's page, then two of ours."""
    if not (find_spec("bertviz") and find_spec("IPython")):
        raise SystemExit("The part bertviz needs BertViz: pip install --no-deps bertviz ipython")

    def token(address: str, watched: Watched) -> list[float]:
        if MODULES.exists():
            watched.page.route("https://cdnjs.cloudflare.com/ajax/libs/**", _from_npm)
        watched.open(address)
        places = watched.page.evaluate(TOKENS)
        watched.still()
        return watched.point((places * 2)[: 4 if quick else 9])

    with stage() as on, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bertviz.html"
        file.write_text(PAGE.format(_head_view()), encoding="utf-8")
        pages = {
            "BertViz, head view": file.as_uri(),
            "Attention Explorer, multi-head attention": f"{on.app.url}/multi_head_attention?{LINK}",
            "Attention Explorer, the whole layer": f"{on.app.url}/whole_layer?{LINK}",
        }
        figures = [
            figure
            for what, address in pages.items()
            for figure in _beside(on, what, lambda watched, at=address: token(at, watched))
        ]
    how = (
        "The same weights, of two heads and 11 tokens; the pointer from token to token of the "
        "sentence, to the last change. BertViz shows the token's lines and shades what it looks "
        "at; ours draws its arcs and bars, and fades what is not its row in every matrix."
    )
    return [Part("Beside BertViz", how, figures)]


def _head_view() -> str:
    from bertviz import head_view

    values, _ = understood({"example": "wild_cat"}, CONTROLS)
    trace = trace_of(values)
    weights = trace["head_weights"].value[None]
    return head_view([weights], names_of(trace, "query"), html_action="return").data


def _from_npm(route) -> None:
    route.fulfill(path=MODULES / SCRIPTS[route.request.url.rpartition("/")[2]])
