"""All that is measured on the page of a lesson, in a browser: how tall it is, the pointer, a click,
its sliders, and the controls that its pictures carry.

Each page is opened once, as its example starts, and all parts that are asked for are measured on
it; the slider of an empty page is timed beside each. Sliders and pictures are those that are found
on the page.
"""

import re
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from attention_ui.controls.fields import MAX_TOKENS
from attention_ui.frame.contents import HOME, LESSONS, Lesson

from .figures import Figure, Part, spread, tried
from .watching import Moved, Watched, changed, new_page, stage

MOVES, CELLS, STOPS, CLICKS = 6, 12, 24, 6
"""How often a slider is moved, a cell pointed at, a control in a picture dragged on, a cell clicked
on: each after one or two times that are not counted."""
LONG = {
    "sentence": " ".join(f"w{place}" for place in range(MAX_TOKENS)),
    **{"tokenizer": "blanks", "vocabulary": "distinct"},
}
"""A text of as many different tokens as the app takes."""
SLIDERS = """() => [...document.querySelectorAll('[data-testid=stSlider]')]
  .filter((one) => one.checkVisibility() && !one.querySelector('input:disabled'))
  .map((one) => [...one.closest('[class*=st-key-control_]').classList]
    .find((name) => name.startsWith('st-key-control_')))"""
IN_PICTURES = """() => [...document.querySelectorAll('[class*=st-key-moves_]')]
  .filter((one) => one.checkVisibility() && one.querySelector('input[type=range]')
    && !one.querySelector('[data-testid=stSlider]'))
  .map((one) => [...one.classList].find((name) => name.startsWith('st-key-moves_')).slice(13))"""
HEIGHTS = """() => [
  document.querySelector('[data-testid=stMainBlockContainer]').scrollHeight, bench.shift(),
  [...document.querySelectorAll('[class*=st-key-card_]')].map((card) => [
    [...card.classList].find((name) => name.startsWith('st-key-card_')).slice(12),
    Math.round(card.getBoundingClientRect().height)])]"""
# The places of the cells of a picture in the window; of one on a canvas, those of a grid over it.
PLACES = """(card) => {
  const drawn = document.querySelector(`.st-key-drawn_${card}`);
  drawn.scrollIntoView({ block: 'center' });
  const middle = ({ x, y, width, height }) => [x + width / 2, y + height / 2];
  const all = [...drawn.querySelectorAll('svg .cells_marks path')];
  const numbers = all.filter(({ __data__ }) => __data__?.datum.look !== 'token box');
  const cells = (numbers.length ? numbers : all).map((one) => middle(one.getBoundingClientRect()));
  const { x, y, width, height } = drawn.getBoundingClientRect();
  const grid = [...Array(240).keys()]
    .map((at) => [x + (at % 20 + .5) * width / 20, y + (Math.floor(at / 20) + .5) * height / 12]);
  return (cells.length ? cells : grid)
    .filter(([x, y]) => drawn.contains(document.elementFromPoint(x, y)));
}"""
PICTURES = """() => [...document.querySelectorAll('[class*=st-key-drawn_]')]
  .filter((one) => one.checkVisibility())
  .map((one) => [[...one.classList].find((name) => name.startsWith('st-key-drawn_')).slice(13),
    one.querySelectorAll('svg .cells_marks path').length || one.querySelectorAll('canvas').length])
  .filter(([, cells]) => cells)"""
# As a hand that drags it: the input moves on by three steps, and the next time comes before the
# browser tells the server. What counts is the last change in the picture.
DRAG = """async ([card, times]) => {
  const input = document.querySelector(`.st-key-moves_${card} input`), took = [];
  const step = Number(input.step), n = Math.round((input.max - input.min) / step);
  let at = Math.round((input.value - input.min) / step), way = Math.min(3, n);
  for (let time = 0; time <= times; time++) {
    if (at + way < 0 || at + way > n) way = -way;
    if (at + way < 0 || at + way > n) way = Math.sign(way);
    at += way;
    bench.begin();
    input.value = Number(input.min) + at * step;
    input.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 60)));
    took.push(bench.seen(`.st-key-drawn_${card}`));
  }
  return took;
}"""


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

    def moved(self, key: str, count: int) -> Iterable[Moved]:
        """A slider, moved so often."""
        return self.watched.move(key, self.times(count))

    def against(self, seen: float, whole: float | None = None) -> dict[str, float]:
        """The empty page's time, and how many times that something has taken."""
        more = {} if whole is None else {"whole × empty": whole / self.empty}
        return {"empty": self.empty, "× empty": seen / self.empty, **more}


