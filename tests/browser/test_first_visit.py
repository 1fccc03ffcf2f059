"""A first visit in a real browser: its address, the way back from it, and names beside numbers."""

import pytest

from attention_ui.settings.link import FIRST
from browser_tools import matrix, no_exception, open_page, settled
from sampling import few

LABELS = ".role-axis-label text"


def switch_predictions(page):
    page.locator(".st-key-control_predict label").first.click()
    settled(page)


@pytest.mark.parametrize("lesson", few(["", "simplified_attention"], 1))
def test_back_leads_away_from_a_first_visit_and_its_links_mean_what_is_shown(page, app_url, lesson):
    page.goto("about:blank")
    open_page(page, app_url, lesson, first_visit=True)
    no_exception(page)
    assert "?" not in page.url
    assert page.locator(".st-key-control_sentence textarea").input_value().startswith("The hungry")
    switch_predictions(page)
    assert f"example={FIRST}" in page.url
    page.go_back()
    settled(page)
    assert "?" not in page.url
    page.go_back()
    page.wait_for_url("about:blank")


@pytest.mark.long
def test_matrices_have_the_names_of_components_beside_them(page, app_url):
    open_page(page, app_url, f"queries_keys_values?predict=off&example={FIRST}")
    no_exception(page)
    for at in range(3):
        shown = matrix(page, "matrices", at).locator(LABELS).all_text_contents()
        assert {"animal", "hunter", "action"} <= {*shown}
    assert "refers" in matrix(page, "matrices", 0).locator(LABELS).all_text_contents()
    assert page.problems == []
