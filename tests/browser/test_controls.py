"""Links, and a sentence of one's own, in a real browser."""

from attention_core.examples import EXAMPLES
from browser_tools import click, open_page, settled


def test_home_starts_with_ones_own_sentence_or_an_example(page, app_url):
    open_page(page, app_url)
    page.get_by_placeholder("The small dog sees the cat").fill("Ça va? 你好 🙂")
    for step in (page.locator(".st-key-look button"), page.get_by_role("link", name="You know")):
        click(step)
        settled(page)
        written = page.locator(".st-key-drawn_layer svg text").all_text_contents()
        assert {"Ça", "va", "?", "你", "好", "🙂"} <= {*written}, "here, and where one goes on"
    open_page(page, app_url)
    page.locator(".st-key-row_examples summary").click()
    opening = page.locator(".st-key-row_examples details")
    inside = opening.evaluate("details => { details.scrollTop = 99; return details.scrollTop; }")
    assert inside == 0, "what opens scrolls inside itself, and slides away under the hand"
    page.get_by_role("link", name=EXAMPLES["life_is_short"].title).click()
    page.wait_for_url("**/tokenize_and_embed**")
    settled(page)
    assert page.locator(".st-key-chips_tokens").inner_text().split()[0] == "life"


def test_a_control_that_comes_back_stands_where_it_stood(page, app_url):
    open_page(page, app_url, "divide_by_sqrt_d?predict=off")
    width = page.locator(".st-key-control_vector_width_here")
    for look, n_there in (("Variance against d", 0), ("q·k, many times", 1)):
        page.get_by_text(look, exact=True).first.click()
        settled(page)
        assert width.count() == n_there
    assert "128" in width.inner_text()
