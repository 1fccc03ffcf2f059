"""Time in a real browser: from a key or a click to the last change of the picture.

The clock is the page's own. It starts when the page is told of the key, and the last change stops
it, of what is in sight or of all the page, be it of the document or a stroke on a canvas; once the
script has ended and nothing has moved for a while. What a widget shows of itself (the thumb of a
slider, a ring of the focus) is no part of the picture.
"""

import statistics
import time
from collections.abc import Iterable
from contextlib import contextmanager
from typing import NamedTuple

from playwright.sync_api import Page, WebSocket, sync_playwright

from browser_tools import BUSY, WATCH_RUNS
from serving import launch_chromium

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
    received: int
    """Bytes from the server, before they are compressed."""


class Watched:
    """A page that is timed, and whose messages are counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.received = self.sent = 0
        page.add_init_script(WATCH_RUNS)
        page.add_init_script(WATCH)
        page.on("websocket", self._listen)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._count)
        socket.on("framesent", self._count_sent)

    def _count(self, payload: str | bytes) -> None:
        self.received += len(payload)

    def _count_sent(self, _: str | bytes) -> None:
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
        self.received = 0
        act()
        # Until the browser asks the server it may wait: nothing is still before.
        time.sleep(0.05)
        self.still()
        seen, whole = self.page.evaluate("[bench.seen(), bench.whole()]")
        return Moved(seen, whole, self.received)

    def close(self) -> None:
        """Leave, and forget the profile."""
        self.page.context.close()


class Empty:
    """An empty page beside those that are measured: what its slider takes now is the unit."""

    def __init__(self, browser, url: str) -> None:
        self.watched = new_page(browser)
        self.watched.open(url)
        self.watched.page.locator("input").first.focus()

    def now(self, moves: int = 5) -> float:
        """Milliseconds of its slider: the median of so many moves after the first."""
        self.watched.page.bring_to_front()
        return median(
            self.watched.press(f"Arrow{'Left' if at % 2 else 'Right'}").seen
            for at in range(moves + 1)
        )


def median(times: Iterable[float]) -> float:
    """The median, without the first of them, in which something may be made for the first time."""
    _, *counted = times
    return statistics.median(counted)


@contextmanager
def chromium():
    """A browser, for as long as it is needed."""
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        yield browser
        browser.close()


def new_page(browser, **options) -> Watched:
    """A page of a new profile, 1280 by 900, with reduced motion."""
    options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}
    return Watched(browser.new_context(**options).new_page())
