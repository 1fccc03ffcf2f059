"""The lesson on √d in a real browser: its sliders, its looks, a long run that is stopped."""

import re

import pytest

from browser_tools import moves_in_one_frame, numbers, open_page, settled

LESSON = "divide_by_sqrt_d?predict=off"


def press(page, name, *keys):
    handle = f"[class*='st-key-control_{name}'] [role=slider]"
    if not page.locator(handle).count():
        handle = f"[class*='st-key-control_{name}'] input"
    page.locator(handle).first.focus()
    for key in keys:
        page.keyboard.press(key)
    settled(page)


def variances(page):
    """What is measured and what theory says, before and after dividing."""
    words = page.locator("p", has_text="Theory says").all_inner_texts()
    found = [re.findall(r"(?:trials: |says )([\d,.]*\d)", text) for text in words]
    return [tuple(float(number.replace(",", "")) for number in pair) for pair in found]


def bars(page, nth):
    """The widths in pixels that the bars of a histogram cover."""
    boxes = page.locator(f".st-key-chart_of_histogram_{nth} svg .mark-rect path").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().toJSON())"
    )
    return max(box["right"] for box in boxes) - min(box["left"] for box in boxes)


@pytest.mark.long
def test_wider_vectors_spread_the_dot_products_and_the_root_brings_them_back(page, app_url):
    open_page(page, app_url, f"{LESSON}&vector_width=64&trials=3000")
    (measured, theory), (after, after_theory) = variances(page)
    assert (theory, after_theory) == (64, 1)
    assert abs(measured / 64 - after) < 1e-3
    assert abs(bars(page, 0) / bars(page, 1) - 8) < 0.3
    press(page, "vector_width", "ArrowRight")
    assert "vector_width=100" in page.url
    (measured, theory), (after, after_theory) = variances(page)
    assert (theory, after_theory) == (100, 1)
    assert abs(after - 1) < 0.15
    press(page, "spread", "Home", *["ArrowRight"] * 4)
    assert "spread=0.5" in page.url
    assert variances(page)[1][1] == 0.0625


def test_the_three_divisors_move_with_the_width_in_one_frame(page, app_url):
    open_page(page, app_url, "divide_by_sqrt_d")
    assert page.locator(".st-key-question_growth").count() == 1, "from the start"
    moves_in_one_frame(page, "three_divisors", 21)
    drawn = page.locator(".st-key-drawn_three_divisors svg.marks")
    assert "d=4,096" in drawn.text_content()
    settled(page)
    assert "vector_width=4096" in page.url
    assert "next to no gradient" in page.locator(".st-key-card_three_divisors").inner_text()
    shown = [float(each) for each in numbers(page, "three_divisors", 0)]
    by_nothing, by_root, by_d = shown[0], shown[8], shown[16]
    assert by_nothing > 0.95 > 0.5 > by_root > 0.2 > by_d
    least, largest, middle = map(float, numbers(page, "three_divisors", 1))
    assert least < middle < largest == 1
    page.locator(".st-key-moves_three_divisors input").press("ArrowLeft")
    settled(page)
    assert "vector_width=2048" in page.url, "the keyboard moves it too"


@pytest.mark.long
def test_every_look_draws_its_curves_on_both_axes(page, app_url):
    open_page(page, app_url, LESSON)
    for label, charts, words in (
        ("Variance against d", 2, "of 26 lie within their band"),
        ("What softmax makes of it", 3, "little is left to learn from"),
    ):
        page.get_by_role("radio", name=label).or_(page.get_by_role("button", name=label)).click()
        settled(page)
        lesson = page.locator("[data-testid=stMainBlockContainer]")
        assert words in lesson.inner_text()
        drawn = page.locator(".st-key-card_many_trials [data-testid=stVegaLiteChart]")
        assert drawn.count() == charts
        for chart in drawn.all():
            assert chart.locator("svg .mark-symbol.role-mark path").count() >= 13
        assert drawn.first.locator("svg text", has_text=re.compile("^16$")).count() == 1
        page.get_by_role("radio", name="Linear").or_(
            page.get_by_role("button", name="Linear")
        ).click()
        settled(page)
        assert drawn.first.locator("svg text", has_text=re.compile("^16$")).count() == 0
        assert drawn.first.locator("svg text", has_text=re.compile("^2,048$")).count() == 1
        page.get_by_text("Logarithmic", exact=True).click()
        settled(page)


@pytest.mark.long
def test_a_long_run_waits_shows_its_progress_and_stops_with_what_it_has(page, app_url):
    open_page(page, app_url, f"{LESSON}&variance_view=width&trials=100000")
    part = page.locator(".st-key-run_of_widths")
    assert "1,638 million random numbers" in part.inner_text()
    assert page.get_by_text("lie within their band").count() == 0
    # First: a press while the driver still scrolls was lost once on a busy machine.
    part.scroll_into_view_if_needed()
    settled(page)
    part.get_by_role("button", name="Measure").click()
    part.locator("[data-testid=stProgress]").wait_for()
    page.get_by_text("lie within their band").wait_for()
    part.get_by_role("button", name="Stop").click()
    part.get_by_text("Stopped at").wait_for(timeout=20_000)
    settled(page)
    share = int(re.search(r"Stopped at (\d+)%", part.inner_text())[1])
    assert 0 < share < 100
    assert page.get_by_text("lie within their band").count() == 1
    assert part.get_by_role("button").all_inner_texts()[0].endswith("Start again")
