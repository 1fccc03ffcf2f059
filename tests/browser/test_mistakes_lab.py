"""The mistakes lab in a real browser."""

from attention_ui.picture.palette import CHOSEN
from browser_tools import click, moves_in_one_frame, numbers, open_page, outlined, settled, soon

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


def test_the_mistake_goes_off_and_on_in_one_frame(page, app_url):
    open_page(page, app_url, "mistakes_lab?example=wild_cat&predict=off&mistake=whole_matrix_norm")
    wrong, right = numbers(page, "compared", 0), numbers(page, "compared", 1)
    assert wrong != right
    moves_in_one_frame(page, "compared", 0)
    assert numbers(page, "compared", 0) == right
    assert {*numbers(page, "compared", 2)} == {"0.00"}
    settled(page)
    assert "switch=0" in page.url
    click(page.locator(f".st-key-drawn_compared {CELLS}").first)
    assert "cell=normed.0.0" in page.url, "the right step stands there now"
    page.locator(".st-key-moves_compared input").press("ArrowRight")
    settled(page)
    assert numbers(page, "compared", 0) == wrong
    assert "switch" not in page.url
