"""Sliders of a whole page run only the parts that they change: nothing old may be left over."""

import re
from itertools import pairwise

import pytest

from attention_ui.charts import palette
from browser_tools import listen, no_exception, open_page, settled, unfold

# All that a page says and draws, and where its links lead.
ALL = """() => {
  const main = document.querySelector('[data-testid=stMain]').cloneNode(true);
  // No part of what it says: styles, what shows when it is pointed at, and the words of a table,
  // which are there only when the table has been scrolled to.
  const apart = 'style, [data-testid^=stElementToolbar], .vg-tooltip, [data-testid=stDataFrame]';
  main.querySelectorAll(apart)
    .forEach((one) => one.remove());
  // Marks that are kept stand in the order in which they came: what counts is where they are.
  for (const group of main.querySelectorAll('svg g.mark-text')) {
    const place = (text) => text.getAttribute('transform') + text.textContent;
    group.replaceChildren(...[...group.children].sort((a, b) => place(a) < place(b) ? -1 : 1));
  }
  const side = document.querySelector('[data-testid=stSidebar]');
  const links = [...side.querySelectorAll('a')].map((link) => link.href);
  return { main: main.textContent, side: side.innerText, links };
}"""
SLIDERS = [
    ("tokenize_and_embed", "d_in"),
    ("simplified_attention", "d_in"),
    ("softmax_or_sum", "d_in"),
    ("divide_by_sqrt_d", "d_in"),
    ("queries_keys_values", "d_in"),
    ("queries_keys_values", "d_out"),
    ("causal_mask", "d_in"),
    ("causal_mask", "window"),
    ("multi_head_attention", "d_in"),
    # Widths of their own, so that every number of heads fits.
    ("multi_head_attention", "n_heads", "d_head=2&d_value=3"),
    ("multi_head_attention", "d_head", "d_value=3"),
]


def press(page, control, keys):
    # Where its choices depend on other settings, its key names them.
    key = f"st-key-control_{control}"
    slider = page.locator(f".{key} input, [class*='{key}_'] input").first
    slider.focus()
    # The browser tells what is in sight when nothing has been scrolled for a while.
    settled(page)
    for key in keys:
        page.keyboard.press(key)
    settled(page)
    no_exception(page)


def assert_as_when_opened(page):
    """All of the page, as it is and as its link opens it. No colour is found by the address, which
    is another now.
    """
    assert page.locator("svg.marks [fill^=url]").count() == 0
    now = page.evaluate(ALL)
    page.goto(page.url)
    settled(page)
    unfold(page)
    assert page.evaluate(ALL) == now
    assert page.problems == []


@pytest.mark.long
@pytest.mark.parametrize("which", SLIDERS, ids=lambda which: "-".join(which[:2]))
def test_a_slider_runs_parts_and_leaves_the_page_that_its_link_opens(page, app_url, which):
    lesson, slider, *more = which
    parts = listen(page)
    open_page(page, app_url, "&".join([f"{lesson}?predict=off", *more]))
    assert not all(parts)
    before = page.evaluate(ALL)
    parts.clear()
    press(page, slider, ["ArrowRight"])
    press(page, slider, ["ArrowRight"])
    assert parts
    assert all(parts), "the whole page was run"
    assert page.evaluate(ALL) != before
    assert_as_when_opened(page)


@pytest.mark.long
def test_the_matrix_and_head_that_are_chosen_in_the_layer_are_shown(page, app_url):
    open_page(page, app_url, "whole_layer?predict=off&cell=none&example=wild_cat")
    for name, choice, shown in (("opened", "scores", "scores[0]"), ("head", "1", "scores[1]")):
        page.locator(f"[class*=st-key-control_{name}_], .st-key-control_{name}").first.get_by_role(
            "radio", name=choice, exact=True
        ).click()
        settled(page)
        assert f"head_{shown}" in page.locator(".st-key-eq_opened").text_content()
    assert_as_when_opened(page)


