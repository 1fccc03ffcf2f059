"""The lesson on the causal mask in a real browser: every control moves picture and numbers."""

import pytest

from browser_tools import matrix, no_exception, open_page, settled

pytestmark = pytest.mark.long

LESSON = "causal_mask?example=sorry_dave&predict=off&cell=none"


def numbers(page, beat, chart):
    texts = matrix(page, beat, chart).locator(".mark-text.role-mark").first.locator("text")
    return texts.all_text_contents()


def press(page, name, key, times=1):
    for _ in range(times):
        page.locator(f"[class*='st-key-control_{name}'] input").first.press(key)
    settled(page)


def test_the_mask_hides_and_says_so(page, app_url):
    open_page(page, app_url, LESSON)
    mask = numbers(page, "mask", 0)
    assert mask.count("✓") == 36
    assert mask.count("·") == 28
    assert numbers(page, "masked_scores", 1).count("−∞") == 28
    assert numbers(page, "weights", 1).count("·") == 28
    press(page, "window", "ArrowRight", 2)
    assert numbers(page, "mask", 0).count("✓") == 8 + 7
    page.locator(".st-key-control_causal label").click()
    settled(page)
    assert numbers(page, "mask", 0).count("✓") == 8 + 7 + 7
    no_exception(page)


def test_a_row_that_sees_nothing_is_named(page, app_url):
    open_page(page, app_url, f"{LESSON}&turned=0.0")
    assert page.locator("text=Nothing to look at: query 0 “Sorry”").count() == 1
    assert "nan" not in page.locator("[data-testid=stMain]").inner_text().lower()
    open_page(page, app_url, f"{LESSON}&window=1&hidden=3")
    assert page.locator("text=Nothing to look at: query 3 “afraid”").count() == 1
    no_exception(page)


def test_the_leak_is_measured(page, app_url):
    open_page(page, app_url, LESSON)
    assert page.locator("text=It leaks: 7 of the 7 queries").count() == 1
    before = numbers(page, "ways", 1)
    page.locator(".st-key-control_way button", has_text="−∞ before softmax").click()
    settled(page)
    assert numbers(page, "ways", 1) != before
    assert page.locator("text=No weight on hidden keys: exactly 0").count() == 2, "there and above"
    press(page, "change_by", "ArrowRight", 3)
    assert page.locator("text=No leak: the 7 queries").count() == 1
    no_exception(page)


def test_dropout_follows_its_seed(page, app_url):
    open_page(page, app_url, LESSON)
    before = numbers(page, "dropout", 1)
    press(page, "drop_seed", "ArrowRight")
    other = numbers(page, "dropout", 1)
    assert other != before
    press(page, "drop_seed", "ArrowLeft")
    assert numbers(page, "dropout", 1) == before
    press(page, "dropout", "Home")
    assert numbers(page, "dropout", 1) == numbers(page, "dropout", 0)
    no_exception(page)


def test_cells_of_the_experiments_open_where_they_stand(page, app_url):
    open_page(page, app_url, "causal_mask?predict=off")
    for step, beat in (("moved", "leak"), ("dropped_weights", "dropout")):
        page.get_by_role("button", name=f"Take a cell of {step} apart").click()
        settled(page)
        assert f"{step}[0, 0]" in page.locator(f".st-key-cell_{beat}").inner_text()
        assert page.locator(".st-key-lost_cell").count() == 0
    no_exception(page)
