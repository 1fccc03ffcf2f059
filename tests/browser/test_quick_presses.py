"""Whoever presses faster than the server answers: what is shown is what the address says.

`test_parts.py` has the same every day, without the browser.
"""

import random
from itertools import zip_longest

import pytest

from attention_ui.frame.contents import LESSONS
from browser_tools import open_page, settled

N_EVENTS, N_LAST, N_TRIES = 30, 6, 2
CONTROLS = """(kinds) => [...document.querySelectorAll(kinds)]
  .filter((one) => one.closest('[data-testid=stMain], [data-testid=stSidebar]')
    && one.checkVisibility() && !one.disabled
    && !one.closest('[data-testid=stExpander], [class*=st-key-question_]'))"""
IN_PICTURES = "input[type=range]"
KEYS = {  # of each kind of control, what moves it
    "[role=slider]": ("ArrowRight", "ArrowLeft", "ArrowRight", "PageUp"),
    IN_PICTURES: ("ArrowRight", "ArrowLeft", "ArrowRight", "ArrowUp"),
    "[data-testid=stCheckbox] input": ("Space",),
    "[data-testid=stButtonGroup] button": ("Space",),
    ".st-key-next_seed button": ("Enter",),
}
FOCUS = (
    f"([kinds, at]) => {{ const found = ({CONTROLS})(kinds); found[at % found.length]?.focus() }}"
)
KIND = "(kinds) => kinds.findIndex((kind) => document.activeElement.matches(kind))"
SHOWN = f"""(kinds) => ({{
  words: [...document.querySelectorAll('[data-testid=stMain] :is(p, label, h1, h2, code, .katex)')]
    .filter((one) => one.checkVisibility()).map((one) => one.innerText),
  pictures: [...document.querySelectorAll('[data-testid=stMain] svg.marks')].map((one) =>
    [...one.querySelectorAll('text')].map((one) => one.textContent).sort().join(' ')),
  controls: ({CONTROLS})(kinds).map((one) => [one.value, one.checked,
    ...['aria-label', 'aria-valuetext', 'aria-checked'].map((name) => one.getAttribute(name))
  ].join(' ')),
  canvases: [...document.querySelectorAll('canvas')].map((one) => one.toDataURL().length),
}})"""


def shown(page):
    """The words, the numbers in pictures, and where controls stand."""
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(2, 2)
    settled(page)
    return page.evaluate(SHOWN, ", ".join(KEYS))


@pytest.mark.long
@pytest.mark.parametrize("at", range(N_TRIES))
@pytest.mark.parametrize("lesson", [each.name for each in LESSONS])
def test_what_is_shown_after_thirty_quick_presses_is_what_the_address_says(
    new_page, page, app_url, lesson, at
):
    open_page(page, app_url, f"{lesson}?predict=off")
    chance, pressed = random.Random(f"{lesson} {at}"), []

    def press(kinds):
        page.evaluate(FOCUS, [kinds, chance.randrange(1000)])
        kind = [*KEYS][page.evaluate(KIND, [*KEYS])]
        key = chance.choice(KEYS[kind])
        pressed.append((kind, key))
        page.keyboard.press(key)

    has = page.evaluate(f"(kinds) => ({CONTROLS})(kinds).length", ", ".join(KEYS))
    if not has:
        return
    last = IN_PICTURES if page.locator(IN_PICTURES).count() else ", ".join(KEYS)
    for number in range(N_EVENTS):
        press(last if number >= N_EVENTS - N_LAST else ", ".join(KEYS))
    warm = shown(page)
    cold, address = new_page(), page.evaluate("location.href")
    open_page(cold, app_url, address.removeprefix(app_url))
    fresh = shown(cold)
    for what in warm:
        pairs = zip_longest(warm[what], fresh[what])
        assert warm[what] == fresh[what], [pair for pair in pairs if pair[0] != pair[1]]


def test_a_link_waits_for_the_control_in_a_picture_that_was_moved_just_before(page, app_url):
    open_page(page, app_url, "simplified_attention?predict=off")
    control = page.locator(".st-key-moves_scores input")
    control.hover()
    settled(page)
    control.press("ArrowRight")
    page.locator(".st-key-contents a", has_text="Why divide").evaluate("link => link.click()")
    page.wait_for_url("**/divide_by_sqrt_d?*")
    settled(page)
    page.go_back()
    settled(page)
    assert "factor=1.25" in page.url
    assert control.input_value() == "1.25"


def test_controls_of_two_cards_that_rest_at_once_are_reported_apart(page, app_url):
    told = []
    page.on("console", lambda message: told.append(message.text))
    open_page(page, app_url, "causal_mask?predict=off")
    for control in page.locator(".vega-bind input").all()[:2]:
        control.hover()
        settled(page)
    page.evaluate("""() => {
      for (const one of [...document.querySelectorAll('.vega-bind input')].slice(0, 2)) {
        one.value = Number(one.value) + Number(one.step);
        one.dispatchEvent(new Event('input', { bubbles: true }));
      }
      const end = performance.now() + 400;
      setTimeout(() => { while (performance.now() < end); }, 20);
    }""")
    page.wait_for_timeout(500)
    settled(page)
    assert "change_by=" in page.url
    assert "window=" in page.url
    assert [each for each in told if "fragmentIds" in each] == []
