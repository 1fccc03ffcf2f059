"""Guessing in a real browser: a row by its sliders, by keyboard, on a phone too."""

import pytest

from browser_tools import COVERED, no_exception, open_page, settled

LESSON = "causal_mask?cell=none"


def question(page, name):
    return page.locator(f".st-key-predict_{name}")


def covered(page, beat):
    return page.locator(f".st-key-eq_{beat} {COVERED}").count()


def written(page, name):
    """The numbers above the bars of a question's chart, a list for each row of bars."""
    texts = question(page, name).locator("svg .mark-text.role-mark")
    return [texts.nth(at).locator("text").all_text_contents() for at in range(texts.count())]


def test_a_row_is_set_by_keyboard_and_the_truth_is_drawn_over_it(page, app_url):
    open_page(page, app_url, LESSON)
    assert covered(page, "weights") == 1
    sliders = question(page, "row").get_by_role("slider")
    assert [slider.get_attribute("aria-label") for slider in sliders.all()] == [
        f"key {key}" for key in range(5)
    ]
    assert written(page, "row") == [["0.20"] * 5]
    for at, key in ((0, "Home"), (1, "Home"), (3, "Home"), (4, "End")):
        sliders.nth(at).focus()
        page.keyboard.press(key)
    settled(page)
    assert written(page, "row") == [["0.00", "0.00", "0.33", "0.00", "0.67"]]
    assert covered(page, "weights") == 1

    question(page, "row").get_by_role("button", name="Reveal").focus()
    page.keyboard.press("Enter")
    settled(page)
    assert covered(page, "weights") == 0
    guess, truth = written(page, "row")
    assert guess == ["0.00", "0.00", "0.33", "0.00", "0.67"]
    assert truth == ["0.01", "0.00", "0.11", "0.00", "0.88"]
    words = question(page, "row").inner_text()
    assert "22 % of your weight would have to move to other keys." in words
    assert "In 1 row, 22 % of the guessed weight was on the wrong keys." in words
    no_exception(page)
    assert page.problems == []


@pytest.mark.long
def test_a_slider_of_a_row_draws_its_chart_alone(page, app_url):
    open_page(page, app_url, LESSON)
    page.evaluate(
        "() => document.querySelectorAll('[data-testid=stVegaLiteChart] svg')"
        ".forEach(svg => svg.dataset.old = 'yes')"
    )
    question(page, "row").get_by_role("slider").first.focus()
    page.keyboard.press("ArrowRight")
    settled(page)
    assert written(page, "row")[0][0] == "0.22"
    others = page.locator(".st-key-eq_masked_scores [data-testid=stVegaLiteChart] svg.marks")
    assert [svg.get_attribute("data-old") for svg in others.all()] == ["yes"]


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_row_fits_a_phone(new_page, app_url, scheme):
    page = new_page(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    open_page(page, app_url, "softmax_or_sum?cell=none")
    question(page, "sum_best").get_by_role("button", name="Skip, show me").click()
    settled(page)
    for press in ("Reveal", "Guess again"):
        inside = question(page, "softmax_row").bounding_box()
        for part in (
            "[data-testid=stVegaLiteChart] svg:visible",
            "[data-testid=stSlider]",
            "button:visible",
        ):
            for each in question(page, "softmax_row").locator(part).all():
                box = each.bounding_box()
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= inside["x"] + inside["width"] + 1, part
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        question(page, "softmax_row").get_by_role("button", name=press).click()
        settled(page)
    no_exception(page)


@pytest.mark.long
def test_a_sign_and_a_shape_are_answered_by_keyboard(page, app_url):
    open_page(page, app_url, "divide_by_sqrt_d?cell=none")
    down = question(page, "largest").get_by_text("It goes down")
    down.locator("xpath=ancestor-or-self::button").focus()
    page.keyboard.press("Enter")
    settled(page)
    question(page, "largest").get_by_role("button", name="Reveal").click()
    settled(page)
    assert "Right: the largest weight goes down" in question(page, "largest").inner_text()

    open_page(page, app_url, "queries_keys_values?cell=none")
    sides = question(page, "shape").locator("input")
    for at, size in enumerate(("2", "11")):
        sides.nth(at).focus()
        page.keyboard.type(size)
    # As long as a finger takes: the button also takes up the number just typed.
    question(page, "shape").get_by_role("button", name="Reveal").click(delay=100)
    settled(page)
    assert "It is query 11 × d_out 2: the numbers are right, their order is not." in (
        question(page, "shape").inner_text()
    )
    assert covered(page, "context") == 1, "by the question about weights alone"
