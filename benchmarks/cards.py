"""A page of cards: heights, a slider to the last change, a control in the picture.

`python -m benchmarks.cards simplified_attention d_in scores`
"""

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from browser_tools import settled
from serving import start_server

from .watching import chromium, new_page

EMPTY = Path(__file__).with_name("empty")
HEIGHTS = """() => [...document.querySelectorAll('[class*=st-key-card_]')].map((card) => [
  [...card.classList].find((name) => name.startsWith('st-key-card_')).slice(12),
  Math.round(card.getBoundingClientRect().height)])"""
IN_FRAME = """async ([place, chart]) => {
  const input = document.querySelector(`.st-key-moves_${place} input`);
  const drawing = document.querySelector(`.st-key-drawn_${place} .marks`);
  const times = [];
  for (let at = 0; at < 24; at++) {
    const step = Number(input.step), up = at % 2 ? -1 : 1;
    let last = 0;
    const watch = new MutationObserver(() => { last = performance.now(); });
    watch.observe(drawing, { subtree: true, childList: true, attributes: true,
                             characterData: true });
    const began = performance.now();
    input.value = Number(input.value) + up * 3 * step;
    input.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 60)));
    watch.disconnect();
    times.push(last - began);
  }
  return times;
}"""


def to_and_fro(watched, key: str, moves: int = 8) -> list[float]:
    """Milliseconds to the last change of the page, for a slider moved by one and back."""
    slider = watched.page.locator(f".st-key-{key} input").first
    found = []
    for count in range(moves + 2):
        slider.focus()
        one = watched.press("ArrowLeft" if count % 2 else "ArrowRight")
        found.append(one.all_of_it)
    return found[2:]


def main(page: str, slider: str, card: str, link: str = "?example=named_features&predict=off"):
    """Print the figures of one page."""
    app = start_server("/tmp/cards-app.txt")
    empty = start_server("/tmp/cards-empty.txt", folder=EMPTY)
    try:
        with chromium() as browser:
            beside, watched = new_page(browser), new_page(browser)
            beside.open(empty.url)
            watched.open(f"{app.url}/{page}{link}")
            heights = watched.page.evaluate(HEIGHTS)
            main = watched.page.locator("[data-testid=stMainBlockContainer]")
            whole = main.evaluate("(one) => one.scrollHeight")
            print("page", whole, "px;", ", ".join(f"{name} {tall}" for name, tall in heights))
            reference = to_and_fro(beside, "control_value")
            moved = to_and_fro(watched, f"control_{slider}")
            ratio = statistics.median(moved) / statistics.median(reference)
            print(f"empty page {statistics.median(reference):.0f} ms")
            print(
                f"{slider}: {statistics.median(moved):.0f} ms, {ratio:.1f} x, {max(moved):.0f} most"
            )
            settled(watched.page)
            if card:
                times = sorted(watched.page.evaluate(IN_FRAME, [card, ""]))
                print(f"in frame: {statistics.median(times):.1f} ms, {times[-1]:.1f} most")
    finally:
        app.stop()
        empty.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
