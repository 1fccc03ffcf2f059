"""The page of the tiny language in a browser: its menus, and its training moved through."""

import pytest

from browser_tools import choose, moves_in_one_frame, open_page, settled, soon

PAGE = "tiny_language?predict=off"


@pytest.mark.slow("20 s: three menus and a button")
@pytest.mark.long
def test_the_menus_move_what_they_are_about(page, app_url):
    open_page(page, app_url, PAGE)
    wrong = page.get_by_text("the sentence goes wrong")
    assert wrong.count() == 0
    choose(page, "Head to switch off", "layer 0 head 0")
    assert "tiny_off=0.0" in page.url
    assert wrong.count() == 1
    watched = page.locator(".st-key-card_watch")
    assert watched.get_by_text("at the animal it stands for").count() == 1
    choose(page, "Head to watch", "layer 0 head 0")
    assert watched.get_by_text("at a “because” just before it").count() == 1
    page.get_by_role("button", name="a bracket …").click()
    settled(page)
    assert "tiny_head=1.2" in page.url, "the head that brackets need"
    menu = page.get_by_role("combobox", name="Next word")
    menu.click()
    menu.fill("meows")
    menu.press("Enter")
    settled(page)
    assert page.get_by_text("logit of “meows”").count() == 1


def test_a_beginning_that_is_refused_is_said_where_nothing_below_moves(page, app_url):
    open_page(page, app_url, PAGE)
    below = page.locator(".st-key-card_two_steps")
    top = below.bounding_box()["y"]
    typed = page.get_by_label("Your beginning")
    typed.fill("the zebra sees")
    typed.press("Enter")
    page.locator(".st-key-problem_of_beginning").get_by_text("Its animals").wait_for()
    soon(page, lambda: abs(below.bounding_box()["y"] - top) < 3)


def test_its_training_is_moved_through_without_the_server(page, app_url):
    open_page(page, app_url, PAGE)
    slider = page.locator(".st-key-moves_training input[type=range]")
    slider.scroll_into_view_if_needed()
    settled(page)
    moves_in_one_frame(page, "training")
    settled(page)
    assert "tiny_step=7" in page.url, "the step, not its place"
    page.go_back()
    settled(page)
    assert "tiny_step" not in page.url
    assert page.locator(".st-key-moves_training input").input_value() == "40"
