"""Whoever presses faster than the server answers: what is shown is what the address says."""

import random
from itertools import zip_longest
from urllib.parse import urlsplit

import pytest

from attention_ui.frame.contents import LESSONS
from browser_tools import CONTROLS, IN_PICTURES, KEYS, caught_up, open_page, script, settled, shown

N_EVENTS, N_LAST, N_TRIES = 30, 6, 2
FOCUS = (
    f"([kinds, at]) => {{ const found = ({CONTROLS})(kinds); found[at % found.length]?.focus() }}"
)
KIND = "(kinds) => kinds.findIndex((kind) => document.activeElement.matches(kind))"


@pytest.mark.long
@pytest.mark.parametrize("at", range(N_TRIES))
@pytest.mark.parametrize("lesson", [each.name for each in LESSONS])
def test_thirty_quick_presses_end_where_the_address_says(new_page, page, app_url, lesson, at):
    open_page(page, app_url, f"{lesson}?predict=off")
    chance, pressed = random.Random(f"{lesson} {at}"), []

    def press(kinds):
        page.evaluate(FOCUS, [kinds, chance.randrange(1000)])
        kind = [*KEYS][page.evaluate(KIND, [*KEYS])]
        key = chance.choice(KEYS[kind])
        pressed.append((kind, key))
        page.keyboard.press(key)

    has = page.evaluate(f"(kinds) => ({CONTROLS})(kinds).length", ", ".join(KEYS))
    if not has:
        return
    last = IN_PICTURES if page.locator(IN_PICTURES).count() else ", ".join(KEYS)
    for number in range(N_EVENTS):
        press(last if number >= N_EVENTS - N_LAST else ", ".join(KEYS))
    caught_up(page)
    warm = shown(page)
    cold, address = new_page(), page.evaluate("location.href")
    open_page(cold, app_url, address.removeprefix(app_url))
    caught_up(cold)
    fresh = shown(cold)
    for what in warm:
        pairs = zip_longest(warm[what], fresh[what])
        assert warm[what] == fresh[what], [pair for pair in pairs if pair[0] != pair[1]]


def test_what_follows_from_a_slider_is_not_taken_for_pressed(page, app_url):
    """Select boxes of other cards go along with it: messages say where they stood on the way."""
    open_page(page, app_url, "how_a_matrix_learns?example=named_features&predict=off")
    page.locator(".st-key-control_d_in input[type=range]").focus()
    for at in range(12):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout((30, 130, 200, 300)[at % 4])
    settled(page)
    assert urlsplit(page.url).query == "example=named_features&predict=off&d_in=18"


def moved_once(page, app_url):
    """The control in the first picture, just moved a step further than the page opened with."""
    open_page(page, app_url, "simplified_attention?predict=off")
    control = page.locator(".st-key-moves_scores input")
    control.hover()
    settled(page)
    control.press("ArrowRight")
    return control


def test_a_link_waits_for_the_control_in_a_picture_that_was_moved_just_before(page, app_url):
    control = moved_once(page, app_url)
    page.locator(".st-key-contents a", has_text="Why divide").evaluate("link => link.click()")
    page.wait_for_url("**/divide_by_sqrt_d?*")
    settled(page)
    page.go_back()
    settled(page)
    assert "factor=1.25" in page.url
    assert control.input_value() == "1.25"


@pytest.mark.parametrize("hand", ["moves_as_one_goes_back", "moves_what_is_built"])
def test_what_is_moved_as_its_view_comes_or_goes_is_where_the_address_says(page, app_url, hand):
    """The slider is there before anything listens to it."""
    control = moved_once(page, app_url)
    settled(page)
    page.evaluate(script(hand))
    settled(page)
    page.wait_for_url(f"**factor={page.evaluate('last'):g}**")
    assert float(control.input_value()) == page.evaluate("last")


def test_controls_of_two_cards_that_rest_at_once_are_reported_apart(page, app_url):
    told = []
    page.on("console", lambda message: told.append(message.text))
    open_page(page, app_url, "causal_mask?predict=off")
    for control in page.locator(".vega-bind input").all()[:2]:
        control.hover()
        settled(page)
    page.evaluate(script("moves_two"))
    page.wait_for_timeout(500)
    settled(page)
    assert "change_by=" in page.url
    assert "window=" in page.url
    assert [each for each in told if "fragmentIds" in each] == []


def test_what_is_built_anew_has_its_sliders_where_they_stood(page, app_url):
    """As in another theme, or where it was folded away. Who watched before watches no more."""
    open_page(page, app_url, "simplified_attention?predict=off")
    each = page.locator(".vega-bind input").all()
    for control, key in zip(each, ("ArrowRight", "ArrowLeft"), strict=True):
        control.hover()
        settled(page)
        control.press(key)
        settled(page)
    moved = [one.input_value() for one in each]
    page.emulate_media(color_scheme="dark")
    settled(page)
    assert [one.input_value() for one in each] == moved == ["1.25", "10"]
    assert page.locator("body > [role=status]").count() == 1
