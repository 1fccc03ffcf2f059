"""Heads that learn, in a real browser: moved through, trained, stopped, and left alone."""

import re

import pytest

from browser_tools import in_contents, moves_in_one_frame, open_page, settled

LESSON = "heads_learning?predict=off"
RUN = ".st-key-run_of_heads"
OWN = ".st-key-moves_own input[type=range]"
DRAWN = ".st-key-drawn_own :is(canvas, svg.marks)"


def test_a_finished_run_is_moved_through_and_its_step_stands_in_the_link(page, app_url):
    open_page(page, app_url, LESSON)
    moves_in_one_frame(page, "run")
    settled(page)
    assert "recorded_step=4" in page.url, "the step, not its place"


@pytest.mark.long
def test_a_run_of_ones_own_is_trained_and_watched(page, app_url):
    open_page(page, app_url, f"{LESSON}&network_seed=4")
    page.get_by_role("button", name="Train", exact=True).click()
    card = page.locator(".st-key-card_train")
    card.filter(has_text="highest prefix-matching score").wait_for()
    page.locator(DRAWN).wait_for(timeout=600_000)  # 10 s on a quiet machine
    settled(page)
    assert card.get_by_text("The moment is step").count() == 1
    assert page.locator(OWN).get_attribute("max") == "60"
    page.locator(OWN).press("Home")
    settled(page)
    assert "own_step=0" in page.url
    assert page.locator(DRAWN).count() == 1


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
    in_contents(page, "A tiny language").click()
    settled(page)
    page.wait_for_timeout(3000)
    in_contents(page, "Watch heads learn").click()
    page.locator(RUN, has_text="Stopped at").wait_for()
    settled(page)
    assert before <= share(page) < 90
    assert page.locator(OWN).count() == 1, "what was recorded is kept, and can be watched"
    train_a_little(page, "Start again")
    page.locator(RUN).get_by_role("button", name="Stop").click()
    page.locator(RUN, has_text="Stopped at").wait_for()
    settled(page)
    assert 0 < share(page) < 100
