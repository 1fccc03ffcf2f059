"""Heads that learn, in a real browser: moved through, trained, stopped, and left alone."""

import re

from browser_tools import in_contents, open_page, open_row, settled

LESSON = "heads_learning?predict=off"
RUN = ".st-key-run_of_heads"
OWN = ".st-key-moves_own input[type=range]"


def share(page):
    return int(re.search(r"(\d+)%", page.locator(RUN).inner_text())[1])


def train_a_little(page, label):
    page.get_by_role("button", name=label, exact=True).click()
    page.locator(RUN, has_text=re.compile(r"seconds: [1-9]")).wait_for()
    return share(page)


def test_a_run_ends_with_its_page_and_is_stopped_by_hand(page, app_url):
    open_page(page, app_url, LESSON)
    open_row(page, "train")
    before = train_a_little(page, "Train")
    in_contents(page, "A tiny language").click()
    settled(page)
    page.wait_for_timeout(3000)
    in_contents(page, "Watch heads learn").click()
    settled(page)
    open_row(page, "train")
    page.locator(RUN, has_text="Stopped at").wait_for()
    settled(page)
    assert before <= share(page) < 90
    assert page.locator(OWN).count() == 1, "what was recorded is kept, and can be watched"
    train_a_little(page, "Start again")
    page.locator(RUN).get_by_role("button", name="Stop").click()
    page.locator(RUN, has_text="Stopped at").wait_for()
    settled(page)
    assert 0 < share(page) < 100