def test_many_quick_presses_end_in_one_picture(page, app_url):
    open_page(page, app_url, "simplified_attention?predict=off")
    press(page, "d_in", ["ArrowRight", "ArrowRight", "ArrowLeft"] * 4)
    # A slider of Streamlit's may drop a key while the browser draws; what it shows is what counts.
    width = page.locator(".st-key-control_d_in input").first.input_value()
    titles = page.locator(".st-key-eq_scores svg .role-title-subtitle").all_text_contents()
    assert titles[0] == f"token 11 × d_in {width}"
    assert_as_when_opened(page)


@pytest.mark.long
def test_a_question_that_was_answered_knows_other_numbers(page, app_url):
    open_page(page, app_url, "simplified_attention")
    page.locator(".st-key-predict_looks_at").get_by_role("button", name="Skip").click()
    settled(page)
    page.locator(".st-key-predict_looks_at").get_by_role("button", name="Make a guess").click()
    settled(page)
    question = page.locator(".st-key-predict_looks_at")
    question.locator("input").click()
    page.keyboard.type("8: wild")
    page.keyboard.press("Enter")
    settled(page)
    question.get_by_role("button", name="Reveal").click()
    settled(page)
    press(page, "d_in", ["ArrowRight"])
    assert "The numbers have changed since your guess" in question.inner_text()
    assert page.locator(".st-key-eq_weights").count() == 1


@pytest.mark.long
def test_a_link_of_the_contents_takes_the_last_change_along(page, app_url):
    open_page(page, app_url, "simplified_attention?predict=off")
    page.locator(".st-key-control_d_in input").first.focus()
    settled(page)
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**d_in=4**")
    page.get_by_role("link", name="The causal mask", exact=True).first.click()
    page.wait_for_url("**/causal_mask**")
    settled(page)
    assert "d_in=4" in page.url
    assert page.locator(".st-key-control_d_in input").first.input_value() == "4"


# What the page sends while `window.held` is a list waits there until `window.release()`.
HOLD = """(() => {
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (message) {
    if (window.held) return void window.held.push(() => send.call(this, message));
    return send.call(this, message);
  };
  window.release = () => {
    const held = window.held;
    window.held = undefined;
    held.forEach((go) => go());
  };
})()"""


@pytest.mark.long
def test_a_button_pressed_after_a_slider_does_its_work_on_a_busy_server(page, app_url):
    """What reaches the server during a run is answered in one, and the slider names its parts."""
    page.add_init_script(HOLD)
    open_page(page, app_url, "divide_by_sqrt_d?predict=off&cell=none&vlook=width&trials=3000")
    slider = page.locator(".st-key-control_d_in input").first
    slider.focus()
    settled(page)
    page.evaluate("window.held = []")
    page.locator("h1").first.click()
    for key, place in (("r", page.keyboard), ("ArrowRight", slider)):  # the whole page, the slider
        place.press(key)
        page.wait_for_function("known => window.held.length > known", arg=0 if key == "r" else 1)
    measure = page.locator(".st-key-run_of_widths").get_by_role("button", name="Measure")
    measure.evaluate("button => button.click()")
    page.evaluate("window.release()")
    page.get_by_text("lie within their band").wait_for()
    settled(page)
    assert "d_in=4" in page.url
    assert page.problems == []


@pytest.mark.long
def test_a_legend_keeps_its_colours_when_the_address_changes(page, app_url):
    """From one end to the other, in slices that touch: a gradient would be lost."""
    open_page(page, app_url, "cross_attention?predict=off&cell=none&example=wild_cat")
    bar = ".st-key-eq_queries svg .legend_group .mark-rect path"
    read = "all => all.map((one) => [one.getAttribute('d'), one.getAttribute('fill')])"
    before = page.locator(bar).evaluate_all(read)
    ends = [[int(each) for each in re.findall(r"M(\d+),0h(\d+)", d)[0]] for d, _ in before]
    assert len(ends) > 9
    assert all(left + wide == after for (left, wide), (after, _) in pairwise(ends))
    assert (before[0][1], before[-1][1]) == (palette.NEGATIVE, palette.POSITIVE)
    assert not any("url" in fill for _, fill in before)
    field = page.locator(".st-key-control_source input").first
    field.fill("Dogs sleep")
    field.press("Enter")
    settled(page)
    assert "source=Dogs" in page.url
    assert page.locator(bar).evaluate_all(read) == before
