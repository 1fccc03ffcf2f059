"""What is measured, and how it is written: from the top figures and tables; the clock in a real
browser; lessons in it; page to page, and starts; sessions without a browser.
"""

import asyncio
import os
import platform
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Locator, Page, sync_playwright

from attention_ui.frame.contents import HOME, LESSONS, Lesson
from browser_tools import BUSY, WATCH_RUNS, in_contents
from serving import ROOT, AppServer, launch_chromium, start_server
from visitor import Visitor

from . import HERE

# --- figures and tables ---------------------------------------------------------------------------

FAILED = "**failed**"
RESULTS, WHOLE = HERE / "RESULTS.md", re.DOTALL | re.MULTILINE
HEAD = """# Measured

Written by `make bench`; do not edit. Each table says at its foot when it was measured, and with
what. `make bench ARGS="moves memory"` measures some parts again and leaves the others,
`make bench ARGS="--quick moves"` prints a short run and writes nothing.

A figure that misses its goal is **bold**, with the goal in brackets. *× empty* is the ratio to the
least page of Streamlit's that answers a slider (`benchmarks/empty/app.py`), measured in the same
run: a slow or busy machine moves both.
"""
FOOT = (
    "<sub>`{name}`, {day}: {processor}, {cores} cores, load {load}; {system}; {versions}.</sub>\n"
)


