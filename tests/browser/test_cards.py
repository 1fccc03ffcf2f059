"""Cards in a browser: pointer, click, keyboard, a control in the picture, Back, a phone."""

import re
from itertools import product

import pytest

from attention_ui.picture.palette import CHOSEN, FED
from browser_tools import (
    arithmetic_of,
    click,
    in_contents,
    moves_in_one_frame,
    open_page,
    outlined,
    pushed_sideways,
    script,
    settled,
    soon,
)
from sampling import few, pairs

PAGE = "simplified_attention?example=named_features&predict=off"
CELLS = "svg g.cells_marks path"


def cells(page, card):
    return page.locator(f".st-key-drawn_{card} {CELLS}")


# The equation of the first card: 9 by 6 numbers, 6 by 9, and 9 by 9.
SCORES = 9 * 6 + 6 * 9


def score(query, key):
    return SCORES + 9 * query + key


@pytest.mark.parametrize("width", [1280, 390])
def test_a_picture_that_is_there_before_other_elements_finds_the_room_of_its_slider(
    new_page, app_url, width
):
    """Otherwise Vega writes to the console that it finds no room, and the test ends red."""
    page, held = new_page(viewport={"width": width, "height": 900}), []
    page.route("**/Html.*.js", lambda route: held.append(route))
    page.goto(f"{app_url}/{PAGE}")
    slider = page.locator(".st-key-moves_scores input")
    slider.wait_for()
    assert held
    for each in held:
        each.continue_()
    settled(page)
    assert slider.count() == 1


def test_pointing_outlines_what_a_cell_is_made_of_and_shows_the_weights_of_a_word(page, app_url):
    open_page(page, app_url, PAGE)
    first = page.locator("[class*=st-key-card_]").first.bounding_box()
    assert first["y"] + first["height"] <= 900
    main = page.locator("[data-testid=stMainBlockContainer]")
    assert main.evaluate("one => one.scrollHeight") <= 3_500

    def shares():
        return page.evaluate(
            """() => [...document.querySelectorAll('.st-key-drawn_weights svg text')]
              .map((one) => one.textContent).filter((text) => /^\\d+%$/.test(text))"""
        )

    told = arithmetic_of(page, cells(page, "scores").nth(score(2, 5)))
    row = [2 * 6 + entry for entry in range(6)]
    column = [9 * 6 + 6 * 5 + entry for entry in range(6)]
    soon(page, lambda: outlined(page, "scores", CHOSEN), [*row, *column, score(2, 5)])
    assert "query 2 “cat” · key 5 “mouse”" in told
    assert "= 6.1800" in told
    cells(page, "scores").nth(2 * 6).hover()
    follows = [score(2, key) for key in range(9)]
    soon(page, lambda: outlined(page, "scores", FED), follows)
    before = shares()
    assert len(before) == 9
    cells(page, "weights").nth(9 * 9 * 2 + 1).hover()  # the box of “hungry”
    soon(page, lambda: shares() != before)
    assert shares()[1] == "86%"


def test_a_tooltip_covers_no_cell_from_the_pointer(page, app_url):
    open_page(page, app_url, "simplified_attention?predict=off")
    tip = page.locator("#vg-tooltip-element.visible")
    cells(page, "scores").nth(2 * 33 + 11 * 2 + 2).hover()
    soon(page, lambda: "query 2 " in "".join(tip.all_inner_texts()))
    before, over = tip.inner_text(), tip.bounding_box()
    boxes = cells(page, "scores").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().toJSON())"
    )
    middles = [(one["x"] + one["width"] / 2, one["y"] + one["height"] / 2) for one in boxes]
    below = [
        (x, y)
        for x, y in middles
        if over["x"] < x < over["x"] + over["width"] and over["y"] < y < over["y"] + over["height"]
    ]
    page.mouse.move(*below[0])
    soon(page, lambda: tip.all_inner_texts() not in ([], [before]))


def test_a_click_takes_a_cell_apart_and_the_way_upstream_is_a_step_of_history(page, app_url):
    open_page(page, app_url, PAGE)
    click(cells(page, "scores").nth(score(2, 5)))
    assert "section=scores&cell=scores.2.5" in page.url
    apart = page.locator(".st-key-cell_scores")
    assert apart.is_visible()
    assert len(outlined(page, "scores", CHOSEN)) >= 13
    click(apart.get_by_role("radio").or_(apart.get_by_role("button", name="[2, 0]")).first)
    assert "cell=scores.2.5%2Cembeddings.2.0" in page.url
    page.go_back()
    settled(page)
    assert page.url.endswith("cell=scores.2.5")
    click(page.get_by_role("button", name="Close"))
    assert not apart.is_visible()
    click(cells(page, "scores").nth(score(2, 5)))
    assert apart.is_visible(), "the same cell opens again"


