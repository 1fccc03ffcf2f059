"""Each page as a person uses it: by pointer and by keyboard, and on a phone."""

import pytest

from attention_ui.controls.shared import FIRST
from browser_tools import (
    moves_in_one_frame,
    open_page,
    picture_of,
    pushed_sideways,
    script,
    settled,
    soon,
)
from visiting import LESSONS

MARKS = "[data-testid=stVegaLiteChart] svg g[class*=mark-] > path"
TELLS = {"tokenize_and_embed": ".st-key-drawn_ids"}
"""Where it is not the first picture: of merges, all that it has to tell is written."""
TOLD = "document.querySelector('#vg-tooltip-element.visible')?.innerText ?? ''"

CARDS_ARE_SCREENS = ("simplified_attention", "transformer_block")
"""With the first example."""

# Where no sentence is, or its vectors are given: a control of the page in place of the seed, keys,
# and what the link says.
OF_ITS_OWN = {
    **dict.fromkeys(CARDS_ARE_SCREENS, ("control_d_in", ("ArrowLeft",), "d_in=5")),
    "build_a_head": ("control_head_sentence", ("Control+A", *"cat", "Enter"), "head_sentence=cat"),
    "divide_by_sqrt_d": ("control_trials", ("ArrowRight",), "trials="),
    "heads_learning": ("moves_run", ("Home",), "recorded_step=0"),
    "real_model": (
        "control_prompt",
        ("Control+End", "Backspace", "Backspace", "Control+Enter"),
        "prompt=",
    ),
    "notebooks_numbers": ("control_notebook", ("ArrowDown", "Enter"), "notebook="),
    "tiny_language": ("moves_training", ("Home",), "tiny_step=0"),
}

SLIDERS = script("sliders")
"""Each control in a picture: its picture or card, a place beside it, and its room."""


def points_at_a_number(page, marks):
    """Whether one of a dozen marks in sight tells a number when it is pointed at."""
    for x, y in marks.evaluate_all(script("in_sight"), 12):
        page.mouse.move(x, y)
        page.wait_for_timeout(50)
        if any(sign.isdigit() for sign in page.evaluate(TOLD)):
            return True
    return False


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_page_is_used_by_pointer_by_its_pictures_by_keyboard_and_on_a_phone(
    page, app_url, lesson
):
    """A picture tells its numbers at once; a control in one moves it in one frame and stands in the
    link; a control is used by keyboard; and all fits in a window that becomes narrow.
    """
    example = FIRST if lesson in CARDS_ARE_SCREENS else "wild_cat"
    open_page(page, app_url, f"{lesson}?predict=off&cell=none&example={example}")
    cards = [each.bounding_box()["height"] for each in page.locator("[class*=st-key-card_]").all()]
    assert max(cards) <= 600 or lesson not in CARDS_ARE_SCREENS
    marks = page.locator(f"{TELLS.get(lesson, '[data-testid=stMain]')} {MARKS}")
    marks.first.scroll_into_view_if_needed()
    soon(page, lambda: points_at_a_number(page, marks))
    for card, place, room in page.evaluate(SLIDERS):
        before, view = page.url, page.locator(picture_of(card)).element_handle()
        moves_in_one_frame(page, card, place, room)
        settled(page)
        assert page.url != before, room
        assert view.evaluate("one => one.isConnected"), f"{card} was built anew"
    if lesson in OF_ITS_OWN:
        place, keys, said = OF_ITS_OWN[lesson]
        box = page.locator(f"[class*='st-key-{place}'] :is(input, textarea)").first
        # First: an open menu closes as the page scrolls, which it hears a frame after the key.
        box.scroll_into_view_if_needed()
        settled(page)
        box.focus()
        assert page.get_by_role("textbox", name="Seed", exact=True).count() == 0
    else:
        page.get_by_role("textbox", name="Seed", exact=True).first.focus()
        keys, said = ("Control+A", "7", "Enter"), "seed=7"
    for key in keys:
        page.keyboard.press(key)
    soon(page, lambda: said in page.url)
    settled(page)
    page.set_viewport_size({"width": 390, "height": 844})
    settled(page)
    assert not pushed_sideways(page)
    assert page.locator("h1").first.bounding_box()["x"] >= 0
    assert page.locator("[data-testid=stVegaLiteChart]").count() > 0


def test_what_was_pointed_at_goes_with_its_page(page, app_url):
    open_page(page, app_url, "simplified_attention?predict=off")
    assert points_at_a_number(page, page.locator(f"{picture_of('scores')} g.mark-rect > path"))
    page.locator(".st-key-contents a", has_text="Why divide").evaluate("link => link.click()")
    page.wait_for_url("**/divide_by_sqrt_d?*")
    assert page.locator("#vg-tooltip-element").count() == 0
    settled(page)
    assert points_at_a_number(page, page.locator(MARKS))
