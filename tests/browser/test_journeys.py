"""Each page as a person uses it: by pointer, by keyboard, on a phone."""

import pytest

from browser_tools import no_exception, open_page, settled, soon
from visiting import LESSONS

MARKS = "[data-testid=stMain] [data-testid=stVegaLiteChart] svg g[class*=mark-] > path"
IN_SIGHT = """(marks, wanted) => marks.map((one) => one.getBoundingClientRect())
  .filter(({ top, bottom, width, height }) => top > 80 && bottom < innerHeight - 20
    && width > 3 && height > 3 && width < 200)
  .map(({ left, top, width, height }) => [left + width / 2, top + height / 2])
  .filter((_, at, all) => at % Math.ceil(all.length / wanted) === 0)"""
TOOLTIP = "#vg-tooltip-element.visible"


@pytest.mark.parametrize("lesson", LESSONS)
def test_by_pointer_a_picture_tells_its_numbers_without_the_server(page, app_url, lesson):
    open_page(page, app_url, f"{lesson}?predict=off")
    asked = page.evaluate("testRuns.asked")
    found = []
    page.locator(MARKS).first.scroll_into_view_if_needed()
    settled(page)
    for x, y in page.locator(MARKS).evaluate_all(IN_SIGHT, 12):
        page.mouse.move(x, y)
        page.wait_for_timeout(50)
        if page.locator(TOOLTIP).count():
            found.append(page.locator(TOOLTIP).inner_text())
    assert any(any(sign.isdigit() for sign in each) for each in found)
    assert page.evaluate("testRuns.asked") == asked, "the server was asked"
    no_exception(page)
    assert page.problems == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_by_keyboard_another_seed_is_typed_and_stands_in_the_address(page, app_url, lesson):
    open_page(page, app_url, f"{lesson}?predict=off")
    page.get_by_role("textbox", name="Seed", exact=True).first.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    soon(page, lambda: "seed=7" in page.url)
    settled(page)
    no_exception(page)


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
