"""What a lesson draws when it is used: faint rows, bars, tooltips, a link made of controls."""

import pytest

from browser_tools import no_exception, numbers, open_page, settled, soon

LESSON = "simplified_attention?predict=off"
HOSTILE = (
    '<img/src="x"onerror="window.hacked=1"> <script>window.hacked=1</script> '
    "![x](http://127.0.0.1:9/x.png) [a](javascript:alert(1)) $x$ :red[x]"
)
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


def control(page, name, kind="input"):
    return page.locator(f"[class*='st-key-control_{name}'] {kind}").first


@pytest.mark.long
def test_a_link_made_with_the_controls_shows_the_same_to_another_person(
    page, new_page, app_url, fresh_server
):
    open_page(page, app_url, "simplified_attention")
    control(page, "predict", "label").click()
    settled(page)
    control(page, "sentence", "textarea").fill("Émile: 5 & 10% + 猫?")
    page.keyboard.press("Control+Enter")
    settled(page)
    control(page, "seed").fill("7")
    page.keyboard.press("Enter")
    settled(page)
    control(page, "d_in").focus()
    page.keyboard.press("ArrowRight")
    settled(page)
    cell(page, "scores", 2, 0, 3).click()
    settled(page)
    link = page.url.removeprefix(app_url)

    other = new_page()
    open_page(other, fresh_server(), link)
    assert control(other, "sentence", "textarea").input_value() == "Émile: 5 & 10% + 猫?"
    assert control(other, "seed").input_value() == "7"
    for card in ("scores", "weights", "context"):
        assert numbers(other, card) == numbers(page, card) != []
    mine, theirs = (each.locator(".st-key-cell_scores").inner_text() for each in (page, other))
    assert mine == theirs
    assert "scores[0, 3]" in theirs
    assert other.locator(".st-key-notices").count() == 0


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


@pytest.mark.long
def test_hostile_text_that_is_typed_is_text_on_every_page(page, app_url):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    open_page(page, app_url, f"{LESSON}&tokenizer=blanks")
    control(page, "sentence", "textarea").fill(HOSTILE)
    page.keyboard.press("Control+Enter")
    settled(page)
    assert "<img/src" in page.locator(".st-key-drawn_scores svg.marks").text_content()
    cell(page, "scores", 2, 0, 0).hover()
    page.locator(TIP).wait_for()
    assert '<img/src="x"onerror="window.hacked=1">' in page.locator(TIP).inner_text()
    sidebar = page.locator("[data-testid=stSidebar]")
    for title in ("Simplified attention", "Tokenize and embed", "Home"):
        sidebar.get_by_role("link", name=title).click()
        settled(page, quiet=1)
        assert control(page, "sentence", "textarea").input_value() == HOSTILE
        assert page.locator("img[src='x'], a[href^='javascript']").count() == 0
        assert page.evaluate("window.hacked") is None
        no_exception(page)
    assert not [url for url in asked if "127.0.0.1:9/" in url]