@dataclass
class Figure:
    """One row of a table: what was measured, the numbers by the heading of their column.

    `most` is the largest number allowed in some columns; what lies above is said to miss.
    """

    what: str
    numbers: dict[str, float]
    most: dict[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def has_failed(self) -> bool:
        """Whether it could not be measured."""
        return self.note.startswith(FAILED)

    @property
    def missed(self) -> list[str]:
        """The columns in which the goal is not reached."""
        return [name for name, most in self.most.items() if self.numbers.get(name, 0) > most]

    def cell(self, column: str) -> str:
        """A number as it is written, and the goal where it misses it; or the note."""
        if column not in self.numbers:
            return self.note if column == "note" else ""
        value = _written(self.numbers[column])
        return f"**{value}** ({_written(self.most[column])})" if column in self.missed else value


@dataclass
class Part:
    """One table of the results, with the words that say how it was measured."""

    title: str
    how: str
    figures: list[Figure]
    unit: str = "ms"

    def table(self) -> str:
        """It as Markdown."""
        columns = list(dict.fromkeys(name for each in self.figures for name in each.numbers))
        columns += ["note"] * any(each.note for each in self.figures)
        heads = [f"in {self.unit}" if self.unit else "", *columns]
        rows = [heads, ["---"] * len(heads)]
        rows += [[each.what, *map(each.cell, columns)] for each in self.figures]
        lines = [f"## {self.title}\n", f"{self.how}\n", *(f"| {' | '.join(row)} |" for row in rows)]
        if with_goal := [each for each in self.figures if each.most]:
            reached = sum(not each.missed for each in with_goal)
            lines.append(f"\n{reached} of {len(with_goal)} rows reach their goal.")
        return "\n".join(lines) + "\n"


def _written(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def failed(what: str, error: BaseException) -> Figure:
    """A row that could not be measured, with the reason."""
    told = f"{type(error).__name__}: {error}".partition("\n")[0]
    print(f"  {what}: FAILED, {told}", flush=True)
    return Figure(what, {}, note=f"{FAILED}: {told[:120].replace('|', '/')}")


@contextmanager
def tried(what: str):
    """Rows that are measured; one that says why where that fails."""
    rows: list[Figure] = []
    try:
        yield rows
    except Exception as error:  # the others go on
        rows[:] = [failed(what, error)]


def spread(times: Iterable[float]) -> dict[str, float]:
    """Median, 90th percentile and the largest."""
    times = [*times]
    ninth = statistics.quantiles(times, n=10, method="inclusive")[-1] if times[1:] else times[0]
    return {"median": statistics.median(times), "90th": ninth, "largest": max(times)}


def machine() -> dict[str, str]:
    """What the figures were measured with."""
    names = ("streamlit", "torch", "altair", "pandas")
    cpus = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    processors = [line for line in cpus.splitlines() if line.startswith("model name")]
    return {
        "day": date.today().isoformat(),
        "processor": processors[0].partition(":")[2].strip() if processors else "unknown",
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else "?"),
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": ", ".join(f"{name} {version(name)}" for name in names),
        "load": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "?",
    }


def keep(name: str, parts: list[Part], order: Iterable[str]) -> None:
    """Replace what RESULTS.md has of one part of the benchmark; the parts stand in this order."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    found = {each: told for told, each in re.findall(r"(^## .*?^<sub>`(\w+)`.*?\n)", text, WHOLE)}
    found[name] = "\n".join(
        [*(part.table() for part in parts), FOOT.format(name=name, **machine())]
    )
    told = [found[each] for each in order if each in found]
    RESULTS.write_text("\n".join([HEAD, *told]), encoding="utf-8")


# --- a clock in a browser -------------------------------------------------------------------------

# Every server is measured with the model that everybody has, whatever is installed here.
os.environ["ATTENTION_EXPLORER_MODEL"] = "tiny"

QUIET = 0.3
"""Seconds without a change, after which a page counts as settled: more than the 0.2 s for which the
browser waits until it tells the server of a control in a picture."""

WATCH = (HERE / "watch.js").read_text(encoding="utf-8")
STILL = f"""(quiet) => {{
  if (bench.error && !document.querySelector('[data-testid=stApp]')) return bench.error;
  // What costs the page time (it asks for all animations) only once nothing has moved for a while:
  // the clock must not be what takes the time.
  const still = () => performance.now() - Math.max(bench.changed, bench.busy ?? 0,
    window.testRuns.asked, window.testRuns.began, window.testRuns.ended) > quiet;
  if (!still()) return false;
  if (({BUSY})().length) window.bench.busy = performance.now();
  return still();
}}"""


class Moved(NamedTuple):
    """What a key or a click has set going."""

    seen: float
    """Milliseconds to the last change of what is in sight in the main area; 0 where none was."""
    whole: float
    """Milliseconds to the last change of the page."""


class Watched:
    """A page that is timed, and the messages of which are counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.sent: list[str | bytes] = []
        page.add_init_script(WATCH_RUNS)
        page.add_init_script(WATCH)
        page.on(
            "websocket", lambda socket: socket.on("framesent", lambda sent: self.sent.append(sent))
        )

    def open(self, address: str) -> None:
        """Go to an address and wait until the page is still. Raises RuntimeError where it shows an
        error.
        """
        self.page.goto(address, timeout=60_000)
        self.still()
        for shown in self.page.locator("[data-testid=stException]").all_inner_texts():
            raise RuntimeError(f"{self.page.url} shows {shown[:200]}")

    def still(self) -> None:
        """Wait until the page has been at rest for a while. Raises RuntimeError if it is gone."""
        found = self.page.wait_for_function(STILL, arg=QUIET * 1000, polling=20, timeout=60_000)
        if (told := found.json_value()) is not True:
            raise RuntimeError(f"the page is gone: {told}")

    def timed(self, act: Callable[..., object], *given: object) -> Moved:
        """What a key or a click sets going."""
        act(*given)
        # Until the browser asks the server it may wait: nothing is still before.
        time.sleep(0.05)
        self.still()
        return Moved(*self.page.evaluate("[bench.seen(), bench.whole()]"))

    def move(self, key: str, moves: int) -> Iterable[Moved]:
        """Move a slider so often by a key, after two moves that are not counted (the first also
        brings the way back to the example), to and fro at its ends, and then back to where it was.
        Where nothing in sight changes, the page is first scrolled to what does.
        """
        slider = self.page.locator(f".{key} input").first
        self.page.get_by_test_id("stMain").evaluate("(one) => one.scrollTo(0, 0)")
        slider.scroll_into_view_if_needed()
        self.still()
        way, net = 1, 0
        for count in range(moves + 2):
            now, least, most = map(float, slider.evaluate("(one) => [one.value, one.min, one.max]"))
            way = -1 if now >= most else 1 if now <= least else way
            one = self.press_on(slider, "ArrowRight" if way > 0 else "ArrowLeft")
            if float(slider.input_value()) == now:
                raise RuntimeError("it does not move")
            net += way
            if count > 1:
                yield one
            if count and not one.seen:
                self.page.evaluate("bench.show()")
                self.still()
        for _ in range(abs(net)):
            self.page.keyboard.press("ArrowLeft" if net > 0 else "ArrowRight")
            self.page.wait_for_timeout(20)
        self.still()

    def press_on(self, slider: Locator, key: str) -> Moved:
        """Press a key on a slider, which need not be in sight."""
        slider.evaluate("(one) => one.focus({ preventScroll: true })")
        return self.timed(self.page.keyboard.press, key)


class Empty:
    """An empty page beside those that are measured: what its slider takes now is the unit."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.watched = new_page(browser)
        self.watched.open(url)
        self.watched.page.locator("input").first.focus()

    def now(self) -> float:
        """Milliseconds of its slider: the median of five moves after the first, in which something
        may be made for the first time.
        """
        self.watched.page.bring_to_front()
        press, keys = self.watched.page.keyboard.press, ["ArrowRight", "ArrowLeft"] * 3
        _, *counted = [self.watched.timed(press, key).seen for key in keys]
        return statistics.median(counted)


class Stage(NamedTuple):
    """What a page is measured on: a browser, the app's server, and an empty page beside it."""

    browser: Browser
    app: AppServer
    empty: Empty


@contextmanager
def server(folder: Path = ROOT, **process) -> Iterator[AppServer]:
    """The app, or what lies in another folder, for as long as it is needed."""
    with (
        tempfile.TemporaryDirectory() as logs,
        start_server(Path(logs) / "output.txt", folder, **process) as started,
    ):
        yield started


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser, for as long as it is needed."""
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        yield browser
        browser.close()


@contextmanager
def stage(**process) -> Iterator[Stage]:
    """All that a page is measured on; `process` is what the app's server is started with."""
    with server(**process) as app, server(HERE / "empty") as empty, chromium() as browser:
        yield Stage(browser, app, Empty(browser, empty.url))


def new_page(browser: Browser, **options) -> Watched:
    """A page of a new profile, 1280 by 900, with reduced motion."""
    options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}
    return Watched(browser.new_context(**options).new_page())


