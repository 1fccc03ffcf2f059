"""What a lesson as one file weighs, and how soon it stands and moves, without a server."""

import statistics
import tempfile
from collections import Counter
from pathlib import Path

from attention_ui.frame.contents import LESSONS
from attention_ui.site.lesson_file import LessonFile, lesson_file
from serving import ROOT

from .measure import Figure, Part, chromium, spread, tried

QUICK = ("causal_mask", "multi_head_attention", "simplified_attention")
MOST_BYTES, FRAME, FIRST_PICTURE = 800, 1_000 / 60, 400.0
"""Goals: kilobytes of a file; milliseconds of a move; and until the first picture is drawn."""
OPENINGS, MOVES = 5, 12
EMPTY = "<!doctype html><title>Empty</title><p>Nothing."


def lesson_files(quick: bool) -> list[Part]:
    """Each lesson, or three of them: written, opened from a disk, and its controls moved."""
    names = QUICK if quick else tuple(each.name for each in LESSONS)
    figures: list[Figure] = []
    counted: Counter[str] = Counter()
    empty: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lesson.html"
        for name in names:
            with tried(name) as rows:
                made = lesson_file(ROOT / "pages" / f"{name}.py", {})
                counted.update({what: len(each) for what, each in made.counted().items()})
                rows.append(_opened(made, file, empty))
            figures += rows
    cards = counted["whole"] + counted["with a reason"]
    others = counted["moves"] + counted["stands"]
    total = {
        "cards whole, %": 100 * counted["whole"] / max(cards, 1),
        "other controls that move, %": 100 * counted["moves"] / max(others, 1),
    }
    how = (
        "A file is opened from a disk, offline. *First picture*: from opening it until a picture "
        "in sight is drawn (where none is in sight, until its script stands), and as a multiple "
        "of an empty page's time, opened in between. *A move*: from a control's event, at any "
        "moment between two frames, to the last change that is in sight, where the page is "
        "scrolled to the first of them. No server has any part in it."
    )
    counts = Part("What is in the files", "Of all these lessons together.", [Figure("all", total)])
    return [Part("Lessons as files", how, figures), counts]


def _opened(made: LessonFile, file: Path, empty: list[float]) -> Figure:
    """One lesson: its size, its first picture, and a move of each of its controls in turn."""
    file.write_text(made.page(), encoding="utf-8")
    nothing = file.with_name("empty.html")
    nothing.write_text(EMPTY, encoding="utf-8")
    first: list[float] = []
    moved: list[float] = []
    with chromium() as browser:
        for _ in range(OPENINGS):
            for path, times in ((nothing, empty), (file, first)):
                page = browser.new_context(offline=True).new_page()
                page.goto(path.as_uri())
                if times is first:
                    page.wait_for_function(STANDS)
                times.append(page.evaluate("performance.now()"))
                if times is first and len(first) == 1:
                    page.wait_for_function(SETTLED)
                    moved = page.evaluate(MOVED, MOVES)
                page.context.close()
    numbers = {
        "kB": file.stat().st_size / 1_000,
        "first picture, ms": statistics.median(first),
        "× empty": statistics.median(first) / statistics.median(empty),
        **({f"a move, {name}": value for name, value in spread(moved).items()} if moved else {}),
    }
    most = {"kB": MOST_BYTES, "first picture, ms": FIRST_PICTURE, "a move, median": FRAME}
    return Figure(made.title, numbers, most)


STANDS = """() => {
  const seen = [...document.querySelectorAll('.picture')].filter((each) => {
    const { top, bottom, width } = each.getBoundingClientRect();
    return width && top < innerHeight && bottom > 0;
  });
  return window.attention && (!seen.length || seen.some((each) => each.dataset.drawn));
}"""
SETTLED = """() => window.attention?.is_settled()
  && [...document.querySelectorAll('.picture')].every((each) =>
    each.dataset.drawn || !each.offsetParent)"""
"""All that can be seen is drawn, and nothing waits for its turn."""
MOVED = """async (moves) => {
  const { told, move, chosen, whole, is_settled } = window.attention, times = [];
  await whole();
  const settled = async () => {
    do await new Promise((done) => setTimeout(done, 50)); while (!is_settled());
  };
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const within = (ms) => new Promise((done) => setTimeout(done, ms));
  const changes = [];
  const note = (node) => changes.push([performance.now(), node]);
  const watch = new MutationObserver((all) => { for (const { target } of all) note(target); });
  const is_seen = (node) => {
    const place = node.parentElement ?? node;
    if (!(place instanceof Element)) return false;  // words that are gone by now
    const { top, bottom, width } = place.getBoundingClientRect();
    return width && top < innerHeight && bottom > 0;
  };
  watch.observe(document.body, { subtree: true, childList: true, attributes: true,
                                 characterData: true });
  for (const each of ['fill', 'fillRect', 'fillText', 'stroke', 'drawImage', 'putImageData']) {
    const own = CanvasRenderingContext2D.prototype[each];
    CanvasRenderingContext2D.prototype[each] = function (...given) {
      note(this.canvas);
      return own.apply(this, given);
    };
  }
  for (const [name, each] of Object.entries(told.controls)) {
    if (times.length >= moves) break;
    const text = each.texts.find((one) => one !== (chosen[name] ?? each.base));
    if (name === 'predict' || text === undefined) continue;
    await settled();
    changes.length = 0;
    move(name, text);
    await settled();
    const first = changes.find(([, node]) => node.closest?.('.picture, .card'));
    first?.[1].scrollIntoView({ block: 'center' });
    for (const to of [each.base, text, each.base]) {
      await settled();
      changes.length = 0;
      await frame();
      await within(2 + 3 * (times.length % 5));
      const began = performance.now();
      move(name, to);
      await settled();
      const seen = changes.filter(([at, node]) => at > began && is_seen(node));
      if (seen.length) times.push(Math.max(...seen.map(([at]) => at)) - began);
    }
  }
  return times;
}"""
