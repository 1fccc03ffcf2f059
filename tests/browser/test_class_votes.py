"""A class in real browsers, each a profile of its own: no vote is lost or counted twice."""

import asyncio
import threading
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from browser_tools import click, make_class, open_row, settled, soon
from serving import HANG

LESSON = "simplified_attention?example=wild_cat"
IS_IN = "Your answer is in"


class Line:
    """A line to the app's server that can be held (nothing arrives), cut and mended, or slow."""

    def __init__(self, url):
        self.port = urlsplit(url).port
        self.held = self.is_cut = False
        self.pause = 0.0
        self._writers = set()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        self._ready.wait()

    async def _serve(self):
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._ready.set()
        await self._end.wait()
        server.close()

    async def _connected(self, reader, writer):
        if self.is_cut:
            writer.transport.abort()
            return
        there, to = await asyncio.open_connection("127.0.0.1", self.port)
        self._writers |= {writer, to}
        with suppress(OSError):
            await asyncio.gather(self._carry(reader, to), self._carry(there, writer))

    async def _carry(self, reader, writer):
        while data := await reader.read(1 << 16):
            await asyncio.sleep(self.pause)
            while self.held:
                await asyncio.sleep(0.02)
                if writer.transport.is_closing():
                    return
            writer.write(data)
            await writer.drain()
        writer.close()

    def cut(self):
        def abort():
            self.is_cut, self.held = True, False
            for each in self._writers:
                each.transport.abort()
            self._writers.clear()

        self._loop.call_soon_threadsafe(abort)

    def mend(self):
        self.is_cut = False

    def close(self):
        self._loop.call_soon_threadsafe(self._end.set)


@pytest.fixture
def line(app_url):
    made = Line(app_url)
    yield made
    made.close()


@pytest.fixture
def wall(new_page, app_url):
    """The teacher's side of a new class, and its link."""
    page = new_page(viewport={"width": 1920, "height": 1080})
    page.link = make_class(page, app_url, LESSON)
    return page


def joins(page, wall, through=""):
    link = urlsplit(wall.link)
    page.goto(f"{through or f'{link.scheme}://{link.netloc}'}{link.path}")
    settled(page)
    return page


def acts(wall, name):
    click(wall.locator(".st-key-class").get_by_role("button", name=name, exact=True))


def part(page):
    return page.locator(".st-key-class")


def choices(page):
    return part(page).locator("[data-testid=stButtonGroup] button")


def is_asked(page):
    soon(page, lambda: choices(page).count() > 0)
    settled(page)


def count(wall):
    return wall.locator(".st-key-class_count").inner_text()


def told(page):
    return part(page).inner_text()


def heard(page):
    """What a screen reader was told last."""
    return page.locator("#class_heard").inner_text()


def bars(page):
    return part(page).locator("[data-testid=stVegaLiteChart]")


def said_of(page):
    return bars(page).get_attribute("aria-label") or bars(page).inner_text()


def test_reload_two_tabs_and_back_are_one_vote(wall, new_page):
    ann, bob = joins(new_page(), wall), joins(new_page(), wall)
    soon(wall, lambda: "2 here" in told(wall))
    acts(wall, "Ask the class")
    is_asked(ann)
    choices(ann).nth(0).click()
    soon(ann, lambda: IS_IN in told(ann))
    ann.reload()
    settled(ann)
    assert "0: The" in told(ann)
    assert IS_IN in told(ann)
    with ann.context.new_page() as tab:
        joins(tab, wall)
        is_asked(tab)
        assert IS_IN in told(tab)
        choices(tab).nth(1).click()
        soon(tab, lambda: "in: 1, 3" in told(tab).replace("\n", " ").replace("  ", " "))
    ann.locator(".st-key-contents a").filter(has_text="The causal mask").first.click()
    settled(ann)
    assert IS_IN in told(ann)
    choices(ann).nth(2).click()
    soon(ann, lambda: "2: dog" in told(ann).partition(IS_IN)[2])
    ann.go_back()
    settled(ann)
    soon(ann, lambda: "2: dog" in told(ann).partition(IS_IN)[2])
    is_asked(bob)
    assert heard(bob) == "Your teacher asks a question."
    assert heard(ann) == "Your answer is in."
    assert heard(wall) == ""
    choices(bob).nth(2).click()
    soon(bob, lambda: IS_IN in told(bob))
    soon(wall, lambda: count(wall), "2 of 2 have answered")
    assert bars(wall).count() == bars(ann).count() == bars(bob).count() == 0
    acts(wall, "Show the bars")
    soon(wall, lambda: "2: dog: 2" in said_of(wall))
    for each in (ann, bob):
        soon(each, lambda each=each: bars(each).count(), 1)
        assert heard(each) == "Your class’s answers are shown."
        assert "?" in each.locator(".st-key-drawn_weights").inner_text()
    acts(wall, "Uncover the numbers")
    for each in (wall, ann, bob):
        soon(
            each, lambda each=each: "?" in each.locator(".st-key-drawn_weights").inner_text(), False
        )
        settled(each)


@pytest.mark.meant(r"WebSocket|ERR_CONNECTION|Failed to (load|fetch)|ERR_EMPTY_RESPONSE")
def test_a_vote_while_the_line_is_dead_is_counted_once_it_is_back(wall, new_page, line):
    ann, bob = joins(new_page(), wall, line.url), joins(new_page(), wall)
    acts(wall, "Ask the class")
    is_asked(ann)
    is_asked(bob)
    choices(bob).nth(0).click()
    line.held = True
    choices(ann).nth(2).click()  # nobody hears of it
    ann.wait_for_timeout(10_000)
    assert IS_IN not in told(ann)
    line.cut()
    ann.wait_for_timeout(1_000)
    line.mend()
    soon(ann, lambda: IS_IN in told(ann))
    assert "2: dog" in told(ann).partition(IS_IN)[2]
    soon(wall, lambda: count(wall), "2 of 2 have answered")
    acts(wall, "Show the bars")
    soon(wall, lambda: "2: dog: 1" in said_of(wall))
    soon(ann, lambda: bars(ann).count(), 1)


