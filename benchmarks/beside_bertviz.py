"""The weights of the same heads in BertViz's head view, side by side with our pages of them."""

import json
import tempfile
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from attention_ui.controls.control import understood
from attention_ui.lessons.whole_layer.lesson import CONTROLS, trace_of
from attention_ui.picture.matrix import names_of

from . import HERE
from .beside import point, side_by_side
from .figures import Part
from .watching import Watched, new_page

MODULES = HERE.parent / "node_modules"
SCRIPTS = {
    "require.min.js": "requirejs/require.js",
    "d3.min.js": "d3/dist/d3.min.js",
    "jquery.min.js": "jquery/dist/jquery.min.js",
}
"""What BertViz's page loads from the network, unless npm has put it into `MODULES`."""
THEIRS = ("#attention line", "#left .background")
"""The first picture, and the tokens."""
OURS = ("[data-testid=stMain] svg .cells_marks path", "[data-token]")
NAME_TOKENS = """() => {
  for (const drawn of document.querySelectorAll('[class*=st-key-drawn_]')) {
    const found = [...drawn.querySelectorAll('svg .cells_marks path')]
      .filter(({ __data__ }) => __data__?.datum.look === 'token box');
    for (const one of found) one.dataset.token = '';
    if (found.length) return;
  }
}"""
# To the clock and to what waits until a page is still, BertViz's view is a Streamlit page at rest.
PAGE = """<!doctype html><meta charset="utf-8">
<body data-testid="stApp" data-test-connection-state="CONNECTED" data-test-script-state="notRunning"
><main data-testid="stMainBlockContainer"><h1>BertViz</h1>{}</main></body>"""
FIRST = """new MutationObserver(() => {
  if (document.querySelector('%s')) window.firstPicture ??= performance.now();
}).observe(document, { subtree: true, childList: true });"""


def beside_bertviz(browser, app, empty, quick: bool) -> list[Part]:
    """Opening, and the pointer on a token: BertViz's page, then two of ours."""
    if not (find_spec("bertviz") and find_spec("IPython")):
        raise SystemExit("The part bertviz needs BertViz: pip install --no-deps bertviz ipython")
    times = 3 if quick else 8
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bertviz.html"
        file.write_text(PAGE.format(_head_view()), encoding="utf-8")
        link = "example=wild_cat&predict=off"
        several, layer = f"{app.url}/multi_head_attention?{link}", f"{app.url}/whole_layer?{link}"
        named = {
            "BertViz, head view": (file.as_uri(), *THEIRS),
            "Attention Explorer, multi-head attention": (several, *OURS),
            "Attention Explorer, the whole layer": (layer, *OURS),
            "An empty Streamlit page": (empty.url, "input", ""),
        }
        pages = {what: partial(_measure, browser, times, *each) for what, each in named.items()}
        figures = side_by_side(browser, empty, pages)
    how = (
        "The same weights, of two heads and 11 tokens. *open*: from asking for the page, in a new "
        "browser profile, to its first line or cell (of an empty page, its slider). BertViz's is a "
        "finished file, whose weights were worked out before; ours loads Streamlit and asks a "
        "server, which runs already and works them out. *token*: the pointer from token to token "
        "of the sentence, to the last change. BertViz shows the token's lines and shades what it "
        "looks at; ours draws its arcs and bars, and fades what is not its row in every matrix of "
        "the chart."
    )
    if MODULES.exists():
        jquery = json.loads((MODULES / "jquery/package.json").read_text())["version"]
        how += f" Its scripts came from npm, with jquery {jquery} for 2.0.0, which npm has not."
    return [Part("Beside BertViz", how, figures)]


def _head_view() -> str:
    from bertviz import head_view

    values, _ = understood({"example": "wild_cat"}, CONTROLS)
    trace = trace_of(values)
    weights = trace["head_weights"].value[None]
    return head_view([weights], names_of(trace, "query"), html_action="return").data


def _measure(
    browser, times: int, address: str, picture: str, tokens: str, watched: Watched
) -> dict[str, list[float]]:
    _scripts_from_npm(watched)
    taken = {"open": [_first_picture(browser, address, picture) for _ in range(times // 2 + 1)][1:]}
    watched.open(address)
    watched.page.evaluate(NAME_TOKENS)
    if tokens:
        taken["token"] = point(watched, _places(watched, tokens), times)
    return taken


def _first_picture(browser, address: str, picture: str) -> float:
    fresh = new_page(browser)
    _scripts_from_npm(fresh)
    fresh.page.add_init_script(FIRST % picture)
    fresh.open(address)
    took = fresh.page.wait_for_function("window.firstPicture").json_value()
    fresh.close()
    return took


def _scripts_from_npm(watched: Watched) -> None:
    def answer(route) -> None:
        route.fulfill(path=MODULES / SCRIPTS[route.request.url.rpartition("/")[2]])

    if MODULES.exists():
        watched.page.route("https://cdnjs.cloudflare.com/ajax/libs/**", answer)


def _places(watched: Watched, marks: str) -> list[tuple[float, float]]:
    """The middles of these marks, once the first of them is in sight."""
    found = watched.page.locator(marks)
    found.first.evaluate("(one) => one.scrollIntoView({ block: 'center' })")
    watched.still()
    boxes = [each.bounding_box() for each in found.all()]
    return [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
