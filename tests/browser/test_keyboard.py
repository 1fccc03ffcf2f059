"""By keyboard alone: one whole lesson, and the cells of pictures. No focus is set by a script."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from attention_ui.picture.palette import CHOSEN, FED
from attention_ui.streamlit_workarounds.unseen_component import text_of
from browser_tools import numbers, open_page, outlined, script, settled

FOCUSED = script("focused")


class Keyboard:
    """What a person does who has a keyboard only."""

    def __init__(self, page):
        self.page = page
        self.passed = []

    def go_to(self, wanted, most=150):
        """Press Tab until the focus is on something of this key or with these words."""
        for _ in range(most):
            self.page.keyboard.press("Tab")
            key, words, tag = self.page.evaluate(FOCUSED)
            self.passed.append((key, words, tag))
            if wanted in f"{key} {words}":
                return
        passed = [(key, words[:60], tag) for key, words, tag in self.passed[-most:]]
        raise AssertionError(f"{wanted!r} is not reached by Tab; passed {passed}")

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        settled(self.page, quiet=0.4)


@pytest.mark.long
def test_a_whole_lesson_by_keyboard(page, app_url):
    open_page(page, app_url, "")
    keys = Keyboard(page)
    keys.go_to("Simplified attention")
    keys.press("Enter")
    assert page.locator("h1").first.inner_text() == "Simplified attention"

    keys.go_to("st-key-control_d_in")
    keys.press("ArrowRight")
    assert "d_in=4" in page.url

    keys.go_to("st-key-control_similarity")
    keys.press("ArrowRight", "Enter")
    assert "similarity=cosine" in page.url
    keys.go_to("st-key-moves_scores")
    keys.press("ArrowRight")
    assert "factor=1.25" in page.url
    keys.go_to("st-key-open_scores")
    keys.press("Enter")
    row, column = map(int, page.url.rpartition("cell=scores.")[2].split("."))
    keys.go_to("st-key-cell_scores_scores_0")  # the cell that is open: walk to the next query
    keys.press("ArrowRight")
    assert f"cell=scores.{row + 1}.{column}" in page.url
    assert f"scores[{row + 1}, {column}]" in page.inner_text(".st-key-cell_scores")
    keys.go_to("st-key-operand_scores_0")  # and upstream, to an operand
    keys.press("Enter")
    assert not page.locator(".st-key-cell_scores strong code").inner_text().startswith("scores[")

    keys.go_to("st-key-guess_")
    keys.press(*["ArrowRight"] * 6, "Enter")
    assert "Guess again" in page.inner_text(".st-key-question_looks_at")
    held = page.locator(".st-key-question_looks_at :focus")
    assert held.inner_text() == "Guess again", "not lost with its button, nor on its help"
    assert "?" not in numbers(page, "weights", 1)

    keys.go_to("st-key-moves_one_query")
    keys.press("Home", "ArrowRight")
    assert "shown_terms=2" in page.url
    keys.go_to("st-key-row_deeper")
    keys.press("Enter")
    assert "A loop that adds one product at a time" in page.inner_text("[data-testid=stMain]")
    keys.go_to("st-key-row_take_away")
    keys.press("Enter")
    keys.go_to("Read the program")
    keys.press("Enter")
    assert "import torch" in page.inner_text("[data-testid=stMain]")
    keys.go_to("Next: Softmax or sum")
    keys.press("Enter")
    assert page.locator("h1").first.inner_text() == "Softmax or sum"


WATCH = """addEventListener('pointermove', ({ target, isTrusted }) => {
  if (!isTrusted) window.lastPointed = target;
}, true)"""
SEEN = """() => [document.querySelector('#vg-tooltip-element')?.innerText, window.testRuns.byHand,
  document.querySelector('[role=status][style*=clip]').textContent]"""
WALKS = {  # pages that are unlike: a control in the picture, a sentence with arcs, a whole layer
    "simplified_attention": ("scores", ["ArrowDown", "End", "ArrowRight", "ArrowRight"]),
    "causal_mask": ("weights", ["ArrowUp", "ArrowRight", "ArrowDown", "End", "ArrowRight"]),
    "whole_layer": ("layer", ["ArrowDown", "End", "ArrowRight", "ArrowRight", "ArrowUp"]),
}


def seen(page, card):
    """What is outlined, the line of arithmetic, when a run was asked for, what is read aloud."""
    page.wait_for_timeout(150)
    return [outlined(page, card, colour) for colour in (CHOSEN, FED)], *page.evaluate(SEEN)


@pytest.mark.parametrize("path", WALKS)
def test_the_focus_on_a_cell_is_the_pointer_on_it(page, app_url, path):
    """Everything the pointer does in a picture, the keys do, and only Enter asks the server."""
    card, walk = WALKS[path]
    open_page(page, app_url, f"{path}?predict=off")
    page.evaluate(WATCH)
    keys = Keyboard(page)
    keys.go_to(f"st-key-drawn_{card}")
    settled(page)
    picture = page.locator(f".st-key-drawn_{card}")
    assert picture.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"
    met = []
    for each in walk:
        page.keyboard.press(each)
        met.append(seen(page, card))
        target = page.evaluate_handle("window.lastPointed").as_element()
        picture.dispatch_event("pointerout")
        page.mouse.move(2, 2)
        target.hover()
        around, words, _, told = met[-1]
        assert [around, words] == [*seen(page, card)[:2]], each
        assert all(i in told for i in words.replace("\t", "").splitlines() if i not in "=so")
    assert len({words for _, words, *_ in met}) == len(walk), "the focus stands still"
    assert len({asked for *_, asked, _ in met}) == 1, "the server was asked"
    found = Axe().run(page).response["violations"]
    assert [each for each in found if each["impact"] in ("serious", "critical")] == []

    below = picture.bounding_box()
    height = round(below["y"] + below["height"])
    page.set_viewport_size({"width": page.viewport_size["width"], "height": height})
    settled(page)
    keys.press("Enter")
    opened = page.url
    assert "cell=" in opened
    box = page.locator(f".st-key-cell_{card}").bounding_box()
    assert min(200, box["height"]) - 1 <= height - box["y"] <= height, "it is in sight"
    keys.press("Escape")
    assert "cell=none" in page.url
    assert f"st-key-drawn_{card}" in page.evaluate(FOCUSED)[0], "the focus stays in the picture"
    keys.press("Escape")
    assert page.evaluate(SEEN)[2] == ""
    assert page.evaluate("document.activeElement === document.body")
    target = page.evaluate_handle("window.lastPointed").as_element()
    target.click()
    settled(page)
    assert page.url == opened


def test_in_a_picture_every_cell_is_reached_and_its_slider_keeps_its_keys(page, app_url):
    """By the arrow keys alone, from any cell; and what is on a canvas is no other."""
    reach = script("reach")
    long = "+".join(["cat", "mouse"] * 12)
    found = set()
    for path in ("whole_layer", f"whole_layer?sentence={long}", "multi_head_attention", "home"):
        open_page(page, app_url, path.removeprefix("home"))
        for place in page.locator("[class*=st-key-drawn_]").all():
            card = place.get_attribute("class").split("st-key-drawn_")[1].split()[0]
            drawn, met, cells = page.evaluate(reach, [card, text_of("cells.js")])
            assert met == cells > 3, (path, card)
            found.add(drawn)
    assert found == {"svg", "CANVAS"}

    open_page(page, app_url, "tiny_language?predict=off")
    chart = page.locator(".st-key-chart_of_why")
    chart.focus()
    chart.press("Escape")
    page.wait_for_timeout(500)
    assert not page.locator("[data-testid=stDataFrame]").count(), "its table in the place of it"

    open_page(page, app_url, "simplified_attention?predict=off")
    keys = Keyboard(page)
    keys.go_to("st-key-moves_scores")
    keys.press("ArrowRight")
    assert "factor=1.25" in page.url
