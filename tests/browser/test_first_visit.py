"""A first visit in a real browser: its address, and the way back from it."""

import pytest

from attention_ui.controls.shared import FIRST
from browser_tools import no_exception, open_page, settled
from sampling import few


@pytest.mark.parametrize("lesson", few(["", "simplified_attention"], 1))
def test_back_leads_away_from_a_first_visit_and_its_links_mean_what_is_shown(page, app_url, lesson):
    page.goto("about:blank")
    open_page(page, app_url, lesson, first_visit=True)
    no_exception(page)
    assert "?" not in page.url
    assert page.locator(".st-key-control_sentence textarea").input_value().startswith("The hungry")
    width = page.locator("[data-testid=stSidebar] .st-key-control_d_in input")
    width.press("ArrowRight")
    settled(page)
    assert f"example={FIRST}" in page.url
    assert "d_in=7" in page.url
    page.go_back()
    settled(page)
    assert "?" not in page.url
    assert width.input_value() == "6"
    page.go_back()
    page.wait_for_url("about:blank")
