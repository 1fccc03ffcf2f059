"""Guessing in a real browser: a row by its sliders, by keyboard, on a phone too."""

from browser_tools import caught_up, click, numbers, open_page, settled, soon

LESSON = "causal_mask"


def question(page, name):
    return page.locator(f".st-key-question_{name}")


def covered(page, beat):
    return int("?" in numbers(page, beat))


def written(page, name):
    """The numbers above the bars of a question's chart, a list for each row of bars."""
    texts = question(page, name).locator("svg .mark-text.role-mark")
    return [texts.nth(at).locator("text").all_text_contents() for at in range(texts.count())]


def test_a_row_is_set_by_keyboard_and_the_truth_is_drawn_over_it(page, app_url):
    open_page(page, app_url, LESSON)
    assert covered(page, "weights") == 1
    sliders = question(page, "row").get_by_role("slider")
    assert [s.get_attribute("aria-label") for s in sliders.all()] == [f"key {k}" for k in range(5)]
    assert written(page, "row") == [["0.20"] * 5]
    for at, key in ((0, "Home"), (1, "Home"), (3, "Home"), (4, "End")):
        sliders.nth(at).focus()
        page.keyboard.press(key)
    settled(page)
    assert written(page, "row") == [["0.00", "0.00", "0.33", "0.00", "0.67"]]
    assert covered(page, "weights") == 1
    offer = page.get_by_role("button", name="Show everything from now on")
    assert question(page, "row").locator(offer).count() == 1, "though its card has run alone"

    question(page, "row").get_by_role("button", name="Check").focus()
    page.keyboard.press("Enter")
    settled(page)
    assert covered(page, "weights") == 0
    guess, truth = written(page, "row")
    assert guess == ["0.00", "0.00", "0.33", "0.00", "0.67"]
    assert truth == ["0.01", "0.00", "0.11", "0.00", "0.88"]
    words = question(page, "row").inner_text()
    assert "22% of your weight would have to move to other keys; with all bars equal" in words
    caught_up(page)
    assert question(page, "leaks").locator(offer).count() == offer.count() == 1


def test_a_control_in_a_picture_stays_where_it_was_put_when_an_answer_uncovers_it(page, app_url):
    open_page(page, app_url, "without_softmax")
    slider = page.locator(".st-key-moves_decay input")
    slider.press("ArrowRight")
    settled(page)
    assert "gate_bias=1.5" in page.url
    click(question(page, "row_sums").get_by_role("button", name="Show me"))
    assert slider.input_value() == "1.5"


def test_who_goes_on_without_an_answer_finds_the_numbers_and_can_still_guess(page, app_url):
    open_page(page, app_url, f"{LESSON}?example=named_features")
    assert covered(page, "weights") == 1
    page.locator(".st-key-ends").scroll_into_view_if_needed()
    soon(page, lambda: covered(page, "context"), 0)
    question(page, "row").scroll_into_view_if_needed()
    soon(page, lambda: covered(page, "weights"), 0)
    # Its answer, and what there is to learn from it, stand there now, for who will not answer.
    assert question(page, "row").get_by_text("the visible keys share the whole 1").count() == 1
    click(question(page, "row").get_by_role("button", name="Guess after all"))
    assert covered(page, "weights") == 1
    assert question(page, "row").get_by_role("button", name="Check").count() == 1


def test_a_page_is_found_as_it_was_left(page, app_url):
    """What was gone on from, or answered, is open after a reload; what was taken back is not."""
    open_page(page, app_url, "softmax_or_sum?example=named_features")
    assert covered(page, "divide") == covered(page, "softmax") == 1
    click(question(page, "softmax_row").get_by_role("button", name="Show me"))
    kept = "() => localStorage.getItem('attention-explorer: left open') ?? ''"
    soon(page, lambda: "card_softmax" in page.evaluate(kept))
    page.reload()
    settled(page)
    soon(page, lambda: covered(page, "softmax"), 0)
    assert covered(page, "divide") == 1
    click(question(page, "softmax_row").get_by_role("button", name="Guess after all"))
    assert question(page, "softmax_row").get_by_role("button", name="Show me").count() == 1
    page.locator(".st-key-ends").scroll_into_view_if_needed()
    soon(page, lambda: "card_divide" in page.evaluate(kept))
    page.reload()
    settled(page)
    soon(page, lambda: covered(page, "divide"), 0)
    open_page(page, app_url, "softmax_or_sum?example=named_features&lock=predict")
    settled(page)
    assert covered(page, "divide") == 1, "where a link holds that one guesses"


def test_a_question_that_a_link_locks_holds_whoever_goes_on(page, app_url):
    open_page(page, app_url, f"{LESSON}?example=named_features&lock=predict")
    page.locator(".st-key-ends").scroll_into_view_if_needed()
    page.wait_for_timeout(2_500)  # longer than the end of a page waits
    question(page, "row").scroll_into_view_if_needed()
    settled(page)
    assert covered(page, "weights") == 1
