"""*How a matrix learns* in a browser: what moves under the hand, an entry chosen by a click."""

from browser_tools import open_page, script, settled, soon, written

LESSON = "how_a_matrix_learns?example=named_features&predict=off"


def test_an_entry_that_is_clicked_is_the_one_that_moves(page, app_url):
    open_page(page, app_url, LESSON)
    assert any(each.startswith("W_query[0, 1] = ") for each in written(page, "slope"))
    cells = page.evaluate(script("marks"), ".st-key-drawn_slope svg g.cells_marks path")
    cell = next(each for each in cells if (each["m"], each["i"], each["j"]) == (0, 3, 2))
    page.mouse.click((cell["left"] + cell["right"]) / 2, (cell["top"] + cell["bottom"]) / 2)
    settled(page)
    soon(page, lambda: "entry_row=3" in page.url and "entry_column=2" in page.url)
    assert any(each.startswith("W_query[3, 2] = ") for each in written(page, "slope"))
    assert "cell=" not in page.url, "it is chosen, and not taken apart"