def test_a_control_in_the_picture_answers_without_the_server_and_then_in_the_link(page, app_url):
    open_page(page, app_url, PAGE)
    slider = page.locator(".st-key-moves_scores input")
    number = page.locator(".st-key-drawn_scores svg g.numbers_marks text").nth(score(5, 5))
    assert (slider.input_value(), number.text_content()) == ("1", "7.72")
    view = page.locator(".st-key-drawn_scores svg.marks").element_handle()
    moves_in_one_frame(page, "scores", 1.25)  # nothing is sent while the hand moves
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert (slider.input_value(), number.text_content()) == ("2", "30.88")
    settled(page)
    assert "factor=2" in page.url
    assert view.evaluate("one => one.isConnected")
    assert number.text_content() == "30.88"
    home = page.locator(".st-key-contents a", has_text="Home")
    assert home.evaluate("one => new URL(one.href).pathname") == "/", "also in another tab"
    click(in_contents(page, "Softmax or sum"))
    assert "softmax_or_sum" in page.url
    assert "factor=2" in page.url
    page.go_back()
    settled(page)
    assert "simplified_attention" in page.url, "a link is one step, also where it is older"
    for _ in range(4):  # a step of history for each time the hand rested, on a busy machine several
        if "factor" in page.url:
            page.go_back()
            settled(page)
    assert "factor" not in page.url
    slider = page.locator(".st-key-moves_scores input")
    assert (slider.count(), slider.input_value()) == (1, "1")


@pytest.mark.parametrize(
    ("path", "card", "presses", "choice"),
    [("simplified_attention", "scores", 12, "Cosine"), ("causal_mask", "mask", 4, "√d")],
)
def test_a_control_stays_when_a_matrix_gets_another_name(
    page, app_url, path, card, presses, choice
):
    open_page(page, app_url, path)
    slider = page.locator(f".st-key-moves_{card} input")
    slider.focus()
    for _ in range(presses):
        page.keyboard.press("ArrowRight")
    settled(page)
    assert slider.input_value() == "4"
    click(page.get_by_role("radio", name=choice, exact=True).first)
    assert slider.input_value() == "4"


PHONE = {"width": 390, "height": 844}
TALLEST = 4_500
"""Pixels: of a lesson on a phone, some five of its screens."""
OTHERS = """how_a_matrix_learns tokenize_and_embed simplified_attention softmax_or_sum
divide_by_sqrt_d queries_keys_values build_a_head causal_mask multi_head_attention cross_attention
whole_layer transformer_block flash_attention mistakes_lab notebooks_numbers diagnosis"""
TALL = "real_model tiny_language heads_learning attention_today kept_small without_softmax"
"""In a window too, of four screens at most."""
HIGHEST = 3_600
"""Of any lesson in a window of 1,280 pixels, also when all that questions covered is shown."""


@pytest.mark.parametrize("path", ["queries_keys_values", "multi_head_attention", "causal_mask"])
def test_on_a_phone_a_card_is_its_words_one_picture_and_the_rest_a_touch(page, app_url, path):
    """What is folded is not there until it is touched; a window has all, and no such row."""
    page.set_viewport_size(PHONE)
    open_page(page, app_url, f"{path}?example=named_features")
    cards = page.locator("[class*=st-key-card_]:has([class*=st-key-row_more_])")
    assert cards.count() > 2
    assert cards.locator("[class*=st-key-drawn_]").count() == cards.count()
    folded = cards.locator("[class*=st-key-row_more_] details")
    assert folded.locator("[class*=st-key-control_], .stMarkdown:not(summary *)").count() == 0
    click(folded.first.locator("summary"))
    assert folded.first.locator("[class*=st-key-control_], [class*=st-key-question_]").count() > 0
    assert not pushed_sideways(page)
    page.set_viewport_size({"width": 1280, "height": 900})
    settled(page, quiet=1)
    soon(page, page.locator("[class*=st-key-row_more_], [class*=st-key-all_of_]").count, 0)


