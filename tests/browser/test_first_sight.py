"""What is seen before anything is touched: equations that fit, a layer in one window, a picture."""

import pytest

from attention_ui.settings.link import FIRST, OLDER
from browser_tools import no_exception, open_page, settled
from visiting import LESSONS

CHARTS = "[class*=st-key-eq_] [data-testid=stVegaLiteChart]"
WIDER = """charts => charts.filter((chart) => chart.checkVisibility())
  .filter((chart) => chart.scrollWidth > chart.clientWidth + 1)
  .map((chart) => chart.closest('[class*=st-key-eq_]').className)"""
UNREACHED = """charts => charts.filter((chart) => chart.checkVisibility())
  .filter((chart) => chart.scrollWidth > chart.clientWidth && chart.tabIndex !== 0)
  .map((chart) => chart.closest('[class*=st-key-]').className)"""
THREE_HEADS = "whole_layer?example=wild_cat&n_heads=3&d_model=6"


@pytest.mark.parametrize("example", [FIRST, OLDER])
@pytest.mark.parametrize("lesson", LESSONS)
def test_no_equation_is_wider_than_a_laptop_s_page(page, app_url, lesson, example):
    open_page(page, app_url, f"{lesson}?example={example}")
    assert page.locator(CHARTS).count()
    assert page.locator(CHARTS).evaluate_all(WIDER) == []
    no_exception(page)


@pytest.mark.parametrize("lesson", ["queries_keys_values", "multi_head_attention"])
def test_on_a_phone_what_is_wider_than_the_page_is_reached_by_keyboard(new_page, app_url, lesson):
    page = new_page(viewport={"width": 390, "height": 844})
    open_page(page, app_url, f"{lesson}?example={FIRST}")
    charts = page.locator("[data-testid=stVegaLiteChart]")
    assert page.locator(CHARTS).evaluate_all(WIDER), "something is wider"
    assert charts.evaluate_all(UNREACHED) == []


def layer(page):
    """The chart of the whole layer: where it ends, and what it shows."""
    chart = page.locator(".st-key-eq_layer svg.marks")
    return chart.evaluate("chart => chart.getBoundingClientRect().toJSON()")


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (1920, 1080)])
def test_three_heads_of_eleven_tokens_fit_in_one_window(new_page, app_url, width, height):
    page = new_page(viewport={"width": width, "height": height})
    open_page(page, app_url, THREE_HEADS)
    drawn = layer(page)
    assert drawn["height"] < height
    assert drawn["right"] <= width
    no_exception(page)


def test_a_click_in_the_layer_brings_what_it_opens_into_sight(page, app_url):
    open_page(page, app_url, f"{THREE_HEADS}&cell=none&predict=off")
    assert page.locator(".st-key-cell_layer").count() == 0
    page.locator(".st-key-eq_layer svg g.cells_3_marks path").first.click()
    settled(page)
    page.wait_for_timeout(500)
    opened = page.locator(".st-key-cell_layer").bounding_box()
    assert 0 <= opened["y"] < 900 - 100


@pytest.mark.parametrize("example", [FIRST, OLDER])
def test_the_first_picture_of_home_is_there_above_everything_else(page, app_url, example):
    open_page(page, app_url, f"?example={example}" if example != FIRST else "", first_visit=True)
    weights = page.locator(".st-key-eq_hero svg g[class*=cells_0_marks] path")
    n_tokens = 9 if example == FIRST else 11
    assert weights.count() == n_tokens**2
    assert page.locator(".st-key-eq_hero svg.marks").bounding_box()["y"] < 900 / 2
    assert "of its attention to" in page.locator(".st-key-hero").inner_text()
    no_exception(page)
    assert page.problems == []
