"""Whatever a visitor does while the server works: nothing old is shown as new, no press is lost."""

import signal

import pytest

from browser_tools import caught_up, open_page, script, settled, shown
from serving import free_port, start_server

LESSON, LABEL = "simplified_attention?predict=off", "Width of the vectors, d_in"
OFTEN, LONG = 50, 1_000
"""Milliseconds: how often cards are looked at, and the longest to draw after a run."""
# What each card says, whenever no run is on or asked for: a card that is veiled says nothing.
LOOK = script("look")


def width(page):
    return page.get_by_role("slider", name=LABEL)


def press(page, times=1, wait=0):
    width(page).focus()
    for _ in range(times):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(wait)


def scroll(page, to):
    page.evaluate(
        "(to) => { const all = document.querySelector('[data-testid=stMain]');"
        " all.scrollTop = to * all.scrollHeight }",
        to,
    )


def drag(page):
    box = page.locator(".st-key-moves_scores input").bounding_box()
    x, y = box["x"] + 0.3 * box["width"], box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(12):
        page.mouse.move(x + step * box["width"] / 24, y)
        page.wait_for_timeout(30)
    page.mouse.up()


def move_while_it_runs(page):
    press(page, 4, wait=120)


def drag_while_it_runs(page):
    press(page)
    page.wait_for_timeout(260)
    drag(page)


def scroll_while_it_runs(page):
    press(page, 2)
    for step in range(1, 9):
        scroll(page, step / 8)
        page.wait_for_timeout(80)


def jump_to_the_end(page):
    press(page)
    page.wait_for_timeout(400)
    scroll(page, 1)


def print_it(page):
    press(page)
    page.wait_for_timeout(400)
    page.pdf()


def go_back(page):
    press(page)
    settled(page)
    press(page)
    settled(page)
    page.go_back()


def reload(page):
    press(page, 2)
    settled(page)
    page.reload()
    settled(page)


DONE = {  # what is done, and by how much wider the vectors are then
    drag: 0,
    move_while_it_runs: 4,
    drag_while_it_runs: 1,
    scroll_while_it_runs: 2,
    jump_to_the_end: 1,
    print_it: 1,
    go_back: 1,
    reload: 2,
}


def is_as_its_address_says(page):
    """All that is shown, once it has caught up, against the same address in a tab of its own."""
    caught_up(page)
    origin = page.evaluate("location.origin")
    with page.context.new_page() as cold:
        open_page(cold, origin, page.url.removeprefix(origin))
        fresh, warm = shown(cold), shown(page)
    for what in warm:
        assert warm[what] == fresh[what], what


def said_too_long(looks):
    """The cards that said something else than at last for long while no run was on."""
    last, since, wrong = looks[-1], {}, set()
    for at, look in enumerate(looks):
        for card in last:
            is_old = look is not None and look.get(card) not in (None, last[card])
            since[card] = since.get(card, at) if is_old else at
            if at - since[card] > LONG / OFTEN:
                wrong.add(card)
    return wrong


@pytest.mark.parametrize("do", DONE, ids=lambda do: do.__name__)
def test_nothing_old_is_shown_as_new_and_no_press_is_lost(page, app_url, do):
    open_page(page, app_url, LESSON)
    before = int(width(page).input_value())
    page.evaluate(LOOK, [OFTEN])
    do(page)
    settled(page)
    looks = page.evaluate("window.testLooked ?? []")
    caught_up(page)
    now = int(width(page).input_value())
    assert now - before == DONE[do]
    assert f"d_in={now}" in page.url or now == before
    looks += page.evaluate("(n) => (window.testLooked ?? []).slice(n)", len(looks))
    assert not said_too_long(looks or [{}])
    is_as_its_address_says(page)


def test_a_card_alone_is_as_its_address_says(page, app_url):
    open_page(page, app_url, f"{LESSON}&card=scores")
    drag(page)
    settled(page)
    assert "factor=" in page.url
    is_as_its_address_says(page)


def test_two_tabs_have_each_its_own(page, app_url):
    open_page(page, app_url, LESSON)
    with page.context.new_page() as other:
        open_page(other, app_url, LESSON)
        press(page, 2)
        press(other, 1)
        press(page, 1)
        for each in (page, other):
            settled(each)
        assert page.url != other.url
        for each in (page, other):
            is_as_its_address_says(each)


@pytest.mark.meant(r"^console: WebSocket onclose: code=10(06 \(abnormal|12 \(service restart)")
def test_a_page_outlives_a_server_that_is_started_again(new_page, tmp_path):
    port, page = free_port(), new_page()
    server = start_server(tmp_path / "first.txt", port=port)
    try:
        open_page(page, server.url, LESSON)
        press(page, 2)
        settled(page)
        page.locator(".st-key-moves_scores input").hover()
        settled(page)
        server.process.send_signal(signal.SIGSTOP)
        page.locator(".st-key-moves_scores input").press("ArrowRight")  # nobody hears of it
        page.wait_for_timeout(300)
        server.process.kill()
        server.stop()
        page.wait_for_selector(".st-key-moves_scores input:disabled")  # else its move would be lost
        server = start_server(tmp_path / "second.txt", port=port)
        page.wait_for_selector("[data-test-connection-state=CONNECTED]")
        page.wait_for_selector(".st-key-moves_scores input:enabled")
        settled(page)
        press(page)
        settled(page)
        is_as_its_address_says(page)
    finally:
        server.stop()


def test_focus_and_place_stay_where_a_card_above_gets_another_height(page, app_url):
    """Back makes a shorter sentence of it, and the picture above less high."""
    open_page(page, app_url, f"{LESSON}&sentence=The+dog&tokenizer=text")
    page.locator(".st-key-control_sentence textarea").first.fill("The dog attacks the wild cat now")
    page.keyboard.press("Control+Enter")
    settled(page)
    title = page.locator(".st-key-card_weights h2")
    title.evaluate("one => one.scrollIntoView({ block: 'start' })")
    page.locator(".st-key-card_weights button").first.focus()
    settled(page)
    top, height = title.bounding_box()["y"], page.locator(".st-key-card_scores").bounding_box()
    page.go_back()
    settled(page)
    assert "attacks" not in page.url
    assert page.locator(".st-key-card_scores").bounding_box()["height"] < height["height"] - 50
    assert abs(title.bounding_box()["y"] - top) < 8
    assert page.evaluate("document.activeElement.closest('.st-key-card_weights') !== null")


def test_what_is_said_below_a_picture_is_faint_while_a_hand_is_ahead_of_it(page, app_url):
    open_page(page, app_url, "causal_mask?predict=off")
    slider = page.locator(".st-key-moves_leak input")
    slider.hover()
    settled(page)
    slider.press("ArrowRight")
    said = page.locator(".st-key-card_leak > .stElementContainer").last
    faint = "one => getComputedStyle(one).opacity"
    assert said.evaluate(faint) == "0.4"
    settled(page)
    assert said.evaluate(faint) == "1"