# --- on the pages of lessons ----------------------------------------------------------------------

MOVES, STOPS = 6, 24
"""How often a slider is moved, a control in a picture dragged on: each after one or two times that
are not counted."""
SLIDERS = """() => [...document.querySelectorAll('[data-testid=stSlider]')]
  .filter((one) => one.checkVisibility() && !one.querySelector('input:disabled'))
  .map((one) => [...one.closest('[class*=st-key-control_]').classList]
    .find((name) => name.startsWith('st-key-control_')))"""
IN_PICTURES = """() => [...document.querySelectorAll('[class*=st-key-moves_]')]
  .filter((one) => one.checkVisibility() && one.querySelector('input[type=range]')
    && !one.querySelector('[data-testid=stSlider]'))
  .map((one) => [...one.classList].find((name) => name.startsWith('st-key-moves_')).slice(13))"""

BOTH = ("× empty", "whole × empty")


@dataclass
class Visit:
    """A lesson's page in a browser, and what the empty page beside it takes."""

    lesson: Lesson
    watched: Watched
    address: str
    empty: float
    quick: bool

    def times(self, count: int) -> int:
        """How often something is done."""
        return 2 if self.quick else count

    def against(self, seen: float, whole: float) -> dict[str, float]:
        """The empty page's time, and how many times that something has taken."""
        return {"empty": self.empty, BOTH[0]: seen / self.empty, BOTH[1]: whole / self.empty}


