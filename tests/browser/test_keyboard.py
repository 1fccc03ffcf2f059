"""One whole lesson by keyboard alone: no mouse, and no focus set by a script."""

import pytest

from browser_tools import numbers, open_page, settled

pytestmark = pytest.mark.long

FOCUSED = """() => {
  const at = document.activeElement;
  const key = at?.closest('[class*=st-key-]');
  const names = key ? [...key.classList].filter((one) => one.startsWith('st-key-')) : [];
  const name = at?.getAttribute('aria-label') || '';
  return [names.join(' '), `${name} ${at?.innerText ?? ''} ${at?.closest('label')?.innerText ?? ''}`
    .trim(), at?.tagName ?? ''];
}"""


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

    def shown(self):
        return self.page.inner_text("[data-testid=stMain]")


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
    keys.go_to("st-key-cell_scores_scores_0")  # the cell that is open: walk to the next query
    keys.press("ArrowRight")
    assert "cell=scores.1.0" in page.url
    assert "scores[1, 0]" in page.inner_text(".st-key-cell_scores")
    keys.go_to("st-key-operand_scores_0")  # and upstream, to an operand
    keys.press("Enter")
    opened = page.locator(".st-key-cell_scores strong code")
    assert not opened.inner_text().startswith("scores[")

    keys.go_to("st-key-guess_")
    keys.press(*["ArrowRight"] * 6, "Enter")
    assert "Guess again" in page.inner_text(".st-key-question_looks_at")
    assert "?" not in numbers(page, "weights", 1)

    keys.go_to("st-key-moves_one_query")
    keys.press("Home", "ArrowRight")
    assert "shown_terms=2" in page.url
    keys.go_to("st-key-row_deeper")
    keys.press("Enter")
    assert "A loop that adds one product at a time" in keys.shown()
    keys.go_to("st-key-row_take_away")
    keys.press("Enter")
    keys.go_to("Read the program")
    keys.press("Enter")
    assert "import torch" in keys.shown()
    keys.go_to("Next: Softmax or sum")
    keys.press("Enter")
    assert page.locator("h1").first.inner_text() == "Softmax or sum"
