"""Every page dark and narrow at once; test_accessibility opens it wide, light and dark."""

import pytest

from browser_tools import no_exception, open_page
from conftest import ROOT

PAGES = ["", *sorted(path.stem for path in (ROOT / "pages").glob("*.py"))]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_opens_whole(new_page, app_url, path):
    page = new_page(color_scheme="dark", viewport={"width": 390, "height": 844})
    open_page(page, app_url, f"{path}?predict=off")
    no_exception(page)
    assert page.problems == []
    assert page.locator("[data-testid=stVegaLiteChart]").count() > 0
    wide, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= window + 1, "the page can be pushed sideways"
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate("main => main.scrollWidth <= main.clientWidth + 1")
