"""The frame in a real browser: one width of the sidebar, and with it one layout."""

from itertools import product

import pytest

from attention_ui.frame.contents import AT_A_GLANCE, LESSONS, lesson
from attention_ui.streamlit_workarounds.style import SIDEBAR_WIDTH
from browser_tools import open_page, script, settled, soon
from sampling import few

CHARTS = "[data-testid=stMain] [data-testid=stVegaLiteChart]"
SIDEBAR = "[data-testid=stSidebar]"


def places(page, what):
    return page.evaluate(script("places"), what)


def room(page):
    return page.evaluate(script("room"))


def test_the_sidebar_has_no_edge_to_pull_and_still_folds_away(page, app_url):
    open_page(page, app_url, "")
    assert not page.locator("[data-testid=stSidebarResizeHandle]").is_visible()
    page.mouse.move(SIDEBAR_WIDTH + 2, 400)
    page.mouse.down()
    page.mouse.move(SIDEBAR_WIDTH + 150, 400, steps=5)
    page.mouse.up()
    assert places(page, SIDEBAR) == [[0, 0, SIDEBAR_WIDTH]]
    wide = room(page)
    page.locator(SIDEBAR).hover()
    page.get_by_role("button", name="Collapse sidebar").click()
    soon(page, lambda: room(page), pytest.approx(wide + SIDEBAR_WIDTH))


def test_on_a_phone_the_sidebar_lies_over_the_page(new_page, app_url):
    page = new_page(viewport={"width": 390, "height": 844})
    open_page(page, app_url, "simplified_attention?predict=off")
    before = places(page, CHARTS)
    assert places(page, SIDEBAR)[0][2] == 0
    page.get_by_role("button", name="Expand sidebar").or_(
        page.get_by_test_id("stExpandSidebarButton")
    ).first.click()
    soon(page, lambda: places(page, SIDEBAR), [[0, 0, SIDEBAR_WIDTH]])
    settled(page)
    assert places(page, CHARTS) == before


REACHED = script("reached")
"""Of each that can be seen, by its words: whether its middle takes the pointer."""


def test_streamlits_own_bar_takes_no_pointer_from_the_head_of_a_page(page, app_url):
    page.set_viewport_size({"width": 390, "height": 900})
    open_page(page, app_url, "queries_keys_values", first_visit=True)
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        settled(page)
        reached = page.locator("h1, .st-key-quiet :is(button, label)").evaluate_all(REACHED)
        assert reached == dict.fromkeys(reached, True)
        there = {lesson("queries_keys_values").title, "Ask me first", "Pin and compare", "Share"}
        assert there <= {*reached}
        bar = page.locator("[data-testid=stHeader] button").evaluate_all(REACHED)
        assert bar
        assert bar == dict.fromkeys(bar, True), "but its buttons do"


FOLDS = script("folds")


def test_the_contents_open_where_one_is_and_the_rest_with_one_key(page, app_url):
    """What was opened stays so, also on other pages, each of which opens its own."""
    groups = list(dict.fromkeys(each.group for each in LESSONS if each is not AT_A_GLANCE))
    open_page(page, app_url, "tokenize_and_embed?predict=off&cell=none")
    assert page.evaluate(FOLDS) == [[each, each == groups[0]] for each in groups]
    contents, last = page.locator(".st-key-contents"), LESSONS[-1]
    contents.locator("summary", has_text=last.group).press("Enter")
    page.locator(f"{SIDEBAR} [class*=st-key-control_d_in] input").press("ArrowRight")
    settled(page)
    assert page.evaluate(FOLDS) == [[each, each in (groups[0], groups[-1])] for each in groups]
    between = next(each for each in LESSONS if each.group == groups[1])
    contents.locator("summary", has_text=between.group).press("Enter")
    contents.get_by_role("link", name=between.title).click()
    settled(page)
    assert page.evaluate(FOLDS) == [[each, each in groups[1::2]] for each in groups]


@pytest.mark.parametrize("path", few(["causal_mask", ""], 1))
def test_a_heading_stands_from_the_first_where_it_will_stand(page, app_url, path):
    """The style and the room of the sidebar are there before the page's first word."""
    page.add_init_script(script("first_place"))
    open_page(page, app_url, path)
    box = page.locator("h1").bounding_box()
    assert page.evaluate("firstPlace") == pytest.approx([box["x"], box["y"]], abs=8)


def test_on_the_wall_a_picture_is_seen_whole(page, app_url):
    open_page(page, app_url, "simplified_attention?predict=off&large=on")
    for width, name in product((1280, 1920), ("scores", "weights", "context")):
        page.set_viewport_size({"width": width, "height": 900})
        settled(page)
        whole = page.locator(f".st-key-drawn_{name}").bounding_box()
        cells = page.locator(f".st-key-drawn_{name} svg g.cells_marks path")
        last = cells.nth(cells.count() - 1).bounding_box()
        assert last["x"] + last["width"] <= whole["x"] + whole["width"]
        assert last["y"] + last["height"] <= whole["y"] + whole["height"]
