"""What the parts share that put another tool's page beside ours: one clock, one row a page."""

import statistics
from collections.abc import Callable, Sequence

from .figures import Figure, failed
from .watching import Empty, Watched, new_page

# From the pointer's first event to the last change that it makes: an outline, a tooltip. Later
# events are of the same move, or the browser's own, as what is below the pointer has changed. Where
# `within` names elements, only what changes in them counts.
CLOCK = """(within) => {
  const clock = window.pointing = { began: 0, changed: 0 };
  for (const name of ['pointerover', 'pointermove', 'mousemove'])
    addEventListener(name, () => { clock.began ||= performance.now(); }, true);
  const counts = ({ target }) =>
    !within || (target.nodeType === 1 ? target : target.parentElement)?.closest(within);
  new MutationObserver((records) => {
    if (records.some(counts)) clock.changed = performance.now();
  }).observe(document.body,
    { subtree: true, childList: true, attributes: true, characterData: true });
}"""


def side_by_side(
    browser, empty, pages: dict[str, Callable[[Watched], dict[str, list[float]]]]
) -> list[Figure]:
    """One page after the other: the median of each thing that is timed on it, and its ratio to the
    empty page, which is measured beside it.
    """
    beside = Empty(browser, empty.url)
    figures = []
    for what, measure in pages.items():
        reference = beside.now()
        watched = new_page(browser)
        try:
            numbers = {}
            for name, times in measure(watched).items():
                numbers[name] = statistics.median(times)
                numbers[f"{name} × empty"] = numbers[name] / reference
                print(f"  {what}: {name} {', '.join(f'{time:.1f}' for time in times)}", flush=True)
            figures.append(Figure(what, numbers))
        except Exception as error:  # the others go on
            figures.append(failed(what, error))
        watched.close()
    beside.watched.close()
    return figures


def point(
    watched: Watched, places: Sequence[tuple[float, float]], moves: int, within: str = ""
) -> list[float]:
    """The pointer goes so often from place to place, after once that is not counted."""
    page = watched.page
    page.evaluate(CLOCK, within)
    times = []
    for number in range(moves + 1):
        page.evaluate("pointing.began = pointing.changed = 0")
        page.mouse.move(*places[number % len(places)])
        page.wait_for_timeout(400)
        took = page.evaluate("pointing.changed - pointing.began")
        assert took > 0, "the pointer has changed nothing"
        if number:
            times.append(took)
    return times
