"""The server dies and comes back under open pages: they come back with their settings."""

import pytest

from browser_tools import no_exception, open_page, open_row, settled
from serving import free_port, start_server

pytestmark = pytest.mark.long

WAIT = 60_000


def test_pages_come_back_after_the_server_was_killed(new_page, tmp_path):
    port = free_port()
    server = start_server(tmp_path / "first.txt", port=port)
    places = (
        "simplified_attention?predict=off&seed=5&d_in=4&sentence=A+cat+sat&tokenizer=text",
        "causal_mask?predict=off&window=2&section=mask&cell=mask.1.1&dropout=0.3",
    )
    try:
        pages = [new_page() for _ in places]
        for page, place in zip(pages, places, strict=True):
            open_page(page, server.url, place)
        slider = pages[0].locator(".st-key-control_d_in input").first
        slider.focus()
        pages[0].keyboard.press("ArrowRight")
        settled(pages[0])
        server.process.kill()
        server.process.wait()
        for page in pages:
            page.wait_for_selector(
                "[data-testid=stApp]:not([data-test-connection-state=CONNECTED])"
            )
    finally:
        server.stop()
    server = start_server(tmp_path / "second.txt", port=port)
    try:
        for page in pages:
            page.wait_for_selector(
                "[data-testid=stApp][data-test-connection-state=CONNECTED]", timeout=WAIT
            )
            settled(page, timeout=60)
            no_exception(page)
        assert "d_in=5" in pages[0].url
        field = pages[0].locator(".st-key-control_sentence textarea").first
        assert field.input_value() == "A cat sat"
        assert pages[0].locator(".st-key-control_d_in input").first.input_value() == "5"
        assert pages[1].locator(".st-key-cell_mask").count() == 1
        assert pages[1].locator(".st-key-moves_mask input").first.input_value() == "2"
        slider.focus()
        pages[0].keyboard.press("ArrowRight")
        settled(pages[0])
        assert "d_in=6" in pages[0].url
        # A control in a picture: the new server must have been told of it.
        open_row(pages[1], "deeper")
        pages[1].locator(".st-key-moves_dropout input").first.focus()
        pages[1].keyboard.press("ArrowRight")
        settled(pages[1])
        assert "dropout=0.35" in pages[1].url
        for page in pages:
            no_exception(page)
    finally:
        server.stop()
