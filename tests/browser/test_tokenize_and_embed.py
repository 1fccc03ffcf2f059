"""The lesson on tokens and embeddings in a real browser: its table, typed into and walked into."""

from browser_tools import numbers, open_page, settled

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
