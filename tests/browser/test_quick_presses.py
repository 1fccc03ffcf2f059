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
