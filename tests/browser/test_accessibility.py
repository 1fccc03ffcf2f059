"""axe-core on every page, light and dark and on a phone: nothing serious or critical."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from browser_tools import (
    click,
    make_class,
    no_exception,
    open_page,
    open_rows,
    pushed_sideways,
    script,
    settled,
)
from conftest import ROOT
from sampling import few

PAGES = ["", *sorted(path.stem for path in (ROOT / "pages").glob("*.py"))]
WIDEST = ["notebooks_numbers", "cross_attention"]
"""Where most was wider than a phone: code, formulas, tables."""
MINOR = ("empty-table-header",)
"""Rules that axe takes lightly, and we do not."""


def violations(page, options=None):
    """What keeps people from using the page as it stands, a line each."""
    found = Axe().run(page, options={"resultTypes": ["violations"], **(options or {})})
    return [
        f"{each['impact']} {each['id']}: {node['html'][:200]} {node['any'][:1]}"
        for each in found.response["violations"]
        if each["impact"] in ("serious", "critical") or each["id"] in MINOR
        for node in each["nodes"]
    ]


def show_all(page):
    """The window as high as the page, for axe judges what it sees; no colours on their way."""
    page.add_style_tag(content="* { transition: none !important; }")
    height = page.evaluate(
        "document.querySelector('[data-testid=stMainBlockContainer]').scrollHeight"
    )
    page.set_viewport_size({"width": 1280, "height": int(height) + 200})
    settled(page)


def can_be_used_in_light_and_dark(page):
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    settled(page)
    assert violations(page, {"runOnly": ["color-contrast"]}) == []


@pytest.mark.parametrize("path", few(PAGES, 2))
def test_a_page_can_be_used_by_all_in_light_and_dark(page, app_url, path):
    """The page opens whole as well: no exception, no error of a script, charts are drawn."""
    open_page(page, app_url, f"{path}?predict=off")
    no_exception(page)
    assert page.problems == []
    assert page.locator("[data-testid=stVegaLiteChart]").count() > 0
    assert not pushed_sideways(page)
    open_rows(page)
    no_exception(page)
    show_all(page)
    can_be_used_in_light_and_dark(page)


@pytest.mark.parametrize("path", [*WIDEST, *few([each for each in PAGES if each not in WIDEST], 1)])
def test_on_a_phone_all_that_scrolls_is_reached_by_keyboard(new_page, app_url, path):
    page = new_page(viewport={"width": 390, "height": 844})
    open_page(page, app_url, f"{path}?predict=off")
    open_rows(page)
    assert violations(page) == []


@pytest.mark.long
def test_questions_and_all_that_folds_open_can_be_used_too(page, app_url):
    open_page(page, app_url, "simplified_attention?seed=3&pin=example%3Dwild_cat")
    assert page.get_by_role("button", name="Show me").count() > 0
    folded = page.locator("[data-testid=stExpander] details:not([open]) > summary:visible")
    while folded.count():
        click(folded.first)
    show_all(page)
    can_be_used_in_light_and_dark(page)


@pytest.mark.long
def test_a_class_can_be_led_and_joined_by_all(new_page, app_url):
    wall, ann = new_page(), new_page(viewport={"width": 390, "height": 844})
    link = make_class(wall, app_url, "simplified_attention")
    ann.goto(link)
    settled(ann)
    open_rows(wall)
    for name in ("Ask the class", "Show the bars", "Uncover the numbers"):
        click(wall.get_by_role("button", name=name))
        ann.locator(".st-key-class_words").wait_for()
        settled(ann)
        if name == "Ask the class":
            click(ann.locator(".st-key-class [data-testid=stButtonGroup] button").first)
        assert violations(ann) == []
        show_all(wall)
        can_be_used_in_light_and_dark(wall)
        wall.emulate_media(color_scheme="light")


@pytest.mark.long
@pytest.mark.parametrize("width", [1280, 390])
def test_the_glossary_can_be_used_too(page, app_url, width):
    open_page(page, app_url, "simplified_attention?predict=off")
    click(page.get_by_role("button", name="Glossary"))
    page.set_viewport_size({"width": width, "height": 900})
    settled(page)
    drawer = page.get_by_role("dialog")
    box = drawer.bounding_box()
    assert 0 <= box["x"] <= box["x"] + box["width"] <= width
    wide, room = drawer.evaluate("each => [each.scrollWidth, each.clientWidth]")
    assert wide <= room, "it can be pushed sideways"
    can_be_used_in_light_and_dark(page)


ROOMS = script("rooms_of_pictures")
"""How high each picture is drawn, and how high its room is."""


@pytest.mark.parametrize("width", [1920, 1500, 1280, 600, 480, 390])
def test_words_and_pictures_grow_with_the_letters_of_the_browser(new_page, app_url, width):
    """Where a phone has no room for larger ones, the words in a picture still stand apart. What the
    browser's style says of a picture's room, and its specification of its size, go together.
    """
    heights = {}
    for size in (16, 24):
        page = new_page(viewport={"width": width, "height": 900})
        session = page.context.new_cdp_session(page)
        session.send("Page.setFontSizes", {"fontSizes": {"standard": size}})
        open_page(page, app_url, "simplified_attention?predict=off")
        rooms = page.evaluate(ROOMS)
        assert rooms
        assert all(high <= room + 1 for high, room in rooms), (size, rooms)
        if width < 640:  # what the scores come from is folded, and has wider cells
            for there in ("Show all", "Show less", "Show all"):
                click(page.locator(".st-key-all_of_scores").get_by_role("button", name=there))
        heights[size] = page.evaluate("""() =>
          ['p', '.st-key-drawn_scores svg g.numbers_marks text']
          .map((what) => document.querySelector(`[data-testid=stMain] ${what}`))
          .map((one) => one.tagName === 'P' ? parseFloat(getComputedStyle(one).fontSize)
            : one.getBoundingClientRect().height)""")
        words, picture = page.evaluate(script("words_of_scores"))
        pairs = [(a, b) for n, a in enumerate(words) for b in words[:n]]
        assert words
        assert not [each for each in pairs if meet(*each)]
        assert max(right for _, right, _, _ in words) <= picture[1]
        assert not pushed_sideways(page)
    grown = [large / usual for usual, large in zip(*heights.values(), strict=True)]
    assert grown[0] == 1.5
    assert grown[1] > {1280: 1.3, 1920: 1.2}.get(width, 0)  # a phone has no room for larger ones


def meet(one, other):
    """Whether two boxes of left, right, top and bottom lie over each other."""
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]
