"""What is seen before anything is touched: equations that fit, a layer in one window, a picture."""

from itertools import product

import pytest

from attention_ui.charts.sizes import SIDEBAR_WIDTH
from attention_ui.settings.link import FIRST
from attention_ui.shell import contents
from browser_tools import DEEPER, no_exception, open_page, settled, soon
from sampling import few
from visiting import LESSONS

CHARTS = "[class*=st-key-eq_] [data-testid=stVegaLiteChart]"
WIDER = """charts => charts.filter((chart) => chart.checkVisibility())
  .filter((chart) => chart.scrollWidth > chart.clientWidth + 1)
  .map((chart) => chart.closest('[class*=st-key-eq_]').className)"""
UNREACHED = """charts => charts.filter((chart) => chart.checkVisibility())
  .filter((chart) => chart.scrollWidth > chart.clientWidth && chart.tabIndex !== 0)
  .map((chart) => chart.closest('[class*=st-key-]').className)"""
THREE_HEADS = "whole_layer?example=wild_cat&n_heads=3&d_model=6"


LEAST_IN_SIGHT = 200
"""Pixels of a picture that can be seen without scrolling, to count as being in sight."""
PICTURES = "[data-testid=stVegaLiteChart], [class*=st-key-chips]"
IN_SIGHT = """pictures => Math.max(...pictures.filter((one) => one.checkVisibility())
  .map((one) => one.getBoundingClientRect())
  .map(({ top, bottom }) => Math.min(bottom, innerHeight) - Math.max(top, 0)))"""


REACHED = ("control_example", "control_seed", "control_d_in", "control_predict", "pin", "share")
"""What a laptop shows of the sidebar without scrolling."""


@pytest.mark.parametrize("lesson", few(LESSONS, 3))
def test_what_matters_is_seen_at_a_first_visit_without_scrolling(page, app_url, lesson):
    """The question, a picture, and the settings that all lessons share; nothing is too wide."""
    open_page(page, app_url, lesson, first_visit=True)
    assert page.locator(CHARTS).evaluate_all(WIDER) == []
    idea = page.get_by_text(contents.lesson(lesson).idea)
    assert idea.bounding_box()["y"] < 200
    main = page.locator("[data-testid=stMain]")
    least = 40 if lesson == "tokenize_and_embed" else LEAST_IN_SIGHT  # its tokens are one line
    assert main.locator(PICTURES).evaluate_all(IN_SIGHT) >= least
    formula = main.locator(".katex").first
    if formula.count():
        picture = main.locator(PICTURES).first.bounding_box()["y"]
        assert formula.bounding_box()["y"] > picture, "the picture comes first"
    first = contents.lesson(lesson).first
    for name in (*REACHED, *(f"control_{name}" for name in first)):
        box = page.locator(f"[data-testid=stSidebar] [class*='st-key-{name}']").bounding_box()
        assert 0 <= box["y"] < box["y"] + box["height"] <= 900, name
        assert box["x"] + box["width"] <= SIDEBAR_WIDTH, name
    no_exception(page)


@pytest.mark.long
@pytest.mark.parametrize(
    ("cell", "is_open"),
    [("none", False), ("split_queries.0.1.0", False), ("permuted_queries.0.1.0", True)],
)
def test_what_goes_deeper_is_folded_unless_the_link_s_cell_is_there(page, app_url, cell, is_open):
    address = f"{app_url}/multi_head_attention?predict=off&example={FIRST}&cell={cell}"
    page.goto(address)
    settled(page)
    fold = page.locator(DEEPER)
    assert fold.evaluate("fold => fold.open") == is_open
    if cell != "none":
        assert page.locator("[class*=st-key-cell_]").first.is_visible()
    if not is_open:
        fold.locator("summary").first.click()
        settled(page)
    assert page.get_by_text("One head at a time").first.is_visible()
    assert fold.locator(".stVegaLiteChart svg.marks").first.is_visible()
    page.locator(".st-key-control_predict label").first.click()  # the whole page runs
    settled(page)
    assert fold.evaluate("fold => fold.open"), "what was unfolded stays so"
    no_exception(page)


@pytest.mark.parametrize("lesson", few(["queries_keys_values", "multi_head_attention"], 1))
def test_on_a_phone_what_is_wider_than_the_page_is_reached_by_keyboard(new_page, app_url, lesson):
    page = new_page(viewport={"width": 390, "height": 844})
    open_page(page, app_url, f"{lesson}?example={FIRST}")
    charts = page.locator("[data-testid=stVegaLiteChart]")
    assert page.locator(CHARTS).evaluate_all(WIDER), "something is wider"
    assert charts.evaluate_all(UNREACHED) == []


ENDS = """chart => {
  const boxes = [...chart.querySelectorAll('g[class*=cells_] path')]
    .map((cell) => cell.getBoundingClientRect());
  return [Math.max(...boxes.map((box) => box.right)), Math.max(...boxes.map((box) => box.bottom))];
}"""
"""Where the last cells of a chart end, in the window."""


@pytest.mark.parametrize(
    ("window", "address"),
    few(product([(1280, 900), (1920, 1080)], ["whole_layer", THREE_HEADS]), 1),
)
def test_the_whole_layer_fits_in_one_window(new_page, app_url, window, address):
    width, height = window
    page = new_page(viewport={"width": width, "height": height})
    open_page(page, app_url, address, first_visit="?" not in address)
    right, bottom = page.locator(".st-key-eq_layer svg.marks").evaluate(ENDS)
    assert 0 < right <= width
    assert 0 < bottom <= height
    no_exception(page)


def test_a_click_in_the_layer_brings_what_it_opens_into_sight(page, app_url):
    open_page(page, app_url, f"{THREE_HEADS}&cell=none&predict=off")
    assert page.locator(".st-key-cell_layer").count() == 0
    page.locator(".st-key-eq_layer svg g.cells_3_marks path").first.click()
    settled(page)
    opened = page.locator(".st-key-cell_layer")
    soon(page, lambda: 0 <= opened.bounding_box()["y"] < 900 - 100)


@pytest.mark.parametrize("example", few([FIRST, "wild_cat"], 1))
def test_the_first_picture_of_home_is_there_above_everything_else(page, app_url, example):
    open_page(page, app_url, f"?example={example}" if example != FIRST else "", first_visit=True)
    weights = page.locator(".st-key-eq_hero svg g[class*=cells_0_marks] path")
    n_tokens = 9 if example == FIRST else 11
    assert weights.count() == n_tokens**2
    assert page.locator(".st-key-eq_hero svg.marks").bounding_box()["y"] < 900 / 2
    assert "of its attention to" in page.locator(".st-key-hero").inner_text()
    no_exception(page)
    assert page.problems == []
