"""Flash attention in a real browser: the tiles are moved without the server, and by keyboard."""

import pytest

from browser_tools import moves_in_one_frame, open_page, settled, soon

LESSON = "flash_attention?example=wild_cat&tile_queries=4&predict=off"
DRAWN = ".st-key-drawn_tiles"


def words_of(page):
    return page.locator(f"{DRAWN} svg text").all_text_contents()


def title(page):
    (found,) = [each for each in words_of(page) if each.startswith("Tile ")]
    return found


def seen(page):
    """How many cells of the table are drawn now."""
    cells = page.locator(f"{DRAWN} svg g.cells_marks path").all()[: 11 * 11]
    return sum(float(cell.get_attribute("opacity") or 1) > 0 for cell in cells)


def test_the_tiles_are_moved_without_the_server_and_then_stand_in_the_link(page, app_url):
    open_page(page, app_url, LESSON)
    assert title(page) == "Tile 2 of 12: queries 0 to 3, keys 3 to 5"
    assert seen(page) == 12, "only the cells of this tile"
    moves_in_one_frame(page, "tiles", 2)
    soon(page, lambda: title(page), "Tile 3 of 12: queries 0 to 3, keys 6 to 8")
    assert seen(page) == 12
    assert words_of(page).count("done") == 2
    settled(page)
    assert "tile=2" in page.url
    assert page.locator(".st-key-drawn_tile_scores").get_by_text("keys 2ᵀ").count() == 1
    page.go_back()
    settled(page)
    assert title(page).startswith("Tile 2 of 12")


@pytest.mark.long
def test_what_a_causal_mask_hides_is_skipped(page, app_url):
    open_page(page, app_url, LESSON)
    page.get_by_text("Causal: hide what comes later").click()
    settled(page)
    assert "skipped" in words_of(page)
    assert "of 9: queries" in title(page)
    slider = page.locator(".st-key-moves_tiles input[type=range]")
    assert slider.get_attribute("max") == "8"
    slider.press("End")
    settled(page)
    assert title(page) == "Tile 9 of 9: queries 8 to 10, keys 9 to 10"
    assert "tile=11" in page.url