@dataclass(frozen=True)
class Measured:
    """A table about all lessons."""

    title: str
    how: str
    measure: Callable[[Visit], Iterable[Figure]]
    sums_up: dict[str, tuple[Callable, dict[str, float]]] = field(default_factory=dict)
    """What stands above the rows: how each is taken from them all, and its goals."""

    def part(self, rows: list[Figure]) -> Part:
        """The table, with what sums it up above its rows."""
        steps = [each.numbers for each in rows if BOTH[0] in each.numbers]
        above = [
            Figure(f"**The {what} of all rows**",
                   {name: taken(each[name] for each in steps) for name in BOTH}, goals)
            for what, (taken, goals) in self.sums_up.items() if steps
        ]  # fmt: skip
        return Part(self.title, self.how, above + rows)


def in_frame(visit: Visit) -> Iterable[Figure]:
    """Every control that a picture carries: dragged, and moved by a key until all is settled."""
    watched = visit.watched
    open_deeper(watched)
    found = watched.page.evaluate(IN_PICTURES)
    if not found and visit.lesson is not HOME:
        yield Figure(visit.lesson.title, {}, note="no picture carries a control")
    for card in found:
        what = f"{visit.lesson.title}: `{card}`"
        with tried(what) as rows:
            picture = f".st-key-drawn_{card}, .st-key-fills_chart_of_write"
            watched.page.locator(picture).first.scroll_into_view_if_needed()
            watched.page.locator(f".st-key-moves_{card} input").first.hover()
            watched.still()
            watched.sent.clear()
            _, *times = watched.page.evaluate("bench.drag", [card, picture, visit.times(STOPS)])
            asked, counted = len(watched.sent), [time for time in times if time > 0]
            watched.still()
            if len(counted) * 2 < len(times):
                raise RuntimeError(f"the picture changed {len(counted)} times of {len(times)}")
            numbers = {**spread(counted), "messages": asked}
            moved = watched.move(f"st-key-moves_{card}", visit.times(3))
            seen, whole = map(statistics.median, zip(*moved, strict=True))
            numbers |= {"key, settled": seen, "whole": whole, **visit.against(seen, whole)}
            goals = {"× empty": 3.0} if visit.lesson.name == "whole_layer" else {}
            rows.append(Figure(what, numbers, {"median": 16.0, **goals}))
        yield from rows


def open_deeper(watched: Watched) -> None:
    """Open the row of what goes deeper, where there is one that is not open."""
    row = watched.page.locator(".st-key-row_deeper details:not([open]) > summary")
    if row.count():
        row.first.click()
        watched.still()


def sliders(visit: Visit) -> Iterable[Figure]:
    """Every slider of the page, then those of what goes deeper."""
    watched, done = visit.watched, set()
    for is_deeper in (False, True):
        while True:
            if is_deeper:
                open_deeper(watched)
            # Anew each time: the choices of one slider, and with them its key, may follow another.
            keys = {called(key): key for key in watched.page.evaluate(SLIDERS)}
            name = next((name for name in keys if name not in done), None)
            if name is None:
                break
            done.add(name)
            goals = {"× empty": 3.0} if visit.lesson.name == "whole_layer" else {}
            if goals and name in ("d_model", "n_heads"):
                slider, presses = watched.page.locator(f".{keys[name]} input").first, visit.times(3)
                ends = [watched.press_on(slider, key) for key in ["Home", "End"] * (presses + 1)]
                what = f"{visit.lesson.title}: `{name}` to its largest"
                yield from _row(visit, what, partial(list, ends[3::2]), {"× empty": 6.0})
                watched.open(visit.address)
            moved = partial(watched.move, keys[name], visit.times(MOVES))
            yield from _row(visit, f"{visit.lesson.title}: `{name}`", moved, goals)


def called(key: str) -> str:
    """A slider's name, without what tells its choices apart."""
    return re.sub(r"(_\d+_\d+)?$", "", key.removeprefix("st-key-control_"), count=1)


