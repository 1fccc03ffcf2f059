"""Time in a real browser: from a key or a click to the last change of the picture.

The clock is the page's own. It starts when the page is told of the key, and the last change stops
it, of what is in sight or of all the page, be it of the document or a stroke on a canvas; once the
script has ended and nothing has moved for a while. What a widget shows of itself (the thumb of a
slider, a ring of the focus) is no part of the picture.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

from browser_tools import BUSY, WATCH_RUNS
from serving import ROOT, AppServer, launch_chromium, start_server

from . import HERE

# Every server is measured with the model that everybody has, whatever is installed here.
os.environ["ATTENTION_EXPLORER_MODEL"] = "tiny"

QUIET = 0.3
"""Seconds without a change, after which a page counts as settled: more than the 0.2 s for which the
browser waits until it tells the server of a control in a picture."""

WATCH = """
(() => {
  const bench = window.bench = { began: 0, changed: 0, changes: new Map(), shifts: [] };
  bench.begin = () => {
    bench.began = bench.changed = performance.now();
    bench.changes.clear();
  };
  const note = (element) => {
    bench.changed = performance.now();
    bench.changes.set(element, bench.changed);
  };
  // What changed of the main area, where it stands in the window, and when.
  const inMain = () => [...bench.changes]
    .filter(([element]) => element.isConnected && element.closest('[data-testid=stMain]'))
    .map(([element, time]) => [element, time, element.getBoundingClientRect()])
    .filter(([, , { width, height }]) => width && height);
  // Milliseconds to the last change of the page, and of what a person sees without scrolling; 0
  // where nothing changed.
  bench.whole = () => Math.max(bench.began, ...bench.changes.values()) - bench.began;
  bench.seen = (within) => Math.max(bench.began, ...inMain()
    .filter(([element, , { top, bottom }]) =>
      bottom > 0 && top < innerHeight && (!within || element.closest(within)))
    .map(([, time]) => time)) - bench.began;
  // Bring the first of it into sight.
  bench.show = () => inMain().sort(([, , one], [, , other]) => one.top - other.top)[0]?.[0]
    .scrollIntoView({ block: 'center' });
  // Cumulative Layout Shift: the most within 5 s, without a gap of 1 s (web.dev/articles/cls).
  bench.shift = () => {
    let most = 0, sum = 0, first = -Infinity, last = -Infinity;
    for (const { startTime, value } of bench.shifts) {
      if (startTime - last > 1000 || startTime - first > 5000) [sum, first] = [0, startTime];
      [sum, last] = [sum + value, startTime];
      most = Math.max(most, sum);
    }
    return most;
  };
  addEventListener('error', ({ message }) => { bench.error = message; });
  addEventListener('keydown', bench.begin, true);
  addEventListener('click', bench.begin, true);
  const first = (selector) =>
    document.querySelector(`[data-testid=stMain] ${selector}`) ? performance.now() : undefined;
  // What only says that something runs is no part of the picture, nor what shows when it is
  // pointed at, nor where a link goes, nor the class by which Streamlit marks elements as new.
  const talk = '[data-testid=stStatusWidget], [data-testid=stToolbar], [data-testid=stHeader], ' +
    '.vg-tooltip, [data-testid^=stElementToolbar], [data-testid=stSlider], [class*=st-key-moves_]';
  const unseen = (name, element) => name.startsWith('data-') || name === 'href' ||
    (name === 'class' && element.matches('.stElementContainer, .stVerticalBlock'));
  // Asked once of an element, not at each of its thousands of changes: the clock must not be what
  // takes the time.
  const known = new WeakMap();
  const counts = (element) => {
    if (!known.has(element))
      known.set(element, !!element.closest('[data-testid=stApp]') && !element.closest(talk));
    return known.get(element);
  };
  new MutationObserver((records) => {
    for (const { target, type, attributeName, addedNodes } of records) {
      const element = target.nodeType === 1 ? target : target.parentElement;
      if (!element || !counts(element)) continue;
      if (type === 'attributes' && unseen(attributeName, element)) continue;
      // Not the block that may be as tall as the page, but what is new in it.
      const added = [...addedNodes].filter((one) => one.nodeType === 1 && counts(one));
      for (const one of added.length ? added : [element]) note(one);
    }
    bench.heading ??= first('h1');
    bench.matrix ??= first('[data-testid=stVegaLiteChart] :is(svg .cells_marks path, canvas)');
  }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) bench.shifts.push(one);
  }).observe({ type: 'layout-shift', buffered: true });
  const canvas = CanvasRenderingContext2D.prototype;
  for (const name of ['fill', 'fillRect', 'fillText', 'stroke', 'drawImage']) {
    const draw = canvas[name];
    canvas[name] = function (...given) {
      // Not what measures a text beside the page.
      if (this.canvas.isConnected) note(this.canvas);
      return draw.apply(this, given);
    };
  }
})()
"""
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
        self.page, self.sent = page, 0
        page.add_init_script(WATCH_RUNS)
        page.add_init_script(WATCH)
        page.on("websocket", lambda socket: socket.on("framesent", self._count))

    def _count(self, _: str | bytes) -> None:
        self.sent += 1

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

    def press(self, key: str) -> Moved:
        """Press a key where the focus is."""
        return self._timed(lambda: self.page.keyboard.press(key))

    def click(self, x: float, y: float) -> Moved:
        """The same for a click at a place of the window."""
        return self._timed(lambda: self.page.mouse.click(x, y))

    def _timed(self, act) -> Moved:
        act()
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
            elif count and not one.seen:
                self.page.evaluate("bench.show()")
                self.still()
        for _ in range(abs(net)):
            self.page.keyboard.press("ArrowLeft" if net > 0 else "ArrowRight")
            self.page.wait_for_timeout(20)
        self.still()

    def press_on(self, slider, key: str) -> Moved:
        """Press a key on a slider, which need not be in sight."""
        slider.evaluate("(one) => one.focus({ preventScroll: true })")
        return self.press(key)

    def point(self, places: Sequence[tuple[float, float]], within: str = "") -> list[float]:
        """The pointer goes from place to place: to the last change, `within` a part of the page if
        it is named. The first is not counted.
        """
        times = []
        for place in places:
            self.page.evaluate(
                "addEventListener('pointerover', bench.begin, { capture: true, once: true })"
            )
            self.page.mouse.move(*place)
            self.page.wait_for_timeout(180)
            times.append(self.page.evaluate("(within) => bench.seen(within)", within))
        self.page.mouse.move(2, 2)
        return changed(times[1:], "the pointer")

    def close(self) -> None:
        """Leave, and forget the profile."""
        self.page.context.close()


def changed(times: list[float], what: str) -> list[float]:
    """The times after which something was another; raises where that was seldom."""
    found = [time for time in times if time > 0]
    if len(found) * 2 < len(times):
        raise RuntimeError(f"{what} changed the picture {len(found)} times of {len(times)}")
    return found


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
        keys = ["ArrowRight", "ArrowLeft"] * 3
        _, *counted = [self.watched.press(key).seen for key in keys]
        return statistics.median(counted)


class Stage(NamedTuple):
    """What a page is measured on: a browser, the app's server, and an empty page beside it."""

    browser: Browser
    app: AppServer
    empty: Empty


@contextmanager
def server(folder: Path = ROOT, **process) -> Iterator[AppServer]:
    """The app, or what lies in another folder, for as long as it is needed."""
    with tempfile.TemporaryDirectory() as logs:
        started = start_server(Path(logs) / "output.txt", folder, **process)
        try:
            yield started
        finally:
            started.stop()


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
