"""The lesson on cross-attention in a real browser: two sentences, and another source."""

import pytest

from browser_tools import moves_in_one_frame, open_page, settled, soon, written

LESSON = "cross_attention?predict=off&example=wild_cat"


@pytest.mark.long
def test_pointing_at_a_word_that_asks_shows_where_it_looks(page, app_url):
    open_page(page, app_url, LESSON)
    shown = [each for each in written(page, "looking") if each.endswith("%")]
    assert len(shown) == 11
    page.locator(".st-key-drawn_looking svg g.cells_marks path").nth(2).hover()
    soon(page, lambda: [e for e in written(page, "looking") if e.endswith("%")] != shown)


def test_another_source_is_drawn_at_once_and_an_empty_one_is_explained(page, app_url):
    open_page(page, app_url, LESSON)
    source = page.get_by_label("Source: the sentence that is looked at")
    source.fill("one small step")
    source.press("Enter")
    settled(page)
    assert "small" in written(page, "looking")
    assert page.get_by_text("11 × 5 = 55").count() == 1
    source.fill(" ")
    source.press("Enter")
    soon(page, lambda: page.get_by_text("this text holds blanks only").count(), 1)
    assert "small" in written(page, "looking"), "the last one that can be used"


def test_the_temperature_moves_weights_and_arcs_in_one_frame(page, app_url):
    open_page(page, app_url, LESSON)
    lesson = page.locator("[data-testid=stMain]")
    assert "the temperature" not in lesson.locator(".st-key-card_scores").inner_text()
    moves_in_one_frame(page, "looking", 0.1)
    settled(page)
    assert "temperature=0.1" in page.url
    told = lesson.locator(".st-key-card_scores").inner_text()
    assert "and by the temperature 0.1" in told, "the other cards follow when the hand rests"
    input_ = page.locator(".st-key-moves_looking input")
    assert input_.evaluate("(one) => [one.value, one.min, one.max]") == ["0.1", "0.1", "4"]
    input_.press("ArrowRight")
    settled(page)
    assert "temperature=0.2" in page.url