def test_on_a_slow_line_the_last_answer_counts(wall, new_page, line):
    ann = joins(new_page(), wall, line.url)
    acts(wall, "Ask the class")
    is_asked(ann)
    line.pause = 0.4
    for at in (0, 3, 1, 2):
        choices(ann).nth(at).click()
    soon(ann, lambda: "2: dog" in told(ann).partition(IS_IN)[2])
    soon(wall, lambda: count(wall), "1 of 1 have answered")
    acts(wall, "Talk, then ask again")
    soon(ann, lambda: "Before, you answered" in told(ann))
    assert "2: dog" in told(ann).partition("Before, you answered")[2]
    assert IS_IN not in told(ann)


@pytest.mark.meant(r"404 \(Not Found\) \S+/class/")
def test_a_class_comes_to_an_end_and_its_people_go_on_alone(wall, new_page):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    ann = joins(new_page(**phone), wall)
    acts(wall, "Ask the class")
    is_asked(ann)
    ann.locator(".st-key-ends").scroll_into_view_if_needed()
    call = ann.locator(".st-key-class_call a")
    soon(ann, call.is_visible)
    call.click()
    soon(ann, call.is_visible, False)
    soon(ann, lambda: abs(part(ann).bounding_box()["y"]) < 400)
    click(wall.get_by_role("button", name="End it"))
    click(wall.get_by_role("button", name="End the class"))
    soon(ann, lambda: "This class has ended" in told(ann))
    soon(ann, lambda: heard(ann), "This class has ended.")
    part(ann).get_by_role("button", name="Go on alone").click()
    soon(ann, lambda: part(ann).count(), 0)
    settled(ann)
    ann.goto(wall.link)
    assert "There is no class with this code" in ann.locator("body").inner_text()


def test_who_has_other_numbers_or_another_page_finds_the_class_s(wall, new_page):
    ann = joins(new_page(), wall)
    acts(wall, "Ask the class")
    is_asked(ann)
    way = part(ann).locator("[data-testid=stPageLink] a")
    assert way.count() == 0
    sentence = ann.locator(".st-key-control_sentence textarea").first
    sentence.fill("the small cat sleeps")
    ann.keyboard.press("Control+Enter")
    soon(ann, lambda: "with the class’s numbers" in told(ann))
    settled(ann)
    choices(ann).nth(0).click()
    soon(ann, lambda: "in: 0: The" in " ".join(told(ann).split()))
    way.click()
    soon(ann, lambda: "on this page" in told(ann))
    settled(ann)
    assert sentence.input_value() == "The dog attacks the wild cat"
    ann.locator(".st-key-contents a").filter(has_text="The causal mask").first.click()
    soon(ann, lambda: "in Simplified attention" in told(ann))
    settled(ann)
    way.click()
    soon(ann, lambda: "on this page" in told(ann))
    assert "/simplified_attention" in ann.url


@pytest.mark.parametrize("width", [320, 800, 1280])
def test_the_call_to_answer_and_the_way_to_the_numbers_are_seen_whole(wall, new_page, width):
    ann = joins(new_page(viewport={"width": width, "height": 800}), wall)
    acts(wall, "Ask the class")
    is_asked(ann)
    call = ann.locator(".st-key-class_call a")
    ann.locator("[data-testid=stMain]").evaluate("main => main.scrollTo(0, 3000)")
    soon(ann, call.is_visible)
    ends = """link => [...link.getClientRects()].flatMap(
        ({ left, right, top, height }) => [left + 2, right - 2].map(
            (x) => document.elementFromPoint(x, top + height / 2) === link))"""
    assert all(call.evaluate(ends)), "nothing lies over it"
    call.click()
    ann.locator(".st-key-contents a").filter(has_text="The causal mask").first.evaluate(
        "link => link.click()"
    )
    way = part(ann).locator("[data-testid=stPageLink] a")
    soon(ann, lambda: way.count(), 1)
    settled(ann)
    fits = """link => [...link.querySelectorAll('*')].every((one) =>
        one.scrollWidth <= one.clientWidth + 1 || getComputedStyle(one).display === 'inline')"""
    assert way.evaluate(fits), "no word of it is cut off"


def test_a_code_is_typed_on_a_page_of_its_own(wall, new_page):
    page, link = new_page(), urlsplit(wall.link)
    page.goto(f"{link.scheme}://{link.netloc}/class")
    code = page.get_by_label("The code on the wall")
    code.fill(link.path.split("/")[2].lower())
    code.press("Enter")
    settled(page)
    assert "Work on your own for now" in told(page)


def test_the_overview_is_folded_and_gives_files(wall, new_page):
    ann = joins(new_page(), wall)
    click(ann.locator(".st-key-question_looks_at [data-testid=stButtonGroup] button").nth(0))
    open_row(wall, "class")
    over = wall.locator(".st-key-row_class")
    soon(wall, lambda: "1 ×" in over.inner_text())
    assert "0: The" in over.inner_text()
    for name, kind in (("Votes as CSV", "csv"), ("Both tables", "xlsx"), ("A page to", "html")):
        with wall.expect_download(timeout=1_000 * HANG) as saved:
            over.get_by_role("button", name=name).click()
        assert saved.value.suggested_filename == f"class.{kind}"
