"""The page of a real model in a browser: all heads of SmolLM2 drawn again, and one head down to its
numbers, after a click on it.
"""

import os
import statistics
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from attention_ui.frame.models import ALONE, MODEL
from serving import start_server

from . import lessons
from .figures import Figure, Part, spread
from .watching import Empty, chromium, new_page

LENGTHS, CLICKS = (14, 64, 256), 7
TEXT = "the man and the dog sat in the house when they came to see what the other had "
"""Each word is a token."""
HOW = (
    "A click on one of the 270 heads, from the click to the last change of the picture of all "
    "heads (*median*), and to that of the card *Down to its numbers*, in a window in which both "
    "are in sight. *empty*: the slider of an empty page; *layer*: `d_model` of *The whole layer*, "
    "moved by a key, with as many tokens, at most 64; both in the same run. Needs `make model`."
)
WINDOW = {"viewport": {"width": 1280, "height": 2_400}}
SQUARES = """() => [...document.querySelectorAll('.st-key-card_heads .vega-embed svg path')]
  .map((one) => one.getBoundingClientRect())
  .filter(({ width, height }) => width > 15 && Math.abs(width - height) < 1)
  .map(({ x, y, width }) => [x + width / 2, y + width / 2])"""


def measure(quick: bool) -> list[Part]:
    """With a server of its own, since others have the tiny language alone."""
    settings = {name: each for name, each in os.environ.items() if name != MODEL} | {ALONE: "1"}
    with tempfile.TemporaryDirectory() as logs, chromium() as browser:
        app = start_server(Path(logs) / "output.txt", env=settings)
        empty_app = start_server(Path(logs) / "empty.txt", Path(__file__).parent / "empty")
        try:
            beside = Empty(browser, empty_app.url)
            figures = [
                _clicks(browser, app.url, length, 2 if quick else CLICKS, beside.now())
                for length in LENGTHS
            ]
        finally:
            app.stop(), empty_app.stop()
    return [Part("A real model’s page", HOW, figures)]


def _layer(browser, url: str, length: int) -> float:
    watched = new_page(browser, **WINDOW)
    words = " ".join(lessons.LONG["sentence"].split()[:length])
    watched.open(f"{url}/whole_layer?{urlencode({**lessons.LONG, 'sentence': words})}&predict=off")
    (key,) = (
        each for each in watched.page.evaluate(lessons.SLIDERS) if lessons.called(each) == "d_model"
    )
    took = statistics.median(each.seen for each in lessons.move(watched, key, 3))
    watched.close()
    return took


def _clicks(browser, url: str, length: int, times: int, empty: float) -> Figure:
    watched = new_page(browser, **WINDOW)
    words = (TEXT * 20).split()[:length]
    link = urlencode({"predict": "off", "model": "smollm", "prompt": " ".join(words)})
    watched.open(f"{url}/real_model?{link}")
    watched.page.locator(".st-key-card_numbers").wait_for(timeout=60_000)
    watched.still()
    heads, numbers = [], []
    for time in range(times + 1):
        squares = watched.page.evaluate(SQUARES)
        watched.page.mouse.click(*squares[(97 * time + 40) % len(squares)])
        watched.page.mouse.move(2, 2)  # else what then stands under it is pointed at
        watched.page.wait_for_timeout(50)
        watched.still()
        heads.append(watched.page.evaluate("bench.seen('.st-key-card_heads')"))
        numbers.append(watched.page.evaluate("bench.seen('.st-key-card_numbers')"))
    watched.close()
    found = {**spread(heads[1:]), "numbers": statistics.median(numbers[1:])}
    found |= {"empty": empty, "× empty": found["median"] / empty}
    layer = _layer(browser, url, length)
    found |= {"layer": layer, "numbers × layer": found["numbers"] / layer}
    return Figure(f"{length} tokens", found, {"× empty": 10.0, "numbers × layer": 1.0})
