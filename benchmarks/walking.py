"""A click on a cell to its arithmetic, page to page, and how long a start takes."""

import statistics
import tempfile
import time
from pathlib import Path

from attention_ui.frame.contents import HOME, LESSONS
from browser_tools import in_contents
from serving import AppServer

from . import HERE
from .figures import Figure, Part, spread
from .watching import Moved, Watched, new_page

CLICKS = 8
"""Cells that are clicked in each lesson, after one click that is not counted."""
# The cells of the first matrix of the page that can be chosen, as places in the window.
CELLS = """() => {
  for (const beat of document.querySelectorAll('[class*=st-key-eq_]')) {
    const matrices = [...beat.querySelectorAll('svg g[class*=matrix_][class$=_group]')];
    const cells = [...(matrices.at(-1)?.querySelectorAll('[class*=cells_] path') ?? [])];
    if (cells.length < 2) continue;
    cells[0].scrollIntoView({ block: 'center' });
    const name = [...beat.classList].find((one) => one.startsWith('st-key-eq_')).slice(10);
    return [name, cells.map((cell) => {
      const box = cell.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    }).filter(([x, y]) => x > 270 && x < innerWidth - 20 && y > 60 && y < innerHeight - 40)];
  }
}"""


def clicks(browser, app, empty, quick: bool) -> list[Part]:
    """From a click on a cell to its arithmetic, on every lesson."""
    watched, beside = new_page(browser), new_page(browser)
    beside.open(empty.url)
    figures = []
    for lesson in LESSONS:
        beside.page.locator("input").first.focus()
        reference = statistics.median(beside.press("ArrowRight").seen for _ in range(4))
        watched.open(f"{app.url}/{lesson.name}?predict=off&cell=none")
        times, opened = _click(watched, 3 if quick else CLICKS)
        numbers = {**spread(times), "empty": reference, "× empty": 0.0}
        numbers["× empty"] = numbers["median"] / reference
        figures.append(Figure(f"{lesson.title}: {opened}", numbers, {"median": 300}))
        print(f"  {figures[-1].what}: {times}", flush=True)
    for each in (watched, beside):
        each.page.context.close()
    how = (
        "Clicks on different cells of the first matrix of each lesson, from the click to the last "
        "change of the page; by then the cell's arithmetic, its operands and its sliders are there."
    )
    return [Part("Click on a cell to its arithmetic", how, figures)]


def _click(watched: Watched, count: int) -> tuple[list[float], str]:
    times, name = [], ""
    for number in range(count + 1):
        name, cells = watched.page.wait_for_function(CELLS, timeout=10_000).json_value()
        x, y = cells[(number * 3 + 1) % len(cells)]
        watched.page.mouse.move(x, y)
        watched.still()
        took = watched.click(x, y).all_of_it
        assert watched.page.locator(f".st-key-cell_{name}").count(), "no arithmetic has opened"
        if number:
            times.append(took)
    return times, f"`{name}`"


def pages(browser, app, _empty, quick: bool) -> list[Part]:
    """From page to page by the contents, each page visited before."""
    watched = new_page(browser)
    watched.open(f"{app.url}/?predict=off")
    rounds = 1 if quick else 4
    times: dict[str, list[Moved]] = {}
    for number in range(rounds + 1):
        for lesson in (*LESSONS, HOME):
            title = "Home" if lesson is HOME else lesson.short or lesson.title
            link = in_contents(watched.page, title)
            link.scroll_into_view_if_needed()
            box = link.bounding_box()
            x, y = box["x"] + 60, box["y"] + box["height"] / 2
            watched.page.mouse.move(x, y)
            watched.still()
            moved = watched.click(x, y)
            heading = watched.page.locator("[data-testid=stMain] h1").first.inner_text()
            assert heading == lesson.title, f"at {heading} instead of {lesson.title}"
            if number:
                times.setdefault(title, []).append(moved)
    watched.page.context.close()
    figures = [
        Figure(
            f"to {title}",
            {
                **spread([one.seen for one in each]),
                "whole": statistics.median(one.all_of_it for one in each),
            },
            {"median": 300},
        )
        for title, each in times.items()
    ]
    how = (
        "A click on a link of the contents, from the click to the last change of what is in sight "
        "of the new page; *whole* until all of it is drawn, charts below the window included. "
        f"Every page has been visited before; {rounds} rounds in the order of the contents."
    )
    return [Part("Page to page", how, figures)]


def start(browser, quick: bool) -> list[Part]:
    """From `streamlit run` to a page on the screen."""
    kinds = {
        "an empty Streamlit page": (HERE / "empty", "/", "heading"),
        "the home page": (HERE.parent, "/", "heading"),
        "the home page, all of it": (HERE.parent, "/", "changed"),
        "first lesson, its first matrix": (HERE.parent, "/simplified_attention", "matrix"),
        "first lesson, all of it": (HERE.parent, "/simplified_attention", "changed"),
    }
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(1 if quick else 5):
        for name, (folder, path, sign) in kinds.items():
            times[name].append(_start(browser, folder, path, sign))
            print(f"  {name}: {times[name][-1]:.0f}", flush=True)
    empty = statistics.median(times["an empty Streamlit page"])
    goals = {"the home page": {"× empty": 1.3}, "first lesson, its first matrix": {"median": 4_000}}
    figures = [
        Figure(
            name, {**spread(each), "× empty": statistics.median(each) / empty}, goals.get(name, {})
        )
        for name, each in times.items()
    ]
    how = (
        "From the start of the process to what a browser shows that is open already and asks for "
        "the page as soon as the server answers: its heading, its first matrix, or its last "
        "change. Each start has a new process and a new browser profile; Python's compiled files "
        "are there from an earlier start."
    )
    return [Part("Cold start", how, figures)]


def _start(browser, folder: Path, path: str, sign: str) -> float:
    watched = new_page(browser)
    with tempfile.TemporaryDirectory() as logs:
        began = time.time()
        server = AppServer(Path(logs) / "output.txt", folder)
        try:
            server.wait_until_healthy()
            watched.open(server.url + path)
            shown = watched.page.evaluate(f"performance.timeOrigin + window.bench.{sign}")
            watched.page.context.close()
        finally:
            server.stop()
    return shown - began * 1_000
