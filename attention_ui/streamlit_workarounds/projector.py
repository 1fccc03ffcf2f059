"""A page for the wall of a room: larger, and the arrow keys go from card to card.

Streamlit knows no keys of the page, so a component listens for them in the browser.
"""

from .sideways import WIDER
from .unseen_component import unseen

LARGE = """<style>
html { font-size: 125%; }
[data-testid="stMain"] h2 { scroll-margin-top: 1rem; }
</style>"""
"""Beside `STYLE`, without the sidebar. Streamlit measures in the size of the root's letters, and a
picture grows with the room that it has."""
_JS = """
const CARDS = '[data-testid=stMain] h2';
const STEPS = { ArrowRight: 1, ArrowLeft: -1 };
const NEAR = 24;
export default function () {
  const typed = (at) => at?.closest?.('input, textarea, select, [role], svg, [contenteditable], '
    + ':is(WIDER)[tabindex]');
  const turn = (event) => {
    const step = STEPS[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey || typed(event.target)) return;
    const seen = [...document.querySelectorAll(CARDS)].filter((each) => each.checkVisibility());
    const tops = seen.map((each) => each.getBoundingClientRect().top);
    const next = step > 0
      ? seen[tops.findIndex((top) => top > NEAR)]
      : seen[tops.findLastIndex((top) => top < -NEAR)];
    const top = document.querySelector('[data-testid=stMain] h1');
    const there = next ?? (step < 0 && top);
    if (!there) return;
    event.preventDefault();
    there.scrollIntoView({ block: next ? 'start' : 'center' });
  };
  addEventListener('keydown', turn);
  return () => removeEventListener('keydown', turn);
}
""".replace("WIDER", WIDER)
_turner = unseen("projector", _JS)


def listen_for_arrow_keys() -> None:
    """Let the keys ← and → go to the heading before and after."""
    _turner(key="turner")
