"""The page of the tiny language in a browser: its menus, and its training that is played."""

import pytest

from browser_tools import choose, no_exception, open_page, settled, soon

pytestmark = pytest.mark.long

PAGE = "tiny_language?predict=off&cell=none"


@pytest.mark.slow("20 s: three menus and a button")
def test_the_menus_move_what_they_are_about(page, app_url):
    open_page(page, app_url, PAGE)
    wrong = page.get_by_text("the sentence goes wrong")
    assert wrong.count() == 0
    choose(page, "Head to switch off", "layer 0 head 0")
    assert "tiny_off=0.0" in page.url
    assert wrong.count() == 1
    watched = page.locator(".st-key-eq_watch")
    assert watched.get_by_text("layer_1_weights[3]").count() == 1
    choose(page, "Head to watch", "layer 0 head 0")
    assert watched.get_by_text("layer_0_weights[0]").count() == 1
    page.get_by_role("button", name="a bracket …").click()
    settled(page)
    assert watched.get_by_text("layer_1_weights[2]").count() == 1, "the head that brackets need"
    menu = page.get_by_role("combobox", name="Next word")
    menu.click()
    menu.fill("meows")
    menu.press("Enter")
    settled(page)
    assert page.get_by_text("logit of “meows”").count() == 1
    no_exception(page)
    assert page.problems == []


def test_its_training_is_played_without_the_server(page, app_url):
    open_page(page, app_url, PAGE)
    player = page.locator(".st-key-watched_heads_tiny")
    player.scroll_into_view_if_needed()
    settled(page)
    asked = page.evaluate("window.testRuns.asked")
    drawn, slider = player.locator("svg.marks"), player.locator("input[type=range]")
    said = drawn.text_content()
    assert "step 1,500: loss 1.0" in said
    assert "1.3 pronoun to noun" in said
    assert drawn.bounding_box()["width"] <= player.bounding_box()["width"] + 1
    slider.press("Home")
    page.wait_for_function(
        "document.querySelector('.st-key-watched_heads_tiny').innerText.includes('step 0: loss 4.')"
    )
    assert "nearest: " in drawn.text_content()
    player.get_by_role("button").filter(has_text="Step on").press("Enter")
    assert slider.input_value() == "1"
    slider.press("End")
    soon(page, drawn.text_content, said)
    assert page.evaluate("window.testRuns.asked") == asked, "the server was not asked"
    no_exception(page)
    assert page.problems == []
