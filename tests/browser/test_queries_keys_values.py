"""The lesson on trainable matrices in a real browser: keys of their own, and training."""

from browser_tools import (
    moves_in_one_frame,
    numbers,
    open_page,
    settled,
    soon,
)

LESSON = "queries_keys_values?predict=off&cell=none"


def words_now(page, card):
    return page.locator(f".st-key-drawn_{card} svg g.words_marks text").all_text_contents()


def train(page, says):
    """Train, and wait until the page says how it ended."""
    page.get_by_role("button", name="Train", exact=True).click()
    page.locator(f"text={says}").first.wait_for(timeout=60_000)
    settled(page)


def test_a_training_is_moved_through_in_its_picture(page, app_url):
    open_page(page, app_url, f"{LESSON}&steps=200")
    assert not any(text.startswith("loss") for text in words_now(page, "train")), "no empty chart"
    assert (
        "Nothing is trained yet. The loss is 2.0" in page.locator(".st-key-card_train").inner_text()
    )
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
