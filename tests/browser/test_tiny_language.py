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


def test_no_button_of_a_picture_stands_on_its_words(page, app_url):
    open_page(page, app_url, PAGE)
    below = page.locator("[class*=st-key-keys_below_]")
    below.first.wait_for()
    for one in below.all():
        name = one.get_attribute("class").partition("st-key-keys_below_")[2].split()[0]
        words = page.locator(f".st-key-drawn_{name} svg text", has_text="%").evaluate_all(
            "all => all.map((one) => one.getBoundingClientRect().bottom)"
        )
        assert words
        assert max(words) <= one.bounding_box()["y"]
