"""Pin and compare, and links that a teacher prepares, in a real browser."""

import pytest

from browser_tools import click, numbers, open_page, open_row, settled, soon


def test_a_pin_names_what_changed_first(page, new_page, app_url):
    open_page(page, app_url, "queries_keys_values?predict=off")
    click(page.get_by_role("button", name="Pin and compare", exact=True).first)
    box = page.locator(".st-key-pinned")
    assert "Change something" in box.inner_text()
    open_row(page, "deeper")
    page.locator(".st-key-control_q_seed input").first.fill("7")
    page.keyboard.press("Enter")
    settled(page)
    words = box.inner_text()
    assert "Seed of W_query: none → 7" in words
    assert "the first step that changed is queries, by up to 1.293." in words
    other = new_page()
    open_page(other, app_url, page.url.removeprefix(app_url))
    assert other.locator(".st-key-pinned").inner_text() == words
    click(other.locator("summary", has_text="Every step"))

    def changed():
        rows = other.locator(".st-key-pinned [role=row]").evaluate_all(
            "rows => rows.map((row) => [...row.querySelectorAll('[role=gridcell]')]"
            ".map((cell) => cell.textContent))"
        )
        told = {row[0]: row[2] for row in rows if row}
        return [told.get(name) for name in ("queries", "keys", "values")]

    # The table is drawn in the browser's own time.
    soon(other, changed, ["22 of 22", "0 of 22", "0 of 22"])
    for matrix in range(3):  # before, now, their difference
        assert len(numbers(other, "difference", matrix)) == 22
    click(page.get_by_role("button", name="Unpin"))
    assert box.count() == 0


@pytest.mark.slow("7 s: in a browser")
def test_the_share_panel_makes_a_teachers_link(page, new_page, app_url):
    open_page(page, app_url, "simplified_attention?predict=off&seed=7&hide=query")
    page.get_by_role("button", name="Share").click()
    panel = page.get_by_role("dialog")
    panel.get_by_role("combobox", name="Hide").fill("Tokenizer")
    page.keyboard.press("Enter")
    settled(page)
    page.keyboard.press("Escape")
    click(panel.get_by_text("Without Streamlit's frame"))
    plain, link, alone = panel.locator("code").all_inner_texts()
    path = f"{app_url}/simplified_attention?example=wild_cat&predict=off&seed=7&hide=query"
    assert (plain, link) == (path, f"{path}%2Ctokenizer&embed=true")
    assert "card=scores" in alone
    other = new_page()
    open_page(other, app_url, link.removeprefix(app_url))
    assert other.locator("[class*='st-key-control_tokenizer']").count() == 0
    assert other.locator("[class*='st-key-control_seed'] input").input_value() == "7"
