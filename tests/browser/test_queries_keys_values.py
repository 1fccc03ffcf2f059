"""The lesson on trainable matrices in a real browser: its controls, and training."""

import pytest

from browser_tools import matrix, no_exception, open_page, settled, soon

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


def numbers(page, beat, chart):
    texts = matrix(page, beat, chart).locator(".mark-text.role-mark").first.locator("text")
    return texts.all_text_contents()


def train(page, says):
    """Train, and wait until the page says how it ended."""
    page.get_by_role("button", name="Train", exact=True).click()
    page.locator(f"text={says}").wait_for(timeout=60_000)
    settled(page)


@pytest.mark.long
def test_a_seed_for_one_matrix_leaves_the_others(page, app_url):
    open_page(page, app_url, LESSON)
    before = [numbers(page, "matrices", chart) for chart in range(3)]
    scores = numbers(page, "scores", 2)
    page.locator("summary", has_text="Other seeds").click()
    settled(page)
    page.locator(".st-key-control_q_seed input").fill("7")
    page.keyboard.press("Enter")
    settled(page)
    after = [numbers(page, "matrices", chart) for chart in range(3)]
    assert after[0] != before[0]
    assert after[1:] == before[1:]
    assert numbers(page, "scores", 2) != scores
    assert "q_seed=7" in page.url
    page.locator(".st-key-control_q_seed input").fill("seven")
    page.keyboard.press("Enter")
    settled(page)
    assert "must be a whole number" in page.locator(".st-key-problem_of_q_seed").inner_text()
    assert numbers(page, "matrices", 0) == after[0], "a bad seed changes nothing"
    assert page.locator(".st-key-control_q_seed input").input_value() == "seven"
    no_exception(page)


@pytest.mark.long
def test_widths_start_and_bias_change_the_picture(page, app_url):
    open_page(page, app_url, LESSON)
    scores = numbers(page, "scores", 2)
    page.locator("[class*=st-key-control_start] button", has_text="nn.Linear").click()
    settled(page)
    linear = numbers(page, "scores", 2)
    assert linear != scores
    page.locator(".st-key-control_d_out input").press("ArrowRight")
    settled(page)
    assert len(numbers(page, "matrices", 0)) == 3 * 3
    assert len(numbers(page, "matrices", 2)) == 3 * 2, "values keep a width of their own"
    page.locator(".st-key-control_bias label").click()
    settled(page)
    assert "parameters" in page.locator("text=and 8 of the biases").first.inner_text()
    no_exception(page)


def weights_now(page):
    texts = page.locator(".st-key-watched_training svg.marks .mark-text.role-mark")
    return texts.nth(1).locator("text").all_text_contents()


def step_now(page):
    title = page.locator(".st-key-watched_training svg text", has_text="step").first
    return title.text_content()


def test_training_is_watched_in_the_browser_alone_and_by_keyboard(page, app_url):
    open_page(page, app_url, LESSON)
    train(page, "What changed most")
    page.set_viewport_size({"width": 1280, "height": 1600})  # nothing is scrolled on the way
    slider = page.locator(".st-key-watched_training input[type=range]")
    slider.scroll_into_view_if_needed()
    settled(page)
    asked = page.evaluate("window.testRuns.asked")
    last, end = weights_now(page), step_now(page)
    assert end.startswith("step 2,000, loss 0.00")
    slider.press("Home")
    page.wait_for_function(
        "document.querySelector('.st-key-watched_training').innerText.includes('step 0, loss')"
    )
    first = weights_now(page)
    assert first != last
    buttons = page.locator(".st-key-watched_training").get_by_role("button")
    play = buttons.filter(has_text="Play")
    buttons.filter(has_text="Step on").press("Enter")
    assert slider.input_value() == "1"
    soon(page, lambda: step_now(page) != end)
    play.press("Space")
    page.wait_for_function(
        "+document.querySelector('.st-key-watched_training input[type=range]').value > 3"
    )
    buttons.filter(has_text="Pause").press("Space")
    at = slider.input_value()
    page.wait_for_timeout(700)
    assert slider.input_value() == at, "paused"
    assert first != weights_now(page)
    slider.press("End")
    soon(page, lambda: (weights_now(page), step_now(page)), (last, end))
    assert page.evaluate("window.testRuns.asked") == asked, "the server was not asked"
    no_exception(page)
    assert page.problems == []


@pytest.mark.long
def test_a_recorded_step_can_be_taken_apart_and_training_is_kept(page, app_url):
    open_page(page, app_url, LESSON)
    train(page, "The loss fell from")
    page.locator("summary", has_text="A recorded step").click()
    settled(page)
    last = numbers(page, "trained", 0)
    slider = page.locator("[class*='st-key-scrub_'] input")
    slider.press("Home")
    settled(page)
    first = numbers(page, "trained", 0)
    assert first != last
    assert page.locator("text=Step 0").count() == 1
    page.get_by_role("link", name="Simplified attention").first.click()
    settled(page)
    page.get_by_role("link", name="Queries, keys and values").first.click()
    settled(page)
    assert page.locator("text=The loss fell from").count() == 1


@pytest.mark.long
def test_a_rate_too_large_and_a_stopped_run_are_named(page, app_url):
    open_page(page, app_url, f"{LESSON}&rate=1000")
    train(page, "Diverged at step")
    no_exception(page)
    link = f"{LESSON}&steps=5000&t_width=64&d_in=64&tokenizer=text"
    open_page(page, app_url, f"{link}&sentence={'+'.join(f'w{at}' for at in range(64))}")
    page.evaluate(CLICK_STOP)
    train(page, "Stopped at")
    no_exception(page)
