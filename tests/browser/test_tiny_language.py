"""The page of the tiny language in a browser: its menus, and its training moved through."""

from browser_tools import open_page, soon

PAGE = "tiny_language?predict=off"


def test_a_beginning_that_is_refused_is_said_where_nothing_below_moves(page, app_url):
    open_page(page, app_url, PAGE)
    below = page.locator(".st-key-card_two_steps")
    top = below.bounding_box()["y"]
    typed = page.get_by_label("Your beginning")
    typed.fill("the zebra sees")
    typed.press("Enter")
    page.locator(".st-key-problem_of_beginning").get_by_text("Its animals").wait_for()
    soon(page, lambda: abs(below.bounding_box()["y"] - top) < 3)