def _row(
    visit: Visit, what: str, moves: Callable[[], Iterable[Moved]], goals: dict[str, float]
) -> Iterable[Figure]:
    with tried(what) as rows:
        seen, wholes = map(list, zip(*moves(), strict=True))
        counted, whole = [each for each in seen if each], statistics.median(wholes)
        if not whole:  # it waits for a button
            rows.append(Figure(what, {}, note="changes nothing by itself"))
        elif len(counted) < 2:
            raise RuntimeError("it changes nothing in sight")
        else:
            against = visit.against(statistics.median(counted), whole)
            few = f"{len(counted)} of {len(seen)} moves changed something in sight: these count"
            note = few if len(counted) < len(seen) else ""
            numbers = {**spread(counted), "whole": whole, **against}
            rows.append(Figure(what, numbers, goals, note))
            print(f"  {what}: {against['× empty']:.2f}", flush=True)
    if rows[-1].has_failed:
        visit.watched.open(visit.address)
    yield from rows


SEEN = (
    "The clock is the page's own: to the last change of what is in sight in the main area, in the "
    "document or as a stroke on a canvas, and *whole* to the last change anywhere on the page; "
    "what a slider shows of itself counts for neither. "
)
TABLES = {
    "moves": Measured(
        "Slider key to settled picture",
        f"Every slider of every page as its example starts, moved {MOVES} times by a key, after "
        f"two that are not counted; those of *Go deeper* with that row open. {SEEN}Where "
        "nothing that a slider changes is in sight, the page is scrolled to the first of it. "
        "*empty*: the slider of an empty page, beside each.",
        sliders,
        {
            "median": (statistics.median, {"× empty": 2.5, "whole × empty": 5.0}),
            "worst": (max, {"× empty": 6.0}),
        },
    ),
    "frame": Measured(
        "A control in a picture, hand to the last change in it",
        "Every control that a picture carries, those of *Go deeper* included, dragged on "
        f"{STOPS} times by three steps; from the event to the last change in the picture (where "
        "some position looks like the one before, it is left out). *messages*: to the server, "
        "while it is dragged. Then it is moved 3 times by a key and rests: *key, settled* to the "
        "last change in sight, the cards that follow included, and *whole* to that of the page.",
        in_frame,
    ),
}
"""By the part's name, in the order in which they are measured on a page."""


def on_lessons(names: list[str], some_pages: list[str], quick: bool) -> dict[str, list[Part]]:
    """The tables of these names: every page is opened once for all. Of some pages, where they are
    named.
    """
    lessons = [each for each in (HOME, *LESSONS) if each.name in some_pages or not some_pages]
    rows: dict[str, list[Figure]] = {name: [] for name in names}
    with stage() as (browser, app, empty):
        for lesson in lessons:
            path = "" if lesson is HOME else lesson.name
            address = f"{app.url}/{path}?predict=off"
            watched, is_open = new_page(browser), False
            visit = Visit(lesson, watched, address, empty.now(), quick)
            for name in names:
                with tried(lesson.title) as found:
                    if not is_open:
                        watched.open(address)
                    is_open = False
                    found += TABLES[name].measure(visit)
                    is_open = True  # after what fails it is opened anew
                rows[name] += found
            watched.page.context.close()
    return {name: [TABLES[name].part(rows[name])] for name in names}


# --- page to page, and starts ---------------------------------------------------------------------


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
                title = "Home" if lesson is HOME else lesson.title
                with tried(f"to {title}") as rows:
                    moved = _follow(watched, title, lesson.title)
                    if number:
                        times.setdefault(title, []).append(moved)
                if rows:
                    broken[title] = rows[0]
                    watched.open(f"{app.url}/?predict=off")
    figures, reference = [*broken.values()], statistics.median(empties[1:])
    for title, each in times.items():
        whole = statistics.median(one.whole for one in each)
        numbers = {**spread([one.seen for one in each]), "whole": whole}
        numbers |= {"empty": reference, "whole × empty": whole / reference}
        figures.append(Figure(f"to {title}", numbers, {"whole × empty": 6}))
    how = (
        "A click on a link of the contents, from the click to the last change of what is in sight "
        "of the new page; *whole* until all of it is drawn, charts below the window included. "
        f"Every page has been visited before; {rounds} rounds in the order of the contents. "
        "*empty*: the slider of an empty page, before each round."
    )
    return [Part("Page to page", how, figures)]


