"""The lesson on trainable matrices in a real browser: keys of their own, and training."""

import pytest

from browser_tools import (
    moves_in_one_frame,
    no_exception,
    numbers,
    open_page,
    open_row,
    settled,
    soon,
)

LESSON = "queries_keys_values?predict=off&cell=none"

# The largest run takes a second or two, less than a driver of browsers may need for a click.
CLICK_STOP = """
() => new MutationObserver((_, observer) => {
  const stop = [...document.querySelectorAll('.st-key-run_of_training button')]
    .find((button) => button.innerText.includes('Stop'));
  if (!stop) return;
  observer.disconnect();
  stop.click();
}).observe(document, { subtree: true, childList: true, characterData: true })
"""


def words_now(page, card):
    return page.locator(f".st-key-drawn_{card} svg g.words_marks text").all_text_contents()


def train(page, says):
    """Train, and wait until the page says how it ended."""
    page.get_by_role("button", name="Train", exact=True).click()
    page.locator(f"text={says}").first.wait_for(timeout=60_000)
    settled(page)


def test_a_training_is_moved_through_in_its_picture(page, app_url):
    open_page(page, app_url, f"{LESSON}&steps=200")
    assert any(text.startswith("loss 2.0") for text in words_now(page, "train")), "shown at once"
    train(page, "The loss fell from")
    last = numbers(page, "train")
    assert any(text.startswith("after step 200") for text in words_now(page, "train"))
    moves_in_one_frame(page, "train", 0)
    soon(page, lambda: any(text.startswith("loss 2.0") for text in words_now(page, "train")))
    assert numbers(page, "train") != last
    settled(page)
    assert "trained=0" in page.url
    page.locator(".st-key-moves_train input").press("End")
    soon(page, lambda: numbers(page, "train"), last)
    settled(page)
    assert "trained" not in page.url


@pytest.mark.long
def test_keys_that_are_queries_have_scores_that_are_the_same_both_ways(page, app_url):
    open_page(page, app_url, LESSON)
    page.locator(".st-key-moves_weights input").press("Home")
    settled(page)
    shown = numbers(page, "weights")
    scores = [shown[11 * row : 11 * row + 11] for row in range(11)]
    assert scores == [list(column) for column in zip(*scores, strict=True)]
    page.locator(".st-key-moves_weights input").press("End")
    settled(page)
    assert numbers(page, "weights") != shown


@pytest.mark.long
def test_a_seed_that_is_none_stays_typed_and_changes_nothing(page, app_url):
    open_page(page, app_url, LESSON)
    before = numbers(page, "matrices")
    open_row(page, "deeper")
    page.locator(".st-key-control_q_seed input").fill("7")
    page.keyboard.press("Enter")
    settled(page)
    after = numbers(page, "matrices")
    assert after != before
    assert "q_seed=7" in page.url
    page.locator(".st-key-control_q_seed input").fill("seven")
    page.keyboard.press("Enter")
    settled(page)
    assert "must be a whole number" in page.locator(".st-key-problem_of_q_seed").inner_text()
    assert numbers(page, "matrices") == after
    assert page.locator(".st-key-control_q_seed input").input_value() == "seven"


@pytest.mark.long
def test_a_rate_too_large_and_a_stopped_run_are_named(page, app_url):
    open_page(page, app_url, f"{LESSON}&rate=1000")
    train(page, "Diverged at step")
    no_exception(page)
    link = f"{LESSON}&steps=5000&t_width=64&d_in=64&tokenizer=text"
    open_page(page, app_url, f"{link}&sentence={'+'.join(f'w{at}' for at in range(64))}")
    page.evaluate(CLICK_STOP)
    train(page, "Stopped at")
