"""Each page as a person uses it: by pointer and by keyboard, and on a phone."""

import pytest

from browser_tools import no_exception, open_page, settled, soon
from visiting import LESSONS

MARKS = "[data-testid=stMain] [data-testid=stVegaLiteChart] svg g[class*=mark-] > path"
IN_SIGHT = """(marks, wanted) => marks.map((one) => one.getBoundingClientRect())
  .filter(({ top, bottom, width, height }) => top > 80 && bottom < innerHeight - 20
    && width > 3 && height > 3 && width < 200)
  .map(({ left, top, width, height }) => [left + width / 2, top + height / 2])
  .filter((_, at, all) => at % Math.ceil(all.length / wanted) === 0)"""
TOLD = "document.querySelector('#vg-tooltip-element.visible')?.innerText ?? ''"


def points_at_a_number(page):
    """Whether one of a dozen marks in sight tells a number when it is pointed at."""
    for x, y in page.locator(MARKS).evaluate_all(IN_SIGHT, 12):
        page.mouse.move(x, y)
        page.wait_for_timeout(50)
        if any(sign.isdigit() for sign in page.evaluate(TOLD)):
            return True
    return False


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_picture_tells_its_numbers_without_the_server_and_another_seed_is_typed(
    page, app_url, lesson
):
    """By pointer, then by keyboard."""
    open_page(page, app_url, f"{lesson}?predict=off")
    asked = page.evaluate("testRuns.asked")
    page.locator(MARKS).first.scroll_into_view_if_needed()
    soon(page, lambda: points_at_a_number(page))
    assert page.evaluate("testRuns.asked") == asked, "the server was asked"
    page.get_by_role("textbox", name="Seed", exact=True).first.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    soon(page, lambda: "seed=7" in page.url)
    settled(page)
    no_exception(page)
    assert page.problems == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_on_a_phone_nothing_pushes_the_page_sideways(page, app_url, lesson):
    page.set_viewport_size({"width": 390, "height": 844})
    open_page(page, app_url, f"{lesson}?predict=off")
    wide, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= window + 1
    assert page.locator("h1").first.bounding_box()["x"] >= 0
    assert page.locator("[data-testid=stVegaLiteChart]").count() > 0
    no_exception(page)
    assert page.problems == []
