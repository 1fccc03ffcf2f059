"""Hostile text on every page in a real browser: nothing runs, nothing is fetched, nothing breaks.

Here all of it together, on every page, which is first opened dark and narrow at once (wide, light
and dark by test_accessibility). Each text alone is tried without a browser (test_pages).
"""

import pytest

from browser_tools import no_exception, open_page, open_rows, pushed_sideways, script, settled
from hostile import FETCHED, TEXTS
from sampling import few
from visiting import EVERYWHERE, has_sentence

PAGES = ["" if page == "app.py" else page[6:-3] for page in EVERYWHERE if has_sentence(page)]
PARTS = [part for part in TEXTS if part not in ("controls", "long words")]
PICTURE = f"![x]({FETCHED}c.png)"
"""Markdown first, last and in the middle: some widgets draw only the ends of what they offer."""
ALL_AT_ONCE = " ".join([PICTURE, *(" ".join(TEXTS[p].split()[:6])[:240] for p in PARTS), PICTURE])


def watch(page):
    page.asked, page.dialogs = [], []
    page.on("request", lambda request: page.asked.append(request.url))

    def heard(dialog):
        page.dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", heard)


def type_text(page, text):
    field = page.locator(".st-key-control_sentence textarea").first
    field.evaluate(script("type_text"), text)
    field.focus()
    page.keyboard.press("Control+Enter")
    settled(page, quiet=0.5)


def unharmed(page, url):
    """Nothing ran, nothing was fetched from elsewhere, and the page has its shape."""
    assert page.dialogs == []
    assert page.evaluate("window.hacked") is None
    assert [one for one in page.asked if not one.startswith((url, "data:", "blob:"))] == []
    assert page.locator(f"img[src^='{FETCHED}'], a[href^='javascript'], iframe").count() == 0
    stands_within_its_window(page)


def stands_within_its_window(page):
    """No exception, no error of a script, and nothing that the page can be pushed sideways by."""
    no_exception(page)
    assert page.problems == []
    assert not pushed_sideways(page)
    assert page.locator("[data-testid=stMain] h1").first.is_visible()


@pytest.mark.parametrize("path", few(PAGES, 1, first="causal_mask"))
def test_a_page_opens_whole_dark_and_narrow_and_hostile_text_does_nothing(new_page, app_url, path):
    page = new_page(color_scheme="dark", viewport={"width": 390, "height": 844})
    watch(page)
    open_page(page, app_url, f"{path}?predict=off&tokenizer=blanks")
    open_rows(page)
    stands_within_its_window(page)
    assert page.locator("[data-testid=stVegaLiteChart]").count() > 0
    page.set_viewport_size({"width": 1280, "height": 900})
    settled(page)
    type_text(page, ALL_AT_ONCE)
    unharmed(page, app_url)
    assert "onerror" in page.locator(".st-key-control_sentence textarea").first.input_value()
    assert "sentence=%21%5Bx" in page.url
