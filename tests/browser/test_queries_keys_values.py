"""The lesson on trainable matrices in a real browser: its controls, and training."""

from browser_tools import matrix, no_exception, open_page, settled

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


def train(page):
    page.get_by_role("button", name="Train", exact=True).click()
    settled(page, timeout=60)


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


def test_widths_start_and_bias_change_the_picture(page, app_url):
    open_page(page, app_url, LESSON)
    scores = numbers(page, "scores", 2)
    page.locator(".st-key-control_start button", has_text="nn.Linear").click()
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


def test_training_can_be_scrubbed_through_and_is_kept(page, app_url):
    open_page(page, app_url, LESSON)
    train(page)
    assert page.locator("text=The loss fell from").count() == 1
    last = numbers(page, "trained", 0)
    slider = page.locator("[class*='st-key-scrub_'] input")
    slider.press("Home")
    settled(page)
    first = numbers(page, "trained", 0)
    assert first != last
    assert page.locator("text=Step 0").count() == 1
    page.get_by_role("link", name="Simplified attention").first.click()
    settled(page)
    page.get_by_role("link", name="Trainable queries").first.click()
    settled(page)
    assert page.locator("text=The loss fell from").count() == 1
    assert numbers(page, "trained", 0) == last


def test_a_rate_too_large_and_a_stopped_run_are_named(page, app_url):
    open_page(page, app_url, f"{LESSON}&rate=1000")
    train(page)
    assert page.locator("text=Diverged at step").count() == 1
    no_exception(page)
    link = f"{LESSON}&steps=5000&t_width=64&d_in=64&tokenizer=text"
    open_page(page, app_url, f"{link}&sentence={'+'.join(f'w{at}' for at in range(64))}")
    page.evaluate(CLICK_STOP)
    train(page)
    assert page.locator("text=Stopped at").count() == 1
    no_exception(page)
