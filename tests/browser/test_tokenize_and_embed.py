"""The lesson on tokens and embeddings in a real browser: its table, typed into and walked into."""

import re

from browser_tools import moves_in_one_frame, numbers, open_page, settled, soon

LESSON = "tokenize_and_embed?example=wild_cat&predict=off"
IDS, TABLE = 11, 9 * 3
"""The numbers before those of the embeddings, which are 11 by 3."""


def test_a_merge_is_made_in_one_frame(page, app_url):
    open_page(page, app_url, LESSON)
    moves_in_one_frame(page, "learned", 6)
    settled(page)
    assert "merges=" in page.url
    tips = {"old": "joined by merge", "l [+] ong": " in “", "^c$": "a single byte"}
    for words, told in tips.items():
        texts = page.locator(".st-key-drawn_learned svg text", has_text=re.compile(words))
        word = texts.last.bounding_box()
        page.mouse.move(word["x"] + word["width"] / 2, word["y"] + word["height"] / 2)
        soon(page, lambda told=told: told in page.locator("#vg-tooltip-element").inner_text())


def embeddings(page):
    return numbers(page, "lookup")[IDS + TABLE :]


def test_a_number_typed_into_the_table_is_used_everywhere(page, app_url):
    open_page(page, app_url, f"{LESSON}&section=lookup&cell=embedding_table.0.0")
    assert "Identical: rows 1, 3, 5, 7, 9" in page.inner_text("[data-testid=stMain]")
    moves_in_one_frame(page, "lookup", 2, room="cell_lookup")
    settled(page)
    page.get_by_label("Or type it").fill("0.25")
    page.keyboard.press("Enter")
    settled(page)
    assert "edits=0.0%3A0.25" in page.url
    assert numbers(page, "lookup")[IDS] == "0.25"
    assert embeddings(page)[3::6] == ["0.25"] * 5, "each blank"
    page.get_by_role("button", name="Undo your changes").first.click()
    settled(page)
    assert numbers(page, "lookup")[IDS] == "−0.53"