@pytest.mark.parametrize(
    ("path", "width"),
    [*pairs(TALL.split(), [1280, 390], more=0), *few(product(OTHERS.split(), [390]), 1)],
)
def test_a_page_with_all_its_cards_drawn_stays_within_its_height(page, app_url, path, width):
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, app_url, path, first_visit=True)
    for each in page.locator("[class*=st-key-card_]").all():
        each.scroll_into_view_if_needed()
        page.wait_for_timeout(500)  # what is near is told once scrolling rests
        settled(page)
    height = page.locator("[data-testid=stMainBlockContainer]").evaluate("one => one.scrollHeight")
    most = TALLEST if width == 390 else 3_500
    assert height <= most, "a card may stand in *Go deeper*"
    assert not pushed_sideways(page)


@pytest.mark.parametrize("path", few([
    "softmax_or_sum", *(OTHERS.split() + TALL.split()),
], 2))  # fmt: skip
def test_a_page_is_no_higher_once_its_end_was_reached(page, app_url, path):
    """At a first visit, and when everything was shown to who has only scrolled."""
    page.set_viewport_size({"width": 1280, "height": 900})
    open_page(page, app_url, path, first_visit=True)

    def through():
        for each in page.locator("[class*=st-key-card_]").all():
            each.scroll_into_view_if_needed()
            page.wait_for_timeout(500)  # what is near is told once scrolling rests
            settled(page)
        page.locator(".st-key-ends").scroll_into_view_if_needed()
        settled(page)
        return page.locator("[data-testid=stMainBlockContainer]").evaluate(
            "one => one.scrollHeight"
        )

    assert through() <= HIGHEST, "at a first visit: a card may stand in *Go deeper*"
    is_open = script("left_covered")
    soon(page, lambda: page.evaluate(is_open), [])
    assert through() <= HIGHEST, "when all was shown: a card may stand in *Go deeper*"


def test_on_a_phone_only_keys_that_get_much_have_a_curve(page, app_url):
    """All of them would be a tangle, over two lines of words."""
    page.set_viewport_size(PHONE)
    open_page(page, app_url, "simplified_attention?example=named_features")
    curves = page.locator(".st-key-drawn_weights svg path[stroke-linecap=round]")
    curves.first.scroll_into_view_if_needed()
    settled(page)
    seen = [each for each in curves.all() if each.get_attribute("opacity") != "0"]
    assert len(seen) < curves.count() > 6
    own = [each for each in seen if each.get_attribute("d").endswith("Z")]
    assert len(seen) - len(own) == 2, "of the other keys, “cat” and “mouse” get 35% each"
    (frame,) = (each.bounding_box() for each in own)
    around = page.locator(".st-key-drawn_weights svg text", has_text=re.compile("^it$"))
    words = [each.bounding_box() for each in around.all()]
    inside = [
        frame["x"] < word["x"] < frame["x"] + frame["width"] - word["width"]
        and frame["y"] < word["y"] < frame["y"] + frame["height"]
        for word in words
    ]
    assert sum(inside) == 1, "the frame is around the token that asks"


@pytest.mark.parametrize("path", few(["multi_head_attention", *OTHERS.split(), *TALL.split()], 1))
def test_no_picture_is_drawn_a_second_time_for_what_stands_out_of_it(page, app_url, path):
    page.set_viewport_size({"width": 1280, "height": 900})
    open_page(page, app_url, f"{path}?predict=off", first_visit=True)
    assert page.evaluate(script("narrowed")) == []


def test_what_comes_near_while_one_scrolls_is_drawn_before_it_is_in_sight(page, app_url):
    """With the clock that asks after a rest taken out."""
    page.add_init_script("""
      const later = setTimeout;
      window.setTimeout = (then, wait, ...given) =>
        wait >= 1000 ? 0 : later(then, wait, ...given);""")
    far = """() => [...document.querySelectorAll('[data-waits]')].map((one) =>
        one.getBoundingClientRect().top - innerHeight)"""
    page.set_viewport_size({"width": 1280, "height": 900})
    open_page(page, app_url, "simplified_attention?predict=off")
    page.locator(".st-key-control_d_in input").first.press("ArrowRight")
    settled(page)
    _, second, *others = page.evaluate(far)
    assert others
    # In one step, after which no other comes, to what was not near before it.
    page.locator("[data-testid=stMain]").evaluate(f"one => one.scrollTop += {second - 300}")
    soon(page, lambda: len(page.evaluate(far)), len(others))
