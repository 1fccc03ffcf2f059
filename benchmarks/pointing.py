"""From the pointer on a cell to the outlines around what it is made of, in the browser alone."""

import statistics

from attention_ui.frame.contents import LESSONS

from .figures import Figure, Part, spread
from .watching import Watched, new_page

CELLS = 24
LARGER = {"whole_layer": "&n_heads=3&d_model=6"}
"""What is measured a second time, with more heads."""
# From when the page is told of the pointer to the last change of a mark.
CLOCK = """() => {
  const clock = window.pointing = { began: 0, changed: 0 };
  addEventListener('pointerover', () => { clock.began ||= performance.now(); }, true);
  new MutationObserver(() => { clock.changed = performance.now(); }).observe(
    document.querySelector('[data-testid=stMain]'),
    { subtree: true, childList: true, attributes: true, attributeFilter: ['stroke', 'opacity'] });
}"""
# The cells of the largest matrix in the window, as places in it.
PLACES = """() => {
  const inside = ([x, y]) => x > 270 && x < innerWidth - 20 && y > 60 && y < innerHeight - 40;
  const matrices = [...document.querySelectorAll('[class*=st-key-eq_] g[class*=cells_]')]
    .filter((marks) => marks.checkVisibility())
    .map((marks) => [...marks.querySelectorAll('path')].map((cell) => {
      const box = cell.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    }).filter(inside));
  return matrices.sort((one, other) => other.length - one.length)[0] ?? [];
}"""


def pointing(browser, app, empty, quick: bool) -> list[Part]:
    """From cell to cell of the largest matrix in sight of every lesson."""
    watched, beside = new_page(browser), new_page(browser)
    sent: list[str | bytes] = []

    def heard(message: str | bytes) -> None:
        sent.append(message)

    watched.page.on(
        "websocket", lambda socket: socket.on("framesent", lambda one: sent.append(one))
    )
    beside.open(empty.url)
    beside.page.locator("input").first.focus()
    figures = []
    for lesson in LESSONS:
        for more in dict.fromkeys(("", LARGER.get(lesson.name, ""))):
            reference = statistics.median(beside.press("ArrowRight").seen for _ in range(4))
            watched.open(f"{app.url}/{lesson.name}?predict=off&cell=none{more}")
            times = _point(watched, 6 if quick else CELLS, sent)
            if not times:
                continue
            numbers = {**spread(times), "empty": reference, "× empty": 0.0}
            numbers["× empty"] = numbers["median"] / reference
            most = 50 / 44 if lesson.name in LARGER else 20 / 44
            what = f"{lesson.title}{' (3 heads)' if more else ''}"
            figures.append(Figure(what, numbers, {"× empty": most}))
            print(f"  {what}: {times}", flush=True)
    for each in (watched, beside):
        each.page.context.close()
    how = (
        "The pointer goes from cell to cell of the largest matrix in sight of each lesson; from "
        "the event to the last change of a mark. Not one message went to the server meanwhile. "
        "*empty* is the slider of an empty page in the same run."
    )
    return [Part("Pointer to outline", how, figures)]


def _point(watched: Watched, count: int, sent: list[str | bytes]) -> list[float]:
    page = watched.page
    matrices = page.locator("[class*=st-key-eq_] g[class*=cells_]:visible")
    if not matrices.count():
        return []
    matrices.last.scroll_into_view_if_needed()
    page.wait_for_timeout(1_000)  # what scrolling into view has asked for
    watched.still()
    places = page.evaluate(PLACES)
    page.evaluate(CLOCK)
    already, times = len(sent), []
    for number in range(count + 1):
        page.evaluate("pointing.began = 0")
        page.mouse.move(*places[(number * 7 + 3) % len(places)])
        page.wait_for_timeout(250)
        took = page.evaluate("pointing.changed - pointing.began")
        if number:
            assert took > 0, f"no mark changed at {places[(number * 7 + 3) % len(places)]}"
            times.append(took)
    assert len(sent) == already, f"{len(sent) - already} messages were sent while pointing"
    return times
