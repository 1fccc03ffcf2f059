"""The lesson on the attention of today in a real browser: at first sight, and in use."""

import pytest

from browser_tools import choose, matrix, no_exception, open_page, settled, soon

pytestmark = pytest.mark.long


def dimmed(page, beat, at):
    """How many cells of a matrix are dimmed while something is pointed at."""
    cells = matrix(page, beat, at).locator(".mark-rect.role-mark").first.locator("path")
    return cells.evaluate_all(
        "cells => cells.filter((one) => +(one.getAttribute('opacity') ?? 1) < 1).length"
    )


def numbers(page, beat, at):
    texts = matrix(page, beat, at).locator(".mark-text.role-mark").first.locator("text")
    return texts.all_text_contents()


def weight(page, beat, at, place):
    cells = matrix(page, beat, at).locator(".mark-rect.role-mark").first.locator("path")
    return cells.nth(place)


def test_the_switches_move_what_is_seen_first_and_each_stands_alone_below(page, app_url):
    open_page(page, app_url, "attention_today?predict=off&cell=none&places=none&kv_heads=2")
    below = [matrix(page, "today", at).bounding_box() for at in (0, 1)]
    assert all(box["y"] + box["height"] <= 900 for box in below), "without scrolling"
    assert below[0]["y"] == below[1]["y"], "side by side"
    assert numbers(page, "today", 0) == numbers(page, "today", 1), "all is off"
    page.get_by_role("button", name="Mistral 7B").first.click()
    settled(page)
    assert "window=5" in page.url
    assert not any(name in page.url for name in ("places", "kv_heads")), "as they start"
    now = numbers(page, "today", 1)
    assert now != numbers(page, "today", 0)
    assert now[6 * 11 + 1 : 6 * 11 + 7] == ["·", *now[6 * 11 + 2 : 6 * 11 + 7]]
    weight(page, "today", 1, 6 * 11 + 5).hover()
    soon(page, lambda: dimmed(page, "today", 0) == dimmed(page, "today", 1) > 0)  # in both
    assert page.get_by_text("A row sees at most 5 keys, and still sums to 1.").count() == 1

    page.locator("[class*=st-key-control_head_] button, .st-key-control_head button").nth(1).click()
    settled(page)
    assert "head=1" in page.url
    assert page.get_by_text("rotary_weights[1]", exact=True).count() >= 1
    weight(page, "alibi", 2, 3 * 11 + 1).click()
    settled(page)
    panel = page.locator(".st-key-cell_alibi")
    assert panel.locator("strong code").inner_text() == "alibi_weights[1, 3, 1]"

    choose(page, "Token that is written now", "9: ")
    assert "decoded=9" in page.url
    row = numbers(page, "decoding", 2)
    assert len(row) == 10
    assert numbers(page, "in_the_whole", 0)[:10] == row
    page.get_by_text("Sizes of your own", exact=True).click()
    settled(page)
    assert page.get_by_text("Your model: 32 layers").count() == 1
    no_exception(page)
    assert page.problems == []
