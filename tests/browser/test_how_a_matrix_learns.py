"""*How a matrix learns* in a browser: what moves under the hand, an entry chosen by a click."""

from browser_tools import open_page, settled, soon, written

LESSON = "how_a_matrix_learns?example=named_features&predict=off"
MIDDLE = """
([card, m, i, j]) => {
  const found = [...document.querySelectorAll(`.st-key-drawn_${card} svg g.cells_marks path`)]
    .find(({ __data__: { datum } }) => datum.m === m && datum.i === i && datum.j === j);
  const { x, y, width, height } = found.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
}
"""


def test_an_entry_that_is_clicked_is_the_one_that_moves(page, app_url):
    open_page(page, app_url, LESSON)
    assert any(each.startswith("W_query[0, 1] = ") for each in written(page, "slope"))
    page.mouse.click(*page.evaluate(MIDDLE, ["slope", 0, 3, 2]))
    settled(page)
    soon(page, lambda: "entry_row=3" in page.url and "entry_column=2" in page.url)
    assert any(each.startswith("W_query[3, 2] = ") for each in written(page, "slope"))
    assert "cell=" not in page.url, "it is chosen, and not taken apart"
