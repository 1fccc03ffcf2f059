"""Time in a real browser: from a key or a click to the last change of the picture.

The clock is the page's own. It starts when the page is told of the key, and the last change of what
is in sight stops it, or of all the page, be it of the document or a stroke on a canvas; once the
script has ended and nothing has moved for a while.
"""

import time
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Page, WebSocket, sync_playwright

from browser_tools import BUSY, WATCH_RUNS
from serving import launch_chromium

QUIET = 0.4  # less than `attention_ui.streamlit_workarounds.visible_parts.REST`
"""Seconds without a change, after which a page counts as settled."""

WATCH = """
(() => {
  const bench = window.bench = { began: 0, changed: 0, changes: new Map() };
  const begin = () => {
    bench.began = bench.changed = performance.now();
    bench.changes.clear();
  };
  const note = (element) => {
    bench.changed = performance.now();
    bench.changes.set(element, bench.changed);
  };
  // The last change of something that a person sees without scrolling.
  bench.seen = () => {
    const times = [...bench.changes].filter(([element]) => {
      const { top, bottom, width, height } = element.getBoundingClientRect();
      return element.isConnected && width && height && bottom > 0 && top < innerHeight;
    }).map(([, time]) => time);
    return Math.max(bench.began, ...times);
  };
  addEventListener('keydown', begin, true);
  addEventListener('click', begin, true);
  const first = (selector) =>
    document.querySelector(`[data-testid=stMain] ${selector}`) ? performance.now() : undefined;
  // What only says that something runs is no part of the picture, nor what shows when it is
  // pointed at, nor where a link goes, nor the class by which Streamlit marks elements as new.
  const talk = '[data-testid=stStatusWidget], [data-testid=stToolbar], [data-testid=stHeader], ' +
    '.vg-tooltip, [data-testid^=stElementToolbar]';
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
    for (const { target, type, attributeName } of records) {
      const element = target.nodeType === 1 ? target : target.parentElement;
      if (!element || bench.changes.get(element) > performance.now() - 1) continue;
      if (!counts(element)) continue;
      if (type !== 'attributes' || !unseen(attributeName, element)) note(element);
    }
    bench.heading ??= first('h1');
    bench.matrix ??= first('[data-testid=stVegaLiteChart] svg .mark-rect path');
  }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const canvas = CanvasRenderingContext2D.prototype;
  for (const name of ['fill', 'fillRect', 'fillText', 'stroke', 'drawImage']) {
    const draw = canvas[name];
    canvas[name] = function (...given) { note(this.canvas); return draw.apply(this, given); };
  }
})()
"""
STILL = f"""([quiet, allOfIt]) => {{
  const later = 'parts out of sight wait to be drawn';
  const busy = ({BUSY})().filter((what) => allOfIt || what !== later);
  const now = performance.now(), runs = window.testRuns;
  if (busy.length) {{ window.bench.busy = now; return false; }}
  return now - Math.max(window.bench.changed, window.bench.busy ?? 0, runs.ended) > quiet;
}}"""


class Moved(NamedTuple):
    """What a key or a click has set going."""

    seen: float
    """Milliseconds to the last change of what is in sight."""
    all_of_it: float
    """Milliseconds to the last change of the page, what is out of sight included."""
    received: int
    """Bytes from the server until what is in sight is settled, before they are compressed."""
    sent: int
    """Bytes on the way meanwhile, both ways, with all that the network adds."""
    sent_in_all: int
    """The same until all of the page is drawn."""


class Watched:
    """A page that is timed, and whose messages from the server are weighed."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.received = 0
        page.add_init_script(WATCH_RUNS)
        page.add_init_script(WATCH)
        page.on("websocket", self._listen)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._count)

    def _count(self, payload: str | bytes) -> None:
        self.received += len(payload)

    def open(self, address: str) -> None:
        """Go to an address and wait until the page is still."""
        self.page.goto(address, timeout=60_000)
        self.still()

    def still(self, all_of_it: bool = True) -> None:
        """Wait until the page has been at rest for a while, or what is in sight of it."""
        wanted = [QUIET * 1000, all_of_it]
        self.page.wait_for_function(STILL, arg=wanted, polling=20, timeout=60_000)

    def press(self, key: str) -> "Moved":
        """Press a key where the focus is."""
        return self._timed(lambda: self.page.keyboard.press(key))

    def click(self, x: float, y: float) -> "Moved":
        """The same for a click at a place of the window."""
        return self._timed(lambda: self.page.mouse.click(x, y))

    def _timed(self, act) -> "Moved":
        self.received, before = 0, on_the_way()
        act()
        # Until the browser asks the server it may wait: nothing is still before.
        time.sleep(0.05)
        self.still(all_of_it=False)
        seen = self.page.evaluate("bench.seen() - bench.began")
        received, sent = self.received, on_the_way() - before
        self.still()
        all_of_it = self.page.evaluate("bench.changed - bench.began")
        return Moved(seen, all_of_it, received, sent, on_the_way() - before)


def on_the_way() -> int:
    """All bytes that this machine has sent to itself so far; Linux tells."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.strip().startswith("lo:"))


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