@dataclass(frozen=True)
class Measured:
    """A table about all lessons."""

    title: str
    how: str
    measure: Callable[[Visit], Iterable[Figure]]
    unit: str = "ms"
    whole: float | None = None
    """Where the rows are summed up, the goal of the median until all of the page is settled."""
    link: tuple[tuple[str, str], ...] = ()
    """What the address says beside the example's own."""

    def part(self, rows: list[Figure]) -> Part:
        """The table, with what sums it up above its rows."""
        above = [] if self.whole is None else summed_up(rows, self.whole)
        return Part(self.title, self.how, above + rows, self.unit)


def summed_up(rows: list[Figure], goal: float) -> list[Figure]:
    """The median of all rows and the worst of them."""
    names = ("× empty", "whole × empty")
    steps = [each.numbers for each in rows if names[0] in each.numbers]
    return [
        Figure(what, {name: taken(each[name] for each in steps) for name in names}, goals)
        for what, taken, goals in (
            ("**The median of all rows**", statistics.median, {names[0]: 2.0, names[1]: goal}),
            ("**The worst of all rows**", max, {names[0]: 4.0}),
        )
        if steps
    ]


def heights(visit: Visit) -> list[Figure]:
    """How tall the page and its cards are, and how much moved while it was loaded."""
    whole, shift, cards = visit.watched.page.evaluate(HEIGHTS)
    is_home = visit.lesson is HOME
    tall = {name: height for name, height in cards if height > 600}
    note = ", ".join(f"`{name}` {height}" for name, height in tall.items())
    numbers = {"page": whole, "cards": len(cards), "layout shift": shift}
    if cards:
        numbers["tallest card"] = max(height for _, height in cards)
    most = {"page": 900 if is_home else 3_500, "tallest card": 600, "layout shift": 0.1}
    return [Figure(visit.lesson.title, numbers, most, note)]


def pointer(visit: Visit) -> list[Figure]:
    """The pointer, from cell to cell of the picture that has most of them."""
    watched = visit.watched
    pictures = watched.page.evaluate(PICTURES)
    if not pictures:
        return []
    card, _ = max(pictures, key=lambda one: one[1])
    places = watched.page.evaluate(PLACES, card)
    watched.still()
    sent, middle = watched.sent, len(places) // 2
    some = [places[(7 * at + middle) % len(places)] for at in range(visit.times(CELLS) + 1)]
    numbers = spread(watched.point(some, f".st-key-drawn_{card}"))
    if watched.sent != sent:
        raise RuntimeError(f"{watched.sent - sent} messages were sent while pointing")
    most = {"× empty": 0.23 if visit.lesson.name == "whole_layer" else 20 / 44}
    numbers |= visit.against(numbers["median"])
    return [Figure(f"{visit.lesson.title}: `{card}`", numbers, most)]


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
            watched.page.evaluate(PLACES, card)  # scrolls to it
            watched.still()
            sent = watched.sent
            times = watched.page.evaluate(DRAG, [card, visit.times(STOPS)])
            asked = watched.sent - sent
            watched.still()
            numbers = {**spread(changed(times[1:], "the control")), "messages": asked}
            moved = watched.move(f"st-key-moves_{card}", visit.times(3))
            seen, whole = map(statistics.median, zip(*moved, strict=True))
            numbers |= {"key, settled": seen, "whole": whole, **visit.against(seen, whole)}
            most = {"median": 16.0}
            if visit.lesson.name == "whole_layer":
                most["× empty"] = 3.0
            rows.append(Figure(what, numbers, most))
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
    is_layer = visit.lesson.name == "whole_layer"
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
            what = f"{visit.lesson.title}: `{name}`"
            key, goals = keys[name], {"× empty": 3.0} if is_layer else {}
            if is_layer and name in ("d_model", "n_heads"):
                yield from _to_largest(visit, f"{what} to its largest", key)
            yield from _slider(visit, what, lambda key=key: visit.moved(key, MOVES), goals)


def called(key: str) -> str:
    """A slider's name, without what tells its choices apart."""
    return re.sub(r"(_\d+_\d+)?$", "", key.removeprefix("st-key-control_"), count=1)


def _slider(
    visit: Visit, what: str, moves: Callable[[], Iterable[Moved]], goals: dict[str, float]
) -> Iterable[Figure]:
    with tried(what) as rows:
        seen, whole = map(list, zip(*moves(), strict=True))
        rows.append(_row(visit, what, seen, statistics.median(whole), goals))
    if rows[-1].has_failed:
        visit.watched.open(visit.address)
    yield from rows


def _row(
    visit: Visit, what: str, seen: list[float], whole: float, goals: dict[str, float]
) -> Figure:
    if not whole:  # it waits for a button
        return Figure(what, {}, note="changes nothing by itself")
    counted = [each for each in seen if each]
    if len(counted) < 2:
        raise RuntimeError("it changes nothing in sight")
    against = visit.against(statistics.median(counted), whole)
    print(f"  {what}: {against['× empty']:.2f}, {against['whole × empty']:.2f}", flush=True)
    few = f"{len(counted)} of {len(seen)} moves changed something in sight: these are counted"
    note = few if len(counted) < len(seen) else ""
    return Figure(what, {**spread(counted), "whole": whole, **against}, goals, note)


