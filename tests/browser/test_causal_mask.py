"""The lesson on the causal mask in a real browser: its mask and its leak move in the picture."""

import pytest

from browser_tools import moves_in_one_frame, numbers, open_page, open_row, settled, soon

LESSON = "causal_mask?example=sorry_dave&predict=off&cell=none"


def outline(page, card):
    return page.locator(f".st-key-drawn_{card} svg g.paths_marks path").evaluate_all(
        "all => all.map((one) => one.getAttribute('d'))"
    )


def test_the_window_moves_mask_scores_and_outline_before_the_server_knows(page, app_url):
    open_page(page, app_url, LESSON)
    before, edge = numbers(page, "mask"), outline(page, "mask")
    assert (before.count("✓"), before.count("−∞")) == (36, 28)
    moves_in_one_frame(page, "mask", 2)
    assert numbers(page, "mask").count("✓") == 8 + 7
    assert numbers(page, "mask").count("−∞") == 64 - 15
    assert outline(page, "mask") != edge
    settled(page)
    assert "window=2" in page.url
    assert numbers(page, "weights").count("·") == 64 - 15, "the other cards follow"
    page.locator(".st-key-control_causal label").click()
    settled(page)
    assert numbers(page, "mask").count("✓") == 8 + 7 + 7


def test_a_text_of_many_tokens_takes_the_control_out_of_its_picture_and_a_short_one_brings_it_back(
    page, app_url
):
    """The picture cannot carry all windows of so many tokens: then it is a list to choose from."""
    open_page(page, app_url, f"{LESSON}&tokenizer=blanks")
    place = page.locator(".st-key-moves_mask")
    for n_tokens, in_picture in ((50, 0), (5, 1)):
        text = page.locator(".st-key-control_sentence textarea")
        text.fill(" ".join(f"w{at}" for at in range(n_tokens)))
        text.press("Control+Enter")
        settled(page)
        assert place.locator("input").count() == 1
        assert place.locator(".vega-bind input").count() == in_picture
        assert page.locator(".st-key-drawn_mask :is(canvas, svg.marks)").count() == 1


@pytest.mark.long
def test_the_leak_is_measured_and_dropout_moves(page, app_url):
    open_page(page, app_url, f"{LESSON}&masking=zeroed")
    assert page.locator("text=It leaks: 7 of the 7 queries").count() == 1
    page.locator(".st-key-control_masking button", has_text="−∞ before softmax").click()
    settled(page)
    assert page.locator("text=No leak: the 7 queries").count() == 1
    open_row(page, "deeper")
    before = numbers(page, "dropout")
    page.locator(".st-key-moves_dropout input").press("Home")
    soon(page, lambda: numbers(page, "dropout") != before)
    shown = numbers(page, "dropout")
    assert shown[:64] == shown[64:], "nothing is dropped"
