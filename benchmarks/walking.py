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
from .watching import Empty, Moved, Watched, chromium, new_page


def pages(browser, app, empty, quick: bool) -> list[Part]:
    """From page to page by the contents, each page visited before."""
    watched, beside = new_page(browser), Empty(browser, empty.url)
    watched.open(f"{app.url}/?predict=off")
    rounds = 1 if quick else 3
    times: dict[str, list[Moved]] = {}
    empties, broken = [], {}
    for number in range(rounds + 1):
        empties.append(beside.now())
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
    for each in (watched, beside.watched):
        each.close()
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
    "an empty Streamlit page": (HERE / "empty", "/"),
    "the home page": (HERE.parent, "/"),
    "a lesson, simplified attention": (HERE.parent, "/simplified_attention"),
}
SIGNS = {"heading": "its heading", "matrix": "its first matrix", "changed": "all of it"}


def start(quick: bool) -> list[Part]:
    """From `streamlit run` to a page on the screen."""
    times: dict[tuple[str, str], list[float]] = {}
    for _ in range(1 if quick else 5):
        for name, (folder, path) in STARTS.items():
            for sign, took in _start(folder, path).items():
                times.setdefault((name, sign), []).append(took)
                print(f"  {name}, {SIGNS[sign]}: {took:.0f}", flush=True)
    empty = statistics.median(times["an empty Streamlit page", "heading"])
    goals = {
        ("the home page", "heading"): {"× empty": 1.3},
        ("a lesson, simplified attention", "matrix"): {"× empty": 2.5},
    }
    figures = [
        Figure(
            f"{name}, {SIGNS[sign]}",
            {**spread(each), "× empty": statistics.median(each) / empty},
            goals.get((name, sign), {}),
        )
        for (name, sign), each in times.items()
    ]
    how = (
        "From the start of the process to what a browser shows that is open already and asks for "
        "the page as soon as the server answers: its heading, its first matrix, and its last "
        "change. Each start has a new process and a new browser; Python's compiled files are there "
        "from an earlier start. *× empty*: to the heading of an empty page."
    )
    return [Part("Cold start", how, figures)]


def _start(folder: Path, path: str) -> dict[str, float]:
    with chromium() as browser, tempfile.TemporaryDirectory() as logs:
        watched = new_page(browser)
        began = time.time()
        server = AppServer(Path(logs) / "output.txt", folder)
        try:
            server.wait_until_healthy()
            watched.open(server.url + path)
            shown = watched.page.evaluate(
                "Object.fromEntries(%s.filter((sign) => bench[sign]).map((sign) => "
                "[sign, performance.timeOrigin + bench[sign]]))" % [*SIGNS]
            )
        finally:
            server.stop()
    return {sign: at - began * 1_000 for sign, at in shown.items()}