def _to_largest(visit: Visit, what: str, key: str) -> Iterable[Figure]:
    slider = visit.watched.page.locator(f".{key} input").first

    def moves() -> Iterable[Moved]:
        for count in range(visit.times(3) + 1):
            visit.watched.press_on(slider, "Home")
            moved = visit.watched.press_on(slider, "End")
            if count:
                yield moved

    yield from _slider(visit, what, moves, {"× empty": 6.0})
    visit.watched.open(visit.address)


def long_text(visit: Visit) -> Iterable[Figure]:
    """The width of the vectors, on every page that shows the text."""
    for key in visit.watched.page.evaluate(SLIDERS):
        if called(key) == "d_in":
            moves = lambda key=key: visit.moved(key, 3)  # noqa: E731
            yield from _slider(visit, f"{visit.lesson.title}: `d_in`", moves, {})


def clicks(visit: Visit) -> Iterable[Figure]:
    """Clicks on cells of the first picture whose cells can be taken apart."""
    watched, title = visit.watched, visit.lesson.title
    for card, _ in watched.page.evaluate(PICTURES):
        times: list[Moved] = []
        for number in range(visit.times(CLICKS) + 1):
            # The last cells are those of the result; and each time another is chosen.
            places = watched.page.evaluate(PLACES, card)[::-1]
            place = places[(number * 3 + 1) % len(places)]
            watched.page.mouse.move(*place)
            watched.page.wait_for_timeout(250)  # what pointing at it changes is not counted
            one = watched.click(*place)
            if not watched.page.locator(f".st-key-cell_{card}").count():
                break
            times.append(one)
        if len(times) > 1:
            numbers = spread(changed([one.whole for one in times[1:]], "a click"))
            numbers |= visit.against(numbers["median"])
            return [Figure(f"{title}: `{card}`", numbers, {"× empty": 2.5})]
    return []


SEEN = (
    "The clock is the page's own: to the last change of what is in sight in the main area, in the "
    "document or as a stroke on a canvas, and *whole* to the last change anywhere on the page; "
    "what a slider shows of itself counts for neither. "
)
TABLES = {
    "heights": Measured(
        "Heights and layout shift",
        "Pixels at 1280 × 900, each page as its example starts, its rows closed; *note*: cards "
        "taller than 600. *layout shift*: the page's Cumulative Layout Shift while it is loaded.",
        heights,
        unit="px",
    ),
    "pointing": Measured(
        "Pointer to outline",
        "The pointer goes from cell to cell of the picture with most cells of each page; from the "
        "event to the last change in the picture. Not one message went to the server meanwhile.",
        pointer,
    ),
    "moves": Measured(
        "Slider key to settled picture",
        f"Every slider of every page as its example starts, moved {MOVES} times by a key, after "
        f"two that are not counted; those of *Go deeper* with that row open. {SEEN}Where "
        "nothing that a slider changes is in sight, the page is scrolled to the first of it. "
        "*empty*: the slider of an empty page, beside each.",
        sliders,
        whole=6.0,
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
    "clicks": Measured(
        "Click on a cell to its arithmetic",
        "Clicks on different cells of the first picture of each page that has some to take apart, "
        "to the last change of the page; by then the cell's arithmetic is there.",
        clicks,
    ),
    "long": Measured(
        f"Slider key to settled picture with {MAX_TOKENS} tokens",
        f"A sentence of {MAX_TOKENS} different tokens, which is the most that the app takes; "
        "`d_in` of every page that shows it is moved 3 times.",
        long_text,
        whole=15.0,
        link=tuple(LONG.items()),
    ),
}
"""By the part's name, in the order in which they are measured on a page."""


def measure(names: list[str], some_pages: list[str], quick: bool) -> dict[str, list[Part]]:
    """The tables of these names: every page is opened once for all that need the same link. Of some
    pages, where they are named.
    """
    lessons = [each for each in (HOME, *LESSONS) if each.name in some_pages or not some_pages]
    rows: dict[str, list[Figure]] = {name: [] for name in names}
    with stage() as (browser, app, empty):
        for link in dict.fromkeys(TABLES[name].link for name in names):
            some = [name for name in TABLES if name in names and TABLES[name].link == link]
            for lesson in lessons:
                path = "" if lesson is HOME else lesson.name
                address = f"{app.url}/{path}?{urlencode({'predict': 'off', **dict(link)})}"
                watched, is_open = new_page(browser), False
                visit = Visit(lesson, watched, address, empty.now(), quick)
                for name in some:
                    with tried(lesson.title) as found:
                        if not is_open:
                            watched.open(address)
                        is_open = False
                        found += TABLES[name].measure(visit)
                        is_open = True  # after what fails it is opened anew
                    rows[name] += found
                watched.close()
    return {name: [TABLES[name].part(rows[name])] for name in names}
