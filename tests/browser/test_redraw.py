"""Sliders of a whole page run only the parts that they change: nothing old may be left over."""

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

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
]


# The first parts that wait out of sight, and whether they are inert: soon after, they are drawn.
NOTE_THE_FIRST_OLD = """() => new MutationObserver((_, observer) => {
  const old = [...document.querySelectorAll('[data-old]')].map((part) =>
    [part.className.match(/st-key-part_([a-z_0-9]+)/)[1], part.inert]);
  if (!old.length) return;
  window.firstOld = old;
  observer.disconnect();
}).observe(document, { subtree: true, attributes: true })"""


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
def test_a_cell_opened_while_the_rest_is_drawn_leaves_nothing_old(page, app_url):
    open_page(page, app_url, "simplified_attention?predict=off&cell=none")
    slider = page.locator(".st-key-control_d_in input").first
    slider.focus()
    settled(page)
    page.evaluate(NOTE_THE_FIRST_OLD)
    page.keyboard.press("ArrowRight")
    page.wait_for_function("window.firstOld")
    page.locator(".st-key-open_weights").scroll_into_view_if_needed()
    drawn = ".st-key-part_weights:not([data-old]) .st-key-open_weights button"
    page.locator(drawn).press("Enter")  # not a click: the page may still move
    settled(page)
    assert page.locator(".st-key-cell_weights").count() == 1
    assert page.locator(".st-key-cell_scores").count() == 0
    assert_as_when_opened(page)


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


# What a busy server says comes as many milliseconds later as `window.late` says.
LATE = """(() => {
  const listen = WebSocket.prototype.addEventListener;
  WebSocket.prototype.addEventListener = function (event, hear, ...more) {
    const late = (told) => (window.late ? setTimeout(hear, window.late, told) : hear(told));
    return listen.call(this, event, event === 'message' ? late : hear, ...more);
  };
})()"""


@pytest.mark.long
def test_what_a_page_asks_for_once_it_is_left_breaks_nothing(page, app_url):
    """On a page that still scrolls, a part comes into sight after the click on a link."""
    asked = []

    def sent(payload):
        message = BackMsg()
        message.ParseFromString(payload)
        if message.HasField("rerun_script"):
            asked.append((message.rerun_script.page_script_hash, message.rerun_script.fragment_id))

    page.on("websocket", lambda socket: socket.on("framesent", sent))
    page.add_init_script(LATE)
    open_page(page, app_url, "simplified_attention?predict=off")
    here, _ = asked[-1]
    asked.clear()
    page.evaluate("window.late = 600")
    page.get_by_role("link", name="The causal mask", exact=True).first.evaluate(
        """link => {
          link.click();
          document.querySelector('[data-testid=stMain]').scrollBy(0, 900);
        }"""
    )
    settled(page, quiet=1)
    (there, _), *later = asked
    assert there != here
    assert [part for where, part in later if where == here], "nothing was asked for too late"
    assert page.locator("h1").first.inner_text() == "The causal mask"
    assert page.problems == []


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
def test_what_is_out_of_sight_cannot_be_used_until_it_is_drawn(page, app_url):
    open_page(page, app_url, "simplified_attention?predict=off")
    page.locator(".st-key-control_d_in input").first.focus()
    settled(page)
    page.evaluate(NOTE_THE_FIRST_OLD)
    page.keyboard.press("ArrowRight")
    old = page.wait_for_function("window.firstOld").json_value()
    assert ["take_away", True] in old, "its downloads are those of the settings before"
    assert "scores" not in dict(old)
    page.locator(".st-key-part_take_away").scroll_into_view_if_needed()
    settled(page)
    assert page.locator("[data-old], [class*=st-key-part_][inert]").count() == 0
    assert_as_when_opened(page)


@pytest.mark.long
def test_cells_are_kept_when_their_numbers_change(page, app_url):
    """They are drawn anew by changing them: making them anew would take most of a move's time."""
    open_page(page, app_url, "whole_layer?example=wild_cat&predict=off&cell=none&temperature=2")
    cells = page.locator(".st-key-eq_layer svg g[class*=' cells_'] path")
    n_cells = cells.count()
    assert n_cells > 500
    colours = "cells => cells.map((cell) => cell.getAttribute('fill-opacity'))"
    before = cells.evaluate_all(colours)
    cells.evaluate_all("cells => cells.forEach((cell) => { cell.isOld = true; })")
    page.locator(".st-key-control_temperature input").press("ArrowRight")
    settled(page)
    assert cells.evaluate_all(colours) != before
    assert cells.evaluate_all("cells => cells.filter((cell) => cell.isOld).length") == n_cells
