"""Every slider of every lesson: from the key to the settled picture, and the bytes it costs."""

import statistics
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

from attention_ui.streamlit_workarounds.visible_parts import REST

from attention_ui.controls.fields import MAX_TOKENS
from attention_ui.frame.contents import LESSONS
from attention_ui.lessons.flash_attention.lesson import least_tile
from browser_tools import unfold

from .figures import Figure, Part, spread
from .process import cpu_seconds
from .watching import Moved, Watched, new_page

START = {"predict": "off"}
VARIANTS = {
    "divide_by_sqrt_d": {
        "against d": {"vlook": "width"},
        "softmax": {"vlook": "attention"},
    },
}
"""Other looks at a lesson, which have sliders of their own."""
MOVES = 6
"""How often a slider is moved, after one move that is not counted."""
FIND = """() => [...document.querySelectorAll('[data-testid=stSlider]')].map((slider) => {
  const names = [...slider.closest('[class*=st-key-]').classList];
  return names.find((name) => name.startsWith('st-key-')).slice(7);
})"""


def sentence(tokens: int) -> dict[str, str]:
    """A text of so many different tokens."""
    words = " ".join(f"w{place}" for place in range(tokens))
    return {"sentence": words, "tokenizer": "blanks", "vocabulary": "distinct"}


def move(watched: Watched, key: str, moves: int) -> list[Moved]:
    """Move a slider so often, to and fro at its ends."""
    slider = watched.page.locator(f".st-key-{key} input").first
    moved = []
    direction = "ArrowRight"
    for count in range(moves + 1):
        now, least, most = slider.evaluate("(one) => [one.value, one.min, one.max]")
        if now == most:
            direction = "ArrowLeft"
        elif now == least:
            direction = "ArrowRight"
        slider.focus()
        one = watched.press(direction)
        assert slider.evaluate("(one) => one.value") != now, f"{key} does not move"
        if count:
            moved.append(one)
    return moved


def measured(server, address: str, key: str, moves: int, watched: Watched) -> dict[str, float]:
    """One slider of a page that is opened anew: times, bytes, processor time of the server."""
    watched.open(server.url + address)
    if not watched.page.locator(f".st-key-{key} input").first.is_visible():
        unfold(watched.page)
        watched.still()
    before = cpu_seconds(server.process.pid)
    moved = move(watched, key, moves)
    used = (cpu_seconds(server.process.pid) - before) / (moves + 1) * 1_000
    return {
        **spread([one.seen for one in moved]),
        "whole": statistics.median(one.all_of_it for one in moved),
        "kB": max(one.sent for one in moved) / 1_000,
        "plain kB": max(one.received for one in moved) / 1_000,
        "kB whole": max(one.sent_in_all for one in moved) / 1_000,
        "server": used,
    }


def pages(link: dict[str, str]) -> list[tuple[str, str]]:
    """Name and address of all lessons, and of other looks at them."""
    found = []
    for lesson in LESSONS:
        looks = {"": {}, **VARIANTS.get(lesson.name, {})}
        for look, more in looks.items():
            name = f"{lesson.title}, {look}" if look else lesson.title
            found.append((name, f"/{lesson.name}?{urlencode({**START, **more, **link})}"))
    return found


def sliders(browser, app, empty, link: dict[str, str], moves: int) -> Iterator[Figure]:
    """A figure for every slider of every lesson, with the empty page's beside those of a page."""
    beside = new_page(browser)
    for name, address in pages(link):
        watched = new_page(browser)
        watched.open(app.url + address)
        keys = watched.page.evaluate(FIND)
        if link:  # an open cell has as many sliders as with few tokens
            keys = [key for key in keys if key.startswith("control_")]
        reference = measured(empty, "", "control_value", moves, beside)["median"]
        for key in keys:
            numbers = measured(app, address, key, moves, watched)
            numbers |= {"empty": reference, "× empty": numbers["median"] / reference}
            figure = Figure(f"{name}: `{key.removeprefix('control_')}`", numbers, {})
            print(f"  {figure.what}: " + line(numbers), flush=True)
            yield figure
        watched.page.context.close()
    beside.page.context.close()


def with_goals(figure: Figure) -> Figure:
    """The goals at default size; the largest may be four times the empty page beside it."""
    largest = max(200.0, 4 * figure.numbers["empty"])
    return replace(figure, most={"median": 150, "90th": 250, "largest": largest, "kB": 40})


def line(numbers: dict[str, float]) -> str:
    """Numbers for the terminal."""
    return ", ".join(f"{name} {value:.4g}" for name, value in numbers.items())


def measure(browser, app, empty, quick: bool) -> list[Part]:
    """Every slider at default size."""
    moves = 3 if quick else MOVES
    how = (
        f"Every slider of every lesson at its default settings, moved {moves} times by a key, one "
        "page and one browser at a time. The clock is the page's own: from the key to the last "
        "change of what is in sight, in the document or as a stroke on a canvas. What is out of "
        f"sight is drawn when it is scrolled to, or when nothing has been moved for {REST:g} s: "
        "*whole* is the median until then, that wait included; *empty* the median of the empty "
        "page, measured beside each lesson; *kB* what goes over the network for the largest of "
        "the moves, both ways, *plain kB* the server's part of it before compression, *kB whole* "
        "what has gone over it when all of the page is drawn; *server* the processor time of the "
        "server for one move, all of the page included."
    )
    figures = [with_goals(figure) for figure in sliders(browser, app, empty, {}, moves)]
    return [Part("Slider key to settled picture", how, figures)]


def measure_long(browser, app, empty, _quick: bool) -> list[Part]:
    """Every slider of a lesson with as many tokens as the app allows."""
    how = (
        f"A sentence of {MAX_TOKENS} different tokens, which is the most that the app takes; each "
        "slider of a lesson is moved 3 times."
    )
    # Tiles as small as the table has room for: a smaller one would be another slider once moved.
    tile = str(least_tile(MAX_TOKENS))
    link = sentence(MAX_TOKENS) | {"tile_queries": tile, "tile_keys": tile}
    figures = [
        replace(figure, most={"median": 300}) for figure in sliders(browser, app, empty, link, 3)
    ]
    return [Part(f"Slider key to settled picture with {MAX_TOKENS} tokens", how, figures)]
