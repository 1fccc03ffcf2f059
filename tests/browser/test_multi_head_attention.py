"""The lesson on several heads in a real browser: their number, their colours, one switched off."""

import pytest

from browser_tools import open_page, settled, soon, written

LESSON = "multi_head_attention?predict=off&example=wild_cat"


def test_a_head_is_switched_off_in_one_frame_and_the_page_follows(page, app_url):
    open_page(page, app_url, LESSON)
    before = written(page, "off")
    page.locator(".st-key-moves_off input").press("ArrowRight")
    soon(page, lambda: written(page, "off") != before)
    soon(page, lambda: "head_off=1" in page.url)
    settled(page)
    assert page.get_by_text("head_outputs[1]", exact=True).count() >= 1


@pytest.mark.long
def test_more_heads_take_the_width_along_and_it_comes_back(page, app_url):
    open_page(page, app_url, LESSON)
    heads = page.locator("[class*='st-key-control_n_heads'] input")
    width = page.locator("[class*='st-key-control_d_model'] [data-testid=stSliderThumbValue]")
    for count, d_model in (("3", "6"), ("4", "4")):
        heads.press("ArrowRight")
        settled(page)
        assert f"n_heads={count}" in page.url
        assert width.inner_text() == d_model
        along = page.get_by_text("d_model went from 4 to 6, so that 3 heads can share it.")
        assert along.count() == (d_model == "6")
    for head in range(4):
        assert f"head_weights[{head}]" in written(page, "weights")


@pytest.mark.long
def test_pointing_at_a_word_moves_the_bars_of_all_heads(page, app_url):
    open_page(page, app_url, LESSON)
    bars = ".st-key-drawn_weights svg g.marks_marks path, .st-key-drawn_weights svg path"

    def drawn():
        return page.locator(bars).evaluate_all("each => each.map((one) => one.getAttribute('d'))")

    for said in page.locator("[data-testid=stSliderThumbValue]").all():
        assert said.bounding_box()["height"] < 30, "also “auto” stands in one line"
    before = drawn()
    page.locator(".st-key-drawn_weights svg g.cells_marks path").nth(2 * 11 * 11 + 2).hover()
    soon(page, lambda: drawn() != before)


@pytest.mark.long
def test_a_wrong_split_and_an_identity_say_what_they_do(page, app_url):
    open_page(page, app_url, LESSON)
    assert page.get_by_text("2 of 22 rows, in all heads, hold what they should.").count() == 1
    page.get_by_text("Split, then transpose", exact=True).click()
    settled(page)
    assert page.get_by_text("22 of 22 rows, in all heads, hold what they should.").count() == 1
    page.get_by_text("Identity", exact=True).click()
    settled(page)
    assert "mix=identity" in page.url
    assert page.get_by_text("the heads do not meet.").count() == 1
