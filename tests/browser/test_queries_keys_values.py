"""The lesson on trainable matrices in a real browser: keys of their own, and training."""

from browser_tools import moves_in_one_frame, numbers, open_page, settled, soon

LESSON = "queries_keys_values?predict=off&cell=none"


def words_now(page, card):
    return page.locator(f".st-key-drawn_{card} svg g.words_marks text").all_text_contents()


def train(page, says):
    page.get_by_role("button", name="Train", exact=True).click()
    page.locator(f"text={says}").first.wait_for()
    settled(page)


def test_a_training_is_moved_through_in_its_picture(page, app_url):
    open_page(page, app_url, f"{LESSON}&steps=200")
    assert not any(text.startswith("loss") for text in words_now(page, "train")), "no empty chart"
    said = page.locator(".st-key-card_train").inner_text()
    assert "Nothing is trained yet. The loss is 2.0" in said
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


def test_one_number_makes_it_look_at_the_mouse_by_keyboard_and_one_click_undoes_it(page, app_url):
    def looked_at():
        shares = page.evaluate(
            """() => [...document.querySelectorAll('.st-key-drawn_matrices svg text')]
              .map((one) => one.textContent).filter((text) => text.endsWith('%'))"""
        )
        return max(range(len(shares)), key=lambda at: int(shares[at].removesuffix("%")))

    open_page(page, app_url, f"{LESSON}&example=named_features")
    assert looked_at() == 2
    page.get_by_role("button", name="Change a number").first.press("Enter")
    settled(page)
    page.get_by_role("slider", name="d_query").first.press("ArrowRight")
    settled(page)
    assert "W_query.5.1" in page.url
    number = page.locator(".st-key-moves_cell_matrices input")
    number.focus()
    settled(page)
    number.press("Home")
    soon(page, looked_at, 5)
    soon(page, lambda: "q_edits=5.1%3A-4" in page.url)
    settled(page)
    assert looked_at() == 5
    page.get_by_role("button", name="Undo your changes").first.click()
    settled(page)
    assert "q_edits" not in page.url
    assert looked_at() == 2
