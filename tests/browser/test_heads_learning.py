"""Heads that learn, in a real browser: played, trained, stopped, and left alone."""

import re

import pytest

from browser_tools import in_contents, no_exception, open_page, settled, soon

pytestmark = pytest.mark.long

LESSON = "heads_learning?predict=off&cell=none"
SHIPPED, OWN = ".st-key-watched_heads_shipped", ".st-key-watched_heads_own"
RUN = ".st-key-run_of_heads"


def titles(page, chart=SHIPPED):
    return page.locator(f"{chart} svg text", has_text=re.compile("^(head|step) ")).all_inner_texts()


def shades(page, head):
    cells = page.locator(f"{SHIPPED} svg g.head_{head}_marks path")
    return [float(cell.get_attribute("fill-opacity")) for cell in cells.all()]


def text_of(page, chart):
    return page.locator(f"{chart} svg.marks").text_content()


def test_a_finished_run_is_played_without_the_server_and_by_keyboard(page, app_url):
    open_page(page, app_url, LESSON)
    asked = page.evaluate("window.testRuns.asked")
    slider = page.locator(f"{SHIPPED} input[type=range]")
    end, last = text_of(page, SHIPPED), shades(page, 7)
    assert "step 300: loss 0.009" in end
    assert end.count("induction head") == 4
    slider.press("Home")
    page.wait_for_function(f"document.querySelector('{SHIPPED}').innerText.includes('step 0:')")
    assert "induction head" not in text_of(page, SHIPPED)
    assert shades(page, 7) != last
    buttons = page.locator(SHIPPED).get_by_role("button")
    buttons.filter(has_text="Step on").press("Enter")
    assert slider.input_value() == "1"
    soon(page, lambda: "step 4:" in text_of(page, SHIPPED))
    buttons.filter(has_text="Play").press("Space")
    page.wait_for_function(f"+document.querySelector('{SHIPPED} input[type=range]').value > 2")
    buttons.filter(has_text="Pause").press("Space")
    slider.press("End")
    soon(page, lambda: (text_of(page, SHIPPED), shades(page, 7)), (end, last))
    assert page.evaluate("window.testRuns.asked") == asked, "the server was not asked"
    no_exception(page)
    assert page.problems == []


def test_a_run_of_ones_own_is_trained_and_watched(page, app_url):
    open_page(page, app_url, f"{LESSON}&network_seed=4")
    page.get_by_role("button", name="Train", exact=True).click()
    page.locator(".st-key-part_train", has_text="highest prefix-matching score").wait_for()
    page.locator(f"{OWN} svg.marks").wait_for(timeout=600_000)  # 10 s where nothing else runs
    settled(page)
    assert "step 300: loss 0.0" in text_of(page, OWN)
    assert "induction head" in text_of(page, OWN)
    assert text_of(page, OWN) != text_of(page, SHIPPED)
    assert page.locator(".st-key-part_train", has_text="The moment is step").count() == 1
    no_exception(page)
    assert page.problems == []


def share(page):
    """How much of the run is done, in percent."""
    said = page.locator(RUN).inner_text()
    return int(re.search(r"(\d+)%", said)[1])


def train_a_little(page, label):
    """Begin, and wait until something is done: by the bar, not by what stopped before."""
    page.get_by_role("button", name=label, exact=True).click()
    page.locator(RUN, has_text=re.compile(r"seconds: [1-9]")).wait_for()
    return share(page)


def test_a_run_ends_with_its_page_and_is_stopped_by_hand(page, app_url):
    open_page(page, app_url, LESSON)
    before = train_a_little(page, "Train")
    in_contents(page, "Multi-head attention").click()
    settled(page)
    page.wait_for_timeout(3000)
    in_contents(page, "Watch heads learn").click()
    page.locator(RUN, has_text="Stopped at").wait_for()
    settled(page)
    assert before <= share(page) < 90
    assert "step " in text_of(page, OWN), "what was recorded is kept, and can be played"
    train_a_little(page, "Start again")
    page.locator(RUN).get_by_role("button", name="Stop").click()
    page.locator(RUN, has_text="Stopped at").wait_for()
    settled(page)
    assert 0 < share(page) < 100
    assert "step " in text_of(page, OWN)
    no_exception(page)
    assert page.problems == []
