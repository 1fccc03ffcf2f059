"""The lesson on softmax in a real browser: bars that go both ways, and what a control moves."""

import pytest

from browser_tools import moves_in_one_frame, open_page, settled

LESSON = "softmax_or_sum?example=wild_cat&predict=off"


def bars(page, card):
    """Of each bar: where it begins and how wide it is, those of the sum first."""
    found = page.locator(f".st-key-drawn_{card} svg g.under_marks path").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().toJSON())"
    )
    return [(round(box["x"]), round(box["width"])) for box in found if box["height"] > 9]


def texts(page, card):
    return page.locator(f".st-key-drawn_{card} svg g.numbers_marks text").all_text_contents()


def test_a_constant_blows_up_the_division_and_leaves_softmax_within_the_picture(page, app_url):
    open_page(page, app_url, LESSON)
    before, said = bars(page, "constant"), texts(page, "constant")
    assert len(before) == 22, "two bars a token"
    view = page.locator(".st-key-drawn_constant svg.marks").element_handle()
    slider = page.locator(".st-key-moves_constant input")
    moves_in_one_frame(page, "constant", 0.1)  # nothing is sent while the hand moves
    slider.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    now = bars(page, "constant")
    assert now[:11] != before[:11]
    assert now[11:] == before[11:], "softmax stays"
    assert "−14.93, cut" in texts(page, "constant"), "a bar that is cut"
    settled(page)
    assert "shift=0.5" in page.url
    assert view.evaluate("one => one.isConnected")
    assert page.get_by_text("Softmax has not moved").count() == 1
    assert len(said) == len(texts(page, "constant"))


@pytest.mark.long
def test_a_factor_moves_softmax_alone_and_the_gradient_follows(page, app_url):
    open_page(page, app_url, f"{LESSON}&magnify=0")
    page.locator(".st-key-row_deeper summary").click()
    settled(page)
    assert texts(page, "gradient")[:13] == ["0.09"] * 11 + ["0.08", "−0.01"]
    before = bars(page, "magnify")
    slider = page.locator(".st-key-moves_magnify input")
    slider.focus()
    page.keyboard.press("End")
    settled(page)
    assert "magnify=16" in page.url
    now = bars(page, "magnify")
    assert now[11][1] > 5 * before[11][1]
    assert {*texts(page, "gradient")[11:]} == {"0.00"}
    assert page.locator(".st-key-chart_of_curves svg.marks").count() == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("precision", "counted"),
    [("float32", "0 of 11 exponentials inf, 0 weights nan"), ("float16", "1 of 11 exponentials")],
)
def test_scores_overflow_where_the_precision_ends(page, app_url, precision, counted):
    open_page(page, app_url, f"{LESSON}&push=8")
    page.locator(".st-key-row_deeper summary").click()
    settled(page)
    page.locator(".st-key-control_precision button", has_text=precision).first.click()
    settled(page)
    assert counted in page.get_by_text("As written:").inner_text()
    written, subtracted = (
        page.locator(f".st-key-chart_of_ledger_{name} svg .mark-rect path[fill='#DE9A8B']").count()
        for name in ("naive", "softmax")
    )
    assert written == (0 if precision == "float32" else 2), "one exponential and its weight"
    assert subtracted == 0
