"""What is seen before anything is touched: the question, a picture, what the sidebar is for."""

import pytest

from attention_ui.controls.shared import FIRST
from attention_ui.frame import contents
from attention_ui.streamlit_workarounds.style import SIDEBAR_WIDTH
from browser_tools import numbers, open_page, script
from sampling import few
from visiting import LESSONS

PICTURES = "[class*=st-key-card_] [data-testid=stVegaLiteChart]"
WIDER = """charts => charts.filter((chart) => chart.checkVisibility())
  .filter((chart) => chart.scrollWidth > chart.clientWidth + 1)
  .map((chart) => chart.closest('[class*=st-key-drawn_], [class*=chart_of_]').className)"""
LEAST_IN_SIGHT = 200
"""Pixels of a picture that can be seen without scrolling, to count as being in sight."""
IN_SIGHT = """pictures => Math.max(...pictures.filter((one) => one.checkVisibility())
  .map((one) => one.getBoundingClientRect())
  .map(({ top, bottom }) => Math.min(bottom, innerHeight) - Math.max(top, 0)))"""
CUT = """links => links.filter((link) => [...link.querySelectorAll('*')]
  .some((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth))
  .map((link) => link.textContent)"""
MOVED = script("moved")
MOST_MOVED = 0.1
"""Of the window, as browsers reckon it: what they call a page that stands still."""
AT_THE_HEAD = ("control_predict", "share", "control_large")
IN_THE_SIDEBAR = ("control_example", "control_sentence", "control_seed", "control_d_in")
"""Of a page with a sentence: what a laptop shows of it without scrolling."""
FIRST_TO_MOVE = {"tokenize_and_embed": "control_tokenizer"}
"""What a lesson is about, among the controls of its cards."""


def assert_nothing_jumped(page):
    shifts = page.evaluate("window.testMoved")
    said = [f"{share:.4f} of the window: {'; '.join(moved)}" for share, moved in shifts]
    assert sum(share for share, _ in shifts) < MOST_MOVED, "\n".join(said)


@pytest.mark.parametrize("lesson", few(LESSONS, 3))
def test_what_matters_is_seen_at_a_first_visit_without_scrolling(page, app_url, lesson):
    """Nothing is too wide either, and nothing jumps while the page comes."""
    page.add_init_script(MOVED)
    open_page(page, app_url, lesson, first_visit=True)
    assert_nothing_jumped(page)
    main = page.locator("[data-testid=stMain]")
    assert main.locator(PICTURES).evaluate_all(WIDER) == []
    assert page.get_by_text(contents.lesson(lesson).idea).first.bounding_box()["y"] < 200
    least = 140 if lesson == "tokenize_and_embed" else LEAST_IN_SIGHT  # its ids are one row
    assert main.locator(PICTURES).evaluate_all(IN_SIGHT) >= least
    formula = main.locator(".katex").first
    if formula.count():
        picture = main.locator(PICTURES).first.bounding_box()["y"]
        assert formula.bounding_box()["y"] > picture, "the picture comes first"
    sidebar = page.locator("[data-testid=stSidebar]")
    with_a_sentence = sidebar.locator(".st-key-control_sentence").count()
    for name in (*AT_THE_HEAD, "pin") if with_a_sentence else AT_THE_HEAD:
        box = main.locator(f".st-key-{name}").first.bounding_box()
        assert 0 <= box["y"] < box["y"] + box["height"] <= 200, name
    if lesson in FIRST_TO_MOVE:
        box = main.locator(f"[class*=st-key-{FIRST_TO_MOVE[lesson]}]").bounding_box()
        assert 0 <= box["y"] < box["y"] + box["height"] <= 900
    for name in IN_THE_SIDEBAR if with_a_sentence else ():
        if name == "control_seed" and not sidebar.locator(f".st-key-{name}").count():
            continue  # the first example's vectors are given
        box = sidebar.locator(f"[class*='st-key-{name}']").first.bounding_box()
        assert 0 <= box["y"] < box["y"] + box["height"] <= 900, name
        assert box["x"] + box["width"] <= SIDEBAR_WIDTH, name


@pytest.mark.parametrize("example", few([FIRST, "wild_cat"], 1))
def test_the_first_picture_of_home_is_there_above_everything_else(page, app_url, example):
    page.add_init_script(MOVED)
    open_page(page, app_url, f"?example={example}" if example != FIRST else "", first_visit=True)
    assert_nothing_jumped(page)
    assert page.locator(".st-key-card_layer svg.marks").bounding_box()["y"] < 900 / 2
    n_tokens = 9 if example == FIRST else 11
    assert len(numbers(page, "layer", 0)) == n_tokens**2
    assert "of its attention to" in page.locator(".st-key-card_layer").inner_text()
    begin = page.locator(".st-key-begin [data-testid=stPageLink]")
    assert (begin.count(), begin.evaluate_all(CUT)) == (3, [])
