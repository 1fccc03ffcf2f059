"""The lesson on tokens and embeddings in a real browser: its table, typed into and walked into."""

import pytest

from browser_tools import moves_in_one_frame, numbers, open_page, settled

LESSON = "tokenize_and_embed?example=wild_cat&predict=off"
IDS, TABLE = 11, 9 * 3
"""The numbers before those of the embeddings, which are 11 by 3."""


def embeddings(page):
    return numbers(page, "lookup")[IDS + TABLE :]


def test_a_number_typed_into_the_table_is_used_everywhere(page, app_url):
    open_page(page, app_url, LESSON)
    assert "Identical: rows 1, 3, 5, 7, 9" in page.inner_text("[data-testid=stMain]")
    grid = page.locator("[data-testid=stDataFrame]").first
    # The grid loads its editor at the first use, and what is typed before that is lost.
    for _ in range(5):
        grid.scroll_into_view_if_needed()
        page.wait_for_timeout(500)
        corner = grid.bounding_box()
        page.mouse.click(corner["x"] + 100, corner["y"] + 52)
        page.keyboard.press("Enter")
        page.wait_for_timeout(1_500)
        page.keyboard.press("Control+A")
        page.keyboard.type("0.25", delay=50)
        page.wait_for_timeout(500)  # an Enter within milliseconds takes the number before
        page.keyboard.press("Enter")
        settled(page, quiet=1)
        if "edits=0.0%3A0.25" in page.url:  # not some of it: the first keys may be lost
            break
    assert "edits=0.0%3A0.25" in page.url
    assert numbers(page, "lookup")[IDS] == "0.25"
    assert embeddings(page)[3::6] == ["0.25"] * 5, "each blank"
    page.get_by_role("button", name="Undo all typed numbers").click()
    settled(page)
    assert numbers(page, "lookup")[IDS] == "−0.53"


def test_rows_are_looked_up_one_after_another_in_one_frame(page, app_url):
    open_page(page, app_url, LESSON)
    faint = """() => [...document.querySelectorAll('.st-key-drawn_lookup svg g.cells_marks path')]
      .filter((one) => one.getAttribute('opacity') < 0.5).length"""
    before = page.evaluate(faint)
    moves_in_one_frame(page, "lookup", 2)
    # Of 11 tokens 9 are still to come, with their ids, and of 7 rows that are picked 5.
    assert page.evaluate(faint) == before + 9 + 9 * 3 + 5 * 3
    settled(page)
    assert "shown_terms=2" in page.url
    page.locator(".st-key-moves_lookup input").press("End")
    settled(page)
    assert page.evaluate(faint) == before
    assert "shown_terms" not in page.url


@pytest.mark.long
def test_the_tokenizer_and_the_table_s_size_change_what_follows(page, app_url):
    open_page(page, app_url, LESSON)
    before = embeddings(page)
    page.locator("[class*=st-key-control_reserved] input").first.focus()
    page.keyboard.press("ArrowRight")
    settled(page)
    assert "reserved=3" in page.url
    assert embeddings(page) != before
    page.locator("[class*=st-key-control_tokenizer] input").first.click()
    page.get_by_role("option").first.click()
    settled(page)
    assert "tokenizer=" in page.url


@pytest.mark.long
def test_an_embedding_leads_to_the_row_of_the_table_that_its_id_names(page, app_url):
    open_page(page, app_url, f"{LESSON}&section=lookup&cell=embeddings.7.0")
    panel = page.locator(".st-key-cell_lookup")
    panel.locator("[data-testid=stSlider] input").first.focus()
    page.keyboard.press("ArrowRight")
    settled(page)
    assert "token 8 “wild”" in panel.inner_text()
    panel.locator("[data-testid=stButtonGroup] button", has_text="[6, 0]").click()
    settled(page)
    assert "embedding_table[6, 0]" in panel.inner_text()
    assert "seed is 69" in panel.inner_text()
    panel.get_by_role("button", name="embeddings[8, 0]").click()
    settled(page)
    assert panel.locator("strong code").inner_text() == "embeddings[8, 0]"


@pytest.mark.long
def test_a_question_covers_what_the_lookup_would_tell(page, app_url):
    open_page(page, app_url, "tokenize_and_embed?example=wild_cat")
    assert set(embeddings(page)) == {"?"}
    page.locator(".st-key-question_identical").get_by_role("button", name="Show me").click()
    settled(page)
    assert "?" not in embeddings(page)
