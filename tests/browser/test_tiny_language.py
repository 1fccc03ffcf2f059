"""The page of the tiny language in a browser: its menus move what they are about."""

import pytest

from browser_tools import choose, no_exception, open_page, settled

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
