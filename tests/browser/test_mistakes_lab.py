"""The mistakes lab in a real browser."""

from attention_ui.picture.palette import CHOSEN
from browser_tools import click, open_page, outlined, soon

CELLS = "svg g.cells_marks path"


def test_one_pointer_serves_wrong_right_and_their_difference(page, app_url):
    open_page(page, app_url, "mistakes_lab?example=wild_cat&predict=off&mistake=whole_matrix_norm")
    cells = page.locator(f".st-key-drawn_compared {CELLS}")
    n = cells.count() // 3
    assert n == 11 * 4
    tops = [cells.nth(at * n).bounding_box()["y"] for at in range(3)]
    assert max(tops) - min(tops) < 1, "the three stand in one line"
    cells.nth(2 * n + 5).hover()
    soon(page, lambda: outlined(page, "compared", CHOSEN), [5, n + 5, 2 * n + 5])
    click(cells.nth(2 * n + 5))
    assert "section=compared&cell=difference.1.1" in page.url