def _follow(watched: Watched, title: str, heading: str) -> Moved:
    link = in_contents(watched.page, title)
    link.hover()
    watched.still()
    moved = watched.timed(link.click)
    found = watched.page.locator("[data-testid=stMain] h1").first.inner_text()
    if found != heading:
        raise RuntimeError(f"the link {title} led to {found}")
    return moved


STARTS = {
    "an empty Streamlit page, its heading": (HERE / "empty", "/", "heading", None),
    "the same, with torch, altair and pandas": (HERE / "imports", "/", "heading", None),
    "the home page, its heading": (ROOT, "/", "heading", 1.3),
    "a lesson, its first matrix": (ROOT, "/simplified_attention", "matrix", 2.5),
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
    figures = []
    for what, (*_, goal) in STARTS.items():
        numbers = {**spread(times[what]), "× empty": statistics.median(times[what]) / empty}
        figures.append(Figure(what, numbers, {"× empty": goal} if goal else {}))
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
        with AppServer(Path(logs) / "output.txt", folder) as server:
            server.wait_until_healthy()
            watched.open(server.url + path)
            return watched.page.evaluate(f"performance.timeOrigin + bench.{sign}") - began * 1_000


# --- many visitors --------------------------------------------------------------------------------

SESSIONS, RERUNS = 50, 600
AT_ONCE = 4
"""Reruns that are asked for at the same time while memory is measured."""
PEOPLE = f"{SESSIONS} sessions on {len(LESSONS)} lessons"


def resident_mib(app: AppServer) -> float:
    """Memory of a server's process that is in RAM, in MiB; 0 where the system does not tell."""
    try:
        lines = Path(f"/proc/{app.process.pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    (line,) = [line for line in lines if line.startswith("VmRSS:")]
    return int(line.split()[1]) / 1024


def memory(quick: bool) -> list[Part]:
    """Memory with one session, with 50, and after so many reruns."""
    with server() as app:
        return asyncio.run(_memory(app, 200 if quick else RERUNS))


async def _memory(app: AppServer, reruns: int) -> list[Part]:
    figures = []

    def note(what: str, most: dict[str, float], **more: float) -> float:
        now = resident_mib(app)
        print(f"  {what}: {now:.0f} MiB", flush=True)
        figures.append(Figure(what, {"MiB": now, **more}, most))
        return now

    visitors = [await Visitor(app.url, "simplified_attention").enter()]
    await asyncio.sleep(5)  # torch is loaded in the background
    await visitors[0].move()
    note("one session", {"MiB": 420})
    for at in range(1, SESSIONS):
        visitors.append(await Visitor(app.url, LESSONS[at % len(LESSONS)].name).enter())
    before = note(PEOPLE, {"MiB": 450})
    for more in ("", " more"):  # first what is kept for everybody fills, up to its bound
        for done in range(0, reruns, AT_ONCE):
            some = [visitors[(done + each) % SESSIONS] for each in range(AT_ONCE)]
            await asyncio.gather(*(visitor.move() for visitor in some))
        growth = {"growth in %": (resident_mib(app) / before - 1) * 100}
        before = note(f"after {reruns:,}{more} reruns", {"growth in %": 3}, **growth)
    for visitor in visitors:
        await visitor.leave()
    errors = sum(len(visitor.errors) for visitor in visitors)
    how = (
        "Resident memory of the server's process. The sessions speak Streamlit's own protocol "
        "without a browser, each on one lesson, and move its sliders in turn. "
        f"Errors shown on any page: {errors}."
    )
    return [Part("Memory", how, figures, unit="")]
