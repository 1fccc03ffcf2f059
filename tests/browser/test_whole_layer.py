"""The whole layer in a real browser: the head that is pointed at, and what it can carry."""

from browser_tools import open_page, script, settled, soon

LINK = "whole_layer?example=named_features&predict=off"
CELLS = ".st-key-drawn_layer svg g.cells_marks path"
SHARES = script("shares")
# Embeddings, three matrices, all of head 0, and queries, keys, scores and scaled scores of head 1.
WEIGHTS_OF_HEAD_1 = 54 + 3 * 36 + (2 * 18 + 3 * 81 + 2 * 18) + (2 * 18 + 2 * 81)


def test_the_sentence_follows_the_head_that_is_pointed_at(page, app_url):
    open_page(page, app_url, LINK)
    assert page.evaluate(SHARES)[2] == "68%"  # head 0: “it” looks at “cat”
    page.locator(CELLS).nth(WEIGHTS_OF_HEAD_1 + 9 * 7 + 2).hover()
    soon(page, lambda: page.evaluate(SHARES), ["11%"] * 9)
    told = page.locator("#vg-tooltip-element").inner_text()
    assert "head 1 “whom” · query 7 “it” · key 2 “cat”" in told


def test_a_picture_that_grows_beyond_what_it_can_carry_hands_its_control_back(page, app_url):
    """The control moves from the picture to the page and back, and the page stands."""
    open_page(page, app_url, LINK)
    heads = page.locator("[class*=st-key-control_n_heads] input[type=range]")
    carried = page.locator(".st-key-moves_layer .vega-bind input")
    assert carried.count()
    for key, is_carried in (("End", False), ("Home", True), ("End", False)):
        heads.press(key)
        settled(page)
        page.locator(".st-key-moves_layer").hover()  # what it can carry is worked out then
        settled(page)
        assert bool(carried.count()) == is_carried
        assert page.get_by_role("heading", level=1).is_visible()
