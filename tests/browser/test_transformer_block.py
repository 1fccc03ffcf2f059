"""The transformer block in a real browser: a norm undoes a stretch, and each card is a screen."""

import pytest

from browser_tools import open_page, settled

LINK = "transformer_block?example=named_features&predict=off"
NUMBERS = """() => [...document.querySelectorAll('.st-key-drawn_norm svg g.numbers_marks text')]
  .map((one) => one.textContent)"""


def test_a_stretched_vector_is_standardised_to_the_same_numbers_in_one_frame(page, app_url):
    open_page(page, app_url, LINK)
    before = page.evaluate(NUMBERS)
    slider = page.locator(".st-key-moves_norm input")
    slider.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert slider.input_value() == "2"
    now = page.evaluate(NUMBERS)
    assert float(now[0]) == pytest.approx(2 * float(before[0]), abs=0.06)
    assert now[-6:] == before[-6:]
    settled(page)
    assert "factor=2" in page.url
    assert page.evaluate(NUMBERS) == now


@pytest.mark.long
def test_each_card_is_a_screen(page, app_url):
    open_page(page, app_url, LINK)
    cards = page.locator("[class*=st-key-card_]").all()
    assert len(cards) == 6
    assert max(card.bounding_box()["height"] for card in cards) <= 600
    main = page.locator("[data-testid=stMainBlockContainer]")
    assert main.evaluate("one => one.scrollHeight") <= 3_500
