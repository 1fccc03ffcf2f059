"""What a lesson draws when it is used: faint rows, bars, tooltips, a link made of controls."""

from browser_tools import open_page, soon

LESSON = "simplified_attention?predict=off"
TIP = "#vg-tooltip-element.visible"
CELL = """([card, m, i, j]) => [...document.querySelectorAll(
    `.st-key-drawn_${card} svg g.cells_marks path`)]
  .findIndex((one) => ['m', 'i', 'j'].every((each, at) =>
    one.__data__.datum[each] === [m, i, j][at]))"""


def cell(page, card, matrix, row, column):
    """One cell of a matrix, counted from 0, of a card's picture."""
    at = page.evaluate(CELL, [card, matrix, row, column])
    assert at >= 0
    return page.locator(f".st-key-drawn_{card} svg g.cells_marks path").nth(at)


def test_a_tooltip_names_both_tokens_and_covers_no_cell_from_the_pointer(page, app_url):
    open_page(page, app_url, LESSON)
    cell(page, "weights", 1, 8, 6).hover()
    tip = page.locator(TIP)
    tip.wait_for()
    assert "query 8 “wild” · key 6 “the”" in tip.inner_text()
    assert "0.3910" in tip.inner_text()
    cell(page, "scores", 2, 2, 2).hover()
    soon(page, lambda: "query 2 " in "".join(tip.all_inner_texts()))
    before, over = tip.inner_text(), tip.bounding_box()
    boxes = page.locator(".st-key-drawn_scores svg g.cells_marks path").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().toJSON())"
    )
    middles = [(one["x"] + one["width"] / 2, one["y"] + one["height"] / 2) for one in boxes]
    below = [
        (x, y)
        for x, y in middles
        if over["x"] < x < over["x"] + over["width"] and over["y"] < y < over["y"] + over["height"]
    ]
    page.mouse.move(*below[0])
    soon(page, lambda: tip.all_inner_texts() not in ([], [before]))
