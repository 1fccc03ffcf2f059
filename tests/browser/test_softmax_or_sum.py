"""The experiments of the lesson on softmax in a real browser: what a control moves."""

import pytest

from browser_tools import MATRICES, listen, matrix, no_exception, open_page, settled

pytestmark = pytest.mark.long

LESSON = "softmax_or_sum?predict=off&cell=none"


HOLD = """() => {
  window.held = [];
  window.plain = { later: setTimeout.bind(window), now: performance.now.bind(performance), at: 0 };
  addEventListener('keydown', () => { plain.at = plain.now(); }, true);
  window.holds = (...waits) => {
    window.setTimeout = (call, wait, ...rest) =>
      waits.includes(wait) ? held.push(() => call(...rest)) : plain.later(call, wait, ...rest);
  };
  window.freeze = (later) => { performance.now = () => plain.at + later; };
  window.release = () => held.splice(0).forEach((call) => call());
  window.thaw = () => {
    window.setTimeout = plain.later;
    performance.now = plain.now;
  };
}"""
"""So that what happens at one time on a slow machine does here: what is in sight is told 150 ms
after scrolling, and Streamlit sends what changed at the next timer."""


def control(page, name, kind="input"):
    return page.locator(f".st-key-control_{name} {kind}").first


def boxes(locator):
    return locator.evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")


ADDED, MULTIPLIED = -2, -1
"""Which of the pictures with bars of both ways it is, from the end of the page."""


def chart(page, words, at=-1):
    return page.locator("[data-testid=stVegaLiteChart] svg").filter(has_text=words).nth(at)


def bars(page, at):
    return chart(page, "divided by the sum", at)


def heights(page, at):
    """Of each bar: its height, the bars of the sum first."""
    return [round(bar["height"]) for bar in boxes(bars(page, at).locator(".mark-rect path"))]


def numbers(page, beat, at):
    texts = matrix(page, beat, at).locator(".mark-text.role-mark").first.locator("text")
    return [float(text.replace("−", "-")) for text in texts.all_text_contents()]


def test_a_constant_blows_up_the_division_and_leaves_softmax(page, app_url):
    open_page(page, app_url, LESSON)
    before = heights(page, ADDED)
    assert len(before) == 22, "two bars a token"
    assert before[11] > 30, "the best score has most of the softmax"
    assert page.get_by_text("Softmax has not moved").count() == 0, "nothing was added"
    exact = control(page, "shift_exact")
    exact.fill("0.525")
    exact.press("Enter")
    page.wait_for_url("**shift=0.525**")
    settled(page)
    assert page.get_by_text("gets 557.0").count() == 1
    assert page.get_by_text("Softmax has not moved").count() == 1
    after = heights(page, ADDED)
    assert after[11] > 20, "a weight of 557 is cut, so that softmax's bars stay visible"
    assert max(after) < 5 * after[11]
    cut = bars(page, ADDED).locator(".mark-symbol path")
    assert cut.count() > 0, "an arrow where a bar goes further"
    assert bars(page, ADDED).get_by_text("557").count() == 1
    assert control(page, "shift").get_attribute("aria-valuetext") == "0.525"
    assert page.problems == []


def test_a_factor_moves_weights_numbers_and_gradient_together(page, app_url):
    open_page(page, app_url, f"{LESSON}&magnify=1")
    before = heights(page, MULTIPLIED)
    assert len(before) == 22, "two bars a token"
    open_page(page, app_url, f"{LESSON}&magnify=0")
    assert numbers(page, "gradient", 0) == [0.09] * 11
    assert numbers(page, "gradient", 1)[:2] == [0.08, -0.01]
    control(page, "magnify").focus()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    page.wait_for_url("**magnify=8**")
    settled(page)
    assert numbers(page, "gradient", 0) == [1.0] + [0.0] * 10
    assert set(numbers(page, "gradient", 1)) == {0.0}
    metrics = page.locator("[data-testid=stMetricValue]").all_inner_texts()
    assert metrics[:2] == ["1.0000", "0.0000"]
    now = heights(page, MULTIPLIED)
    assert now[:11] == before[:11], "those of the sum stay"
    assert now[11] > before[11]
    jacobian = page.locator(f".st-key-eq_gradient {MATRICES}").last
    jacobian.locator(".mark-rect.role-mark").first.locator("path").nth(2).click()
    settled(page)
    panel = page.locator(".st-key-cell_gradient")
    assert "jacobian[0, 2]" in panel.inner_text()
    open_page(page, app_url, page.url.removeprefix(app_url))
    assert "jacobian[0, 2]" in page.locator(".st-key-cell_gradient").inner_text()
    no_exception(page)
    assert page.problems == []


@pytest.mark.parametrize(("since", "alone"), [(100, True), (1000, False)])
def test_a_slider_counts_though_other_parts_come_into_sight_in_the_same_moment(
    page, app_url, since, alone
):
    """The browser's watcher waits after a press; where that was too short, the whole page runs."""
    parts = listen(page)
    open_page(page, app_url, f"{LESSON}&magnify=1.5")
    slider = control(page, "magnify")
    slider.focus()
    settled(page)
    page.evaluate(HOLD)
    page.keyboard.press("Shift")  # moves nothing, but somebody is there
    page.evaluate("holds(150)")
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollBy(0, 300)")
    page.wait_for_function("held.length")
    parts.clear()
    page.evaluate("(since) => { freeze(since); holds(0, 150); release(); }", since)
    page.keyboard.press("ArrowRight")
    page.evaluate("() => { thaw(); release(); }")
    page.wait_for_url("**magnify=2**")
    settled(page)
    assert page.locator("[data-testid=stMetricValue]").first.inner_text() == "0.9671"
    assert all(parts) is alone
    assert page.problems == []


@pytest.mark.parametrize(
    ("precision", "counted"),
    [("float32", "0 of 11 exponentials inf, 0 weights nan"), ("float16", "1 of 11 exponentials")],
)
def test_scores_overflow_where_the_precision_ends(page, app_url, precision, counted):
    open_page(page, app_url, f"{LESSON}&push=8")
    count = page.get_by_text("As written:")
    page.locator(".st-key-control_precision button", has_text=precision).first.click()
    settled(page)
    assert counted in count.inner_text()
    written = chart(page, "As the formula is written")
    reds = written.locator(".mark-rect path[fill='#DE9A8B']").count()
    assert reds == (0 if precision == "float32" else 2), "one exponential and its weight"
    subtracted = chart(page, "With the largest subtracted")
    assert subtracted.locator(".mark-rect path[fill='#DE9A8B']").count() == 0
    no_exception(page)
