"""Page to page, and how long a start takes."""

import statistics
import tempfile
import time
from pathlib import Path

from attention_ui.frame.contents import HOME, LESSONS
from browser_tools import in_contents
from serving import AppServer

from . import HERE
from .figures import Figure, Part, failed, spread
from .watching import Moved, Watched, chromium, new_page, stage


def pages(quick: bool) -> list[Part]:
    """From page to page by the contents, each page visited before."""
    rounds = 1 if quick else 3
    times: dict[str, list[Moved]] = {}
    empties, broken = [], {}
    with stage() as (browser, app, empty):
        watched = new_page(browser)
        watched.open(f"{app.url}/?predict=off")
        for number in range(rounds + 1):
            empties.append(empty.now())
            watched.page.bring_to_front()
            for lesson in (*LESSONS, HOME):
                title = "Home" if lesson is HOME else lesson.short or lesson.title
                try:
                    moved = _follow(watched, title, lesson.title)
                except Exception as error:  # the others go on
                    broken[title] = failed(f"to {title}", error)
                    watched.open(f"{app.url}/?predict=off")
                    continue
                if number:
                    times.setdefault(title, []).append(moved)
    figures, reference = [*broken.values()], statistics.median(empties[1:])
    for title, each in times.items():
        whole = statistics.median(one.whole for one in each)
        numbers = {**spread([one.seen for one in each]), "whole": whole}
        numbers |= {"empty": reference, "whole × empty": whole / reference}
        figures.append(Figure(f"to {title}", numbers, {"whole × empty": 8}))
    how = (
        "A click on a link of the contents, from the click to the last change of what is in sight "
        "of the new page; *whole* until all of it is drawn, charts below the window included. "
        f"Every page has been visited before; {rounds} rounds in the order of the contents. "
        "*empty*: the slider of an empty page, before each round."
    )
    return [Part("Page to page", how, figures)]


def _follow(watched: Watched, title: str, heading: str) -> Moved:
    link = in_contents(watched.page, title)
    link.scroll_into_view_if_needed()
    box = link.bounding_box()
    x, y = box["x"] + 60, box["y"] + box["height"] / 2
    watched.page.mouse.move(x, y)
    watched.still()
    moved = watched.click(x, y)
    found = watched.page.locator("[data-testid=stMain] h1").first.inner_text()
    if found != heading:
        raise RuntimeError(f"the link {title} led to {found}")
    return moved


STARTS = {
    "an empty Streamlit page, its heading": (HERE / "empty", "/", "heading", None),
    "the home page, its heading": (HERE.parent, "/", "heading", 1.3),
    "a lesson, its first matrix": (HERE.parent, "/simplified_attention", "matrix", 2.5),
}
"""What is started, the page that is asked for, the sign that it is there, and the goal, × empty."""


def start(quick: bool) -> list[Part]:
    """From `streamlit run` to a page on the screen."""
    times: dict[str, list[float]] = {what: [] for what in STARTS}
    for _ in range(1 if quick else 5):
        for what, (folder, path, sign, _) in STARTS.items():
            times[what].append(_start(folder, path, sign))
            print(f"  {what}: {times[what][-1]:.0f}", flush=True)
    empty, *_ = map(statistics.median, times.values())
    figures = [
        Figure(
            what,
            {**spread(times[what]), "× empty": statistics.median(times[what]) / empty},
            {"× empty": goal} if goal else {},
        )
        for what, (*_, goal) in STARTS.items()
    ]
    how = (
        "From the start of the process to what a browser shows that is open already and asks for "
        "the page as soon as the server answers; the lesson is *Simplified attention*. Each start "
        "has a new process and a new browser; Python's compiled files are there from an earlier "
        "start."
    )
    return [Part("Cold start", how, figures)]


def _start(folder: Path, path: str, sign: str) -> float:
    with chromium() as browser, tempfile.TemporaryDirectory() as logs:
        watched = new_page(browser)
        began = time.time()
        server = AppServer(Path(logs) / "output.txt", folder)
        try:
            server.wait_until_healthy()
            watched.open(server.url + path)
            shown = watched.page.evaluate(f"performance.timeOrigin + bench.{sign}")
        finally:
            server.stop()
    return shown - began * 1_000
