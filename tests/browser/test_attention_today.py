"""The lesson on the attention of today in a real browser: at first sight, and in use."""

import pytest

from browser_tools import open_page, settled, soon, written

LESSON = "attention_today?predict=off&example=wild_cat"


def shades(page, card):
    return page.locator(f".st-key-drawn_{card} svg g.cells_marks path").evaluate_all(
        "each => each.map((one) => one.getAttribute('fill-opacity'))"
    )


def test_a_known_model_looks_chosen_and_a_slope_moves_in_one_frame(page, app_url):
    open_page(page, app_url, LESSON)
    picture = page.locator(".st-key-drawn_today").bounding_box()
    assert picture["y"] + picture["height"] <= 900, "without scrolling"
    before = written(page, "today")
    llama = page.locator(".st-key-as_in").get_by_text("Llama 3 8B")
    llama.click()
    settled(page)
    assert "position_encoding=rotary" in page.url
    assert written(page, "today") != before, "it does something on arrival"
    chosen = page.locator(".st-key-as_in [aria-checked=true]")
    soon(page, lambda: chosen.all_inner_texts(), ["Llama 3 8B"])

    before = shades(page, "alibi")
    page.locator(".st-key-moves_alibi input").press("ArrowRight")
    soon(page, lambda: shades(page, "alibi") != before)
    soon(page, lambda: "slope=0.5625" in page.url)


@pytest.mark.long
def test_a_window_is_moved_and_the_rest_follows(page, app_url):
    open_page(page, app_url, LESSON)
    page.locator(".st-key-moves_window input").press("ArrowLeft")
    soon(page, lambda: page.get_by_text("L layers reach L × 2 tokens").count(), 1)
