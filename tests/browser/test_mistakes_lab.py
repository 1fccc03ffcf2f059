"""The mistakes lab, the game, and the notebooks' numbers in a real browser."""

import pytest

from attention_ui.picture.palette import CHOSEN
from browser_tools import choose, moves_in_one_frame, numbers, open_page, outlined, settled, soon

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
    cells.nth(2 * n + 5).click()
    settled(page)
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
    page.locator(f".st-key-drawn_compared {CELLS}").first.click()
    settled(page)
    assert "cell=normed.0.0" in page.url, "the right step stands there now"
    page.locator(".st-key-moves_compared input").press("ArrowRight")
    settled(page)
    assert numbers(page, "compared", 0) == wrong
    assert "switch" not in page.url


@pytest.mark.long
def test_a_round_from_the_lights_to_the_reason_and_on(page, app_url):
    open_page(page, app_url, "diagnosis?example=named_features")
    controls = page.locator(".st-key-beside_context")
    ends = controls.evaluate(
        """(beside) => [...beside.querySelectorAll('[data-baseweb=select], input[type=text],'
          + ' button')].filter((one) => one.offsetParent && one.offsetHeight > 30)
          .map((one) => Math.round(one.getBoundingClientRect().bottom))"""
    )
    assert max(ends) - min(ends) <= 4, "level, round, button and head stand on one line"
    choose(page, "Your guess", "Softmax over the queries")
    page.get_by_role("button", name="Reveal").click()
    settled(page)
    card = page.locator(".st-key-card_name_it")
    assert "Not quite" in card.inner_text()
    assert "You will meet this one again" in card.inner_text()
    card.get_by_role("button", name="Guess again").click()
    settled(page)
    choose(page, "Your guess", "d in place of √d")
    page.get_by_role("button", name="Reveal").click()
    settled(page)
    card.locator("[data-testid=stRadio] label", has_text="variance").click()
    settled(page)
    assert "Right. What breaks is" in card.inner_text()
    assert page.locator(f".st-key-drawn_truth {CELLS}").count() > 0
    moves_in_one_frame(page, "truth", 0)
    card.get_by_role("button", name="Next round").click()
    settled(page)
    assert "round_seed=1" in page.url


@pytest.mark.long
def test_a_row_of_the_notebooks_numbers_leads_to_its_lesson(page, app_url):
    open_page(page, app_url, "notebooks_numbers?notebook=wild_cat&search=context_0&predict=off")
    frame = page.locator("[data-testid=stDataFrame]").bounding_box()
    page.mouse.click(frame["x"] + 16, frame["y"] + 52)  # the first row's box; the grid is a canvas
    settled(page)
    card = page.locator(".st-key-card_results")
    assert "computed  1.1176" in card.inner_text()
    card.get_by_role("link", name="Simplified attention").click()
    settled(page)
    assert "simplified_attention" in page.url
    assert "cell=" in page.url
