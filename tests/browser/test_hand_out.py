"""A page on paper, and a picture as a file, in a real browser."""

import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest

from browser_tools import open_page, script, settled

CONTROLS = "button, input, textarea, [role=slider], [data-testid=stSidebar], [data-testid=stHeader]"


@pytest.fixture
def paper(page):
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1000})
    yield page
    page.emulate_media(media="screen")


@pytest.mark.parametrize(
    "link", ["simplified_attention", "causal_mask?paper=on", "whole_layer?n_heads=8&d_model=64"]
)
def test_a_printed_page_has_no_controls_and_loses_nothing(paper, app_url, link):
    open_page(paper, app_url, link)
    assert not [each for each in paper.locator(CONTROLS).all() if each.is_visible()]
    assert paper.evaluate(script("beside_the_page")) == []
    n_cards, cut, over = paper.evaluate(script("over_others"))
    assert n_cards >= 3
    assert (cut, over) == (0, 0)
    if "paper=on" in link:
        foot = paper.locator(".st-key-foot_of_hand_out")
        assert f"{app_url}/causal_mask?" in foot.inner_text()
        assert foot.locator("img").is_visible()


@pytest.mark.parametrize(
    ("lesson", "n_sheets"), [("tokenize_and_embed", 4), ("multi_head_attention", 5)]
)
def test_a_hand_out_leaves_no_sheet_nearly_empty(paper, app_url, lesson, n_sheets):
    """Closing questions stand together, beside the way back, and all answers on one sheet."""
    open_page(paper, app_url, f"{lesson}?paper=on")
    tops = paper.locator(".st-key-closing_of_hand_out > div").evaluate_all(
        "all => all.map((each) => Math.round(each.getBoundingClientRect().top))"
    )
    assert len({*tops}) == (len(tops) + 1) // 2
    sheets = paper.pdf(format="A4", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type /Page\b", sheets)) == n_sheets


def test_a_page_in_the_dark_theme_is_printed_on_white(paper, app_url):
    paper.emulate_media(media="print", color_scheme="dark")
    open_page(paper, app_url, "simplified_attention")
    try:
        looks = paper.evaluate("""() => [
          getComputedStyle(document.querySelector('.stApp')).backgroundColor,
          getComputedStyle(document.querySelector('[data-testid=stMain] h2')).color,
          getComputedStyle(document.querySelector('[class*=st-key-drawn_] svg.marks')).colorScheme,
        ]""")
        assert looks == ["rgb(255, 255, 255)", "rgb(43, 43, 43)", "light"]
    finally:
        paper.emulate_media(color_scheme="light")


def saved(page, picture, kind, look):
    page.locator(f".st-key-save_{picture} button").click()
    dialog = page.get_by_role("dialog")
    dialog.locator("label", has_text=kind).click()
    dialog.locator("label", has_text=look).click()
    settled(page)
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Save", exact=True).click()
    page.keyboard.press("Escape")
    page.mouse.move(0, 0)
    settled(page)
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def test_a_picture_is_saved_light_and_dark_as_svg_and_twice_as_large_as_png(page, app_url):
    open_page(page, app_url, "simplified_attention?predict=off")
    name, light = saved(page, "weights", "SVG", "Light")
    assert name == "simplified_attention-weights.svg"
    _, dark = saved(page, "weights", "SVG", "Dark")
    name, png = saved(page, "weights", "PNG", "Dark")
    assert name == "simplified_attention-weights.png"
    drawn = page.locator(".st-key-drawn_weights svg.marks")
    numbers = drawn.evaluate("svg => [...svg.querySelectorAll('text')].map((t) => t.textContent)")
    for text in (light, dark):
        root = ElementTree.fromstring(text)  # a whole file, which other programs can open
        said = [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]
        assert said[0] == "Simplified attention: Weights"
        assert [each for each in said[1:] if each] == [each for each in numbers if each]
        for left_open in (b"light-dark", b"currentColor"):
            assert left_open not in text
    assert (b"#FCFBF8" in light, b"#FCFBF8" in dark) == (True, False)
    assert (b"#16191D" in light, b"#16191D" in dark) == (False, True)
    width, height = (float(root.get(side)) for side in ("width", "height"))
    assert struct.unpack(">II", png[16:24]) == pytest.approx((2 * width, 2 * height), abs=2)


def test_an_embedded_lesson_has_no_sidebar_and_one_card_nothing_around_it(page, app_url):
    open_page(page, app_url, "causal_mask?embed=true&predict=off")
    assert not page.locator("[data-testid=stSidebarUserContent]").is_visible()
    open_page(page, app_url, "causal_mask?embed=true&card=weights&predict=off")
    heads = page.locator("[data-testid=stMain] :is(h1, h2)")
    assert [each.inner_text() for each in heads.all() if each.is_visible()] == ["Weights"]
