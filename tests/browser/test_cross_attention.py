"""The lesson on cross-attention in a real browser: two sentences, and another source."""

from browser_tools import open_page, settled, soon, written

LESSON = "cross_attention?predict=off&example=wild_cat"


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
