"""The lesson on several heads in a real browser: its controls, its heads, its experiments."""

import pytest

from browser_tools import MATRICES, matrix, no_exception, open_page, settled

pytestmark = pytest.mark.long

LESSON = "multi_head_attention?predict=off&cell=none"


def matrices(page, beat):
    return page.locator(f".st-key-eq_{beat} {MATRICES}")


def cells(page, beat, chart):
    return matrix(page, beat, chart).locator(".mark-rect.role-mark").first.locator("path")


def numbers(page, beat, chart):
    texts = matrix(page, beat, chart).locator(".mark-text.role-mark").first.locator("text")
    return texts.all_text_contents()


def outlined(page, beat, chart):
    """How many cells of a matrix have an outline while nothing is pointed at."""
    page.mouse.move(1, 1)
    settled(page)
    paths = matrix(page, beat, chart).locator("path[stroke='#E08A00']")
    return paths.count()


def choose(page, group, label):
    page.locator(f"[class*='st-key-{group}'] button", has_text=label).first.click()
    settled(page)


def test_more_heads_take_the_width_along_and_are_drawn(page, app_url):
    open_page(page, app_url, LESSON)
    assert matrices(page, "weights").count() == 2
    heads = page.locator("[class*='st-key-control_n_heads'] input")
    width = page.locator("[class*='st-key-control_d_model'] [data-testid=stSliderThumbValue]")
    for count, d_model in (("3", "6"), ("4", "4")):
        heads.press("ArrowRight")
        settled(page)
        assert f"n_heads={count}" in page.url
        assert matrices(page, "weights").count() == int(count)
        assert width.inner_text() == d_model
        along = page.get_by_text("d_model went from 4 to 6, so that 3 heads can share it.")
        assert along.count() == (d_model == "6")
    assert len(numbers(page, "queries", 5)) == 11, "four heads of width 1"
    page.locator(".st-key-control_causal_heads label").click()
    settled(page)
    assert numbers(page, "weights", 3)[:3] == ["1.00", "·", "·"], "the first sees itself only"
    no_exception(page)
    assert page.problems == []


def test_a_cell_opens_in_its_own_head_and_goes_along_to_another(page, app_url):
    open_page(page, app_url, LESSON)
    cells(page, "weights", 1).nth(4 * 11 + 6).click()
    settled(page)
    panel = page.locator(".st-key-cell_weights")
    assert panel.locator("strong code").inner_text() == "head_weights[1, 4, 6]"
    assert [outlined(page, "weights", chart) for chart in (0, 1)] == [0, 1]

    before = numbers(page, "one_head", 0)
    choose(page, "one_of_2_heads", "1")
    assert "head=1" in page.url
    assert numbers(page, "one_head", 0) != before
    cells(page, "one_head", 2).nth(4 * 11 + 6).click()  # head_scores
    settled(page)
    panel = page.locator(".st-key-cell_one_head")
    assert panel.locator("strong code").inner_text() == "head_scores[1, 4, 6]"
    assert [outlined(page, "one_head", chart) for chart in (0, 1, 2)] == [2, 2, 1]
    choose(page, "one_of_2_heads", "0")
    assert panel.locator("strong code").inner_text() == "head_scores[0, 4, 6]"
    assert numbers(page, "one_head", 0) == before
    assert outlined(page, "one_head", 2) == 1
    no_exception(page)
    assert page.problems == []


def test_the_output_is_shared_out_to_heads_and_one_can_be_switched_off(page, app_url):
    open_page(page, app_url, LESSON)
    cells(page, "parts", 2).nth(3 * 4 + 1).click()
    settled(page)
    assert page.get_by_text("What each head gives to output[3, 1]").count() == 1
    panel = page.locator(".st-key-cell_parts")
    assert panel.get_by_text("From head_outputs[:, 3, 1]").count() == 1

    with_all, lost = numbers(page, "off", 0), numbers(page, "off", 2)
    assert lost == numbers(page, "parts", 0), "what head 0 gives"
    choose(page, "control_head_off", "1")
    assert "head_off=1" in page.url
    assert numbers(page, "off", 0) == with_all
    assert numbers(page, "off", 2) == numbers(page, "parts", 1) != lost
    no_exception(page)
    assert page.problems == []


def test_a_wrong_split_gives_the_second_head_other_tokens(page, app_url):
    open_page(page, app_url, LESSON)
    page.locator("summary", has_text="leave out the transpose").click()
    settled(page)
    joined = numbers(page, "mixed", 0)
    assert numbers(page, "mixed", 1) == joined[: 11 * 2], "row after row"
    choose(page, "control_head_cut", "1")
    assert numbers(page, "mixed", 1) == joined[11 * 2 :]
    assert numbers(page, "mixed", 2) == numbers(page, "queries", 4)
    assert page.get_by_text("2 of 22 rows, in all heads, hold what they should.").count() == 1
    no_exception(page)
