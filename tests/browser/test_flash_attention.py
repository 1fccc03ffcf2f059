"""Flash attention in a real browser: played without the server, and by keyboard."""

from browser_tools import no_exception, open_page, settled, soon

LESSON = "flash_attention?example=wild_cat&tile_queries=4&predict=off&cell=none"
CHART = ".st-key-played_tiles"


def text_of(page):
    return page.locator(f"{CHART} svg.marks").text_content()


def shades(page):
    cells = page.locator(f"{CHART} svg g[class*=held] path")
    return [float(cell.get_attribute("fill-opacity")) for cell in cells.all()]


def test_the_tiles_are_played_without_the_server_and_by_keyboard(page, app_url):
    open_page(page, app_url, LESSON)
    asked = page.evaluate("window.testRuns.asked")
    slider = page.locator(f"{CHART} input[type=range]")
    assert slider.input_value() == "2"
    assert "Tile 2 of 12: queries 0 to 3, keys 3 to 5" in text_of(page)
    before = shades(page)
    assert len(before) == 12, "only the cells of this tile"
    group = page.locator(CHART).get_by_role("group", name="Play the tiles")
    buttons = group.get_by_role("button")
    buttons.filter(has_text="Next tile").press("Enter")
    soon(page, lambda: "Tile 3 of 12: queries 0 to 3, keys 6 to 8" in text_of(page))
    assert len(shades(page)) == 12
    assert shades(page) != before
    assert text_of(page).count("done") == 2
    buttons.filter(has_text="Play").press("Space")
    page.wait_for_function(f"+document.querySelector('{CHART} input[type=range]').value > 3")
    buttons.filter(has_text="Pause").press("Space")
    slider.press("End")
    soon(page, lambda: "Tile 12 of 12: queries 8 to 10, keys 9 to 10" in text_of(page))
    assert page.evaluate("window.testRuns.asked") == asked, "the server was not asked"
    page.get_by_text("Causal: hide what comes later").click()
    settled(page)
    page.wait_for_function(
        f"document.querySelector('{CHART} svg.marks')?.textContent.includes('skipped')"
    )
    assert "of 9: queries" in text_of(page)
    assert slider.get_attribute("max") == "9"
    no_exception(page)
    assert page.problems == []
