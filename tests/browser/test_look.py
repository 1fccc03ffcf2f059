"""Every page dark and narrow, and with hostile text in it; test_accessibility opens it light."""

from urllib.parse import quote

import pytest

from browser_tools import no_exception, open_page
from conftest import ROOT

PAGES = ["", *sorted(path.stem for path in (ROOT / "pages").glob("*.py"))]
HOSTILE = (
    '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script> '
    "![x](http://127.0.0.1:9/x.png) [a](javascript:alert(1)) $x$ :red[x]"
)


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(
    "look",
    [
        {"color_scheme": "dark"},
        {"viewport": {"width": 390, "height": 844}},
    ],
    ids=["dark", "narrow"],
)
def test_a_page_opens_whole(new_page, app_url, path, look):
    page = new_page(**look)
    open_page(page, app_url, f"{path}?predict=off")
    no_exception(page)
    assert page.problems == []
    assert page.locator("[data-testid=stVegaLiteChart]").count() > 0
    wide, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= window + 1, "the page can be pushed sideways"
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate("main => main.scrollWidth <= main.clientWidth + 1")


@pytest.mark.parametrize("path", PAGES)
def test_hostile_text_runs_nothing_and_fetches_nothing(page, app_url, path):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    open_page(page, app_url, f"{path}?predict=off&tokenizer=blanks&text={quote(HOSTILE)}")
    no_exception(page)
    shown = page.inner_text("[data-testid=stApp]") + page.locator("textarea").first.input_value()
    assert "onerror" in shown
    assert page.evaluate("window.hacked") is None
    assert not [url for url in asked if "127.0.0.1:9/" in url]
    assert page.locator("img[src='x'], a[href^='javascript']").count() == 0
    assert page.problems == []
