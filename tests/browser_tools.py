"""Small helpers for tests in a real browser: open a page, wait until it has settled, look at it.

def test_cell_opens(page, app_url):
    open_page(page, app_url, "simplified_attention?seed=3")
    page.get_by_role("button", name="Next").click()
    settled(page)

What no page may have at the end of a test, exceptions and errors, the fixtures look for (conftest).
"""

from urllib.parse import urlsplit

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

# Runs in the page before Streamlit does, and notes when runs of the script are asked for by the
# browser (in Streamlit's protocol such a message begins with the byte 0x5a), begin and end. By its
# messages: what the page shows of a run may be over within one frame, or two runs look like one.
# What a failed test tells of it says whether a key went astray or a run was not asked for.
WATCH_RUNS = """
(() => {
  const runs = window.testRuns = { asked: 0, began: 0, ended: 0 };
  const called = (one) => `<${one.tagName.toLowerCase()}> “${one.ariaLabel ?? one.id}”`;
  addEventListener('keydown', ({ key, target }) => {
    runs.pressed = `${key} on ${called(target)} at ${Math.round(performance.now())}`;
  }, true);
  runs.told = () => [
    `the keyboard is on ${called(document.activeElement ?? document.body)}`,
    `last pressed: ${runs.pressed}`,
    ...['asked', 'began', 'ended'].map((what) => `last run ${what} at ${Math.round(runs[what])}`),
    `now it is ${Math.round(performance.now())} ms after the page was opened`,
  ];
  const fields = (bytes) => {  // of a protobuf message: by their numbers, their values or lengths
    const found = new Map();
    let at = 0;
    const number = () => {
      let value = 0, shift = 1, byte;
      do { byte = bytes[at++]; value += (byte & 127) * shift; shift *= 128; } while (byte & 128);
      return value;
    };
    while (at < bytes.length) {
      const tag = number();
      const size = tag % 8 === 1 ? 8 : tag % 8 === 5 ? 4 : number();
      found.set(Math.floor(tag / 8), size);
      if (tag % 8 !== 0) at += size;
    }
    return found;
  };
  const heard = ({ data }) => {
    if (!(data instanceof ArrayBuffer)) return;
    const found = fields(new Uint8Array(data));
    if (found.has(NEW_SESSION)) runs.began = performance.now();
    // What ended early to run again has not ended: a busy server may take its time in between.
    if (found.has(SCRIPT_FINISHED) && found.get(SCRIPT_FINISHED) !== EARLY_FOR_RERUN)
      runs.ended = performance.now();
  };
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (message) {
    if (!this.isHeard) this.addEventListener('message', heard);
    this.isHeard = true;
    if (message?.byteLength && new Uint8Array(message.buffer ?? message,
        message.byteOffset ?? 0, 1)[0] === 0x5a) runs.asked = performance.now();
    return send.call(this, message);
  };
})()
"""
for name, value in {
    "NEW_SESSION": ForwardMsg.NEW_SESSION_FIELD_NUMBER,
    "SCRIPT_FINISHED": ForwardMsg.SCRIPT_FINISHED_FIELD_NUMBER,
    "EARLY_FOR_RERUN": ForwardMsg.FINISHED_EARLY_FOR_RERUN,
}.items():
    WATCH_RUNS = WATCH_RUNS.replace(name, str(value))

# What the page is still busy with, as a list of words; empty when nothing.
BUSY = """
() => {
  const find = (name) => [...document.querySelectorAll(`[data-testid=${name}]`)];
  const app = find('stApp')[0], main = find('stMainBlockContainer')[0], busy = [];
  if (!app) return ['loading'];
  if (app.dataset.testConnectionState !== 'CONNECTED') busy.push('connecting');
  const state = app.dataset.testScriptState;
  if (state !== 'notRunning') busy.push(`the script is ${state}`);
  const runs = window.testRuns, now = performance.now();
  // A server that is slow to begin would look like one that has finished; what it never answers,
  // such as what is asked for a part that is gone, is given up.
  if (runs && runs.asked > runs.began && now - runs.asked < 4000)
    busy.push('waiting for the server to run the script');
  if (runs && runs.began > runs.ended) busy.push('a run has not ended');
  // Not its innerText: many times a second, that would lay out all of the page anew.
  if (!main || !main.querySelector('h1, h2, input')) busy.push('nothing on the page');
  for (const name of ['stStatusWidget', 'stSkeleton', 'stAppSkeleton'])
    if (find(name).length) busy.push(name);
  const moves = ({ playState, timeline, effect }) => playState === 'running'
    && timeline === document.timeline && effect.getComputedTiming().endTime < Infinity;
  if (document.getAnimations().some(moves)) busy.push('something still glides or fades');
  const blank = (chart) => chart.checkVisibility() && !chart.querySelector('svg, canvas');
  if (find('stVegaLiteChart').some(blank)) busy.push('a chart is not drawn');
  return busy;
}
"""

QUIET = """
(quiet) => {
  const now = performance.now();
  window.testWaitBegan ??= now;
  const busy = (BUSY)();
  if (busy.length) window.testLastBusy = now;
  // Time alone says little where a long task held everything up: what it kept waiting comes first.
  window.testLooks = busy.length ? 0 : (window.testLooks ?? 0) + 1;
  const since = Math.max(window.testWaitBegan, window.testLastBusy ?? 0,
                         window.testRuns?.ended ?? 0);
  if (now - since < quiet || window.testLooks < 8) return false;
  delete window.testWaitBegan;
  return true;
}
""".replace("BUSY", BUSY)


# The numbers of a picture, or those of one matrix in it, in reading order: a mark that stays keeps
# its place among the others when a picture grows.
NUMBERS = """
([card, matrix]) => [...document.querySelectorAll(
    `.st-key-drawn_${card} svg g.numbers_marks text`)]
  .map((one) => [one.__data__.datum, one.textContent])
  .filter(([datum]) => matrix === null || datum.m === matrix)
  .sort(([a], [b]) => a.m - b.m || a.l - b.l || a.i - b.i || a.j - b.j)
  .map(([, written]) => written)
"""


def numbers(page, card, matrix=None):
    """What is written in the cells of a card's picture, or of one matrix in it, from 0."""
    return page.evaluate(NUMBERS, [card, matrix])


def written(page, card):
    """All that is written in a card's picture."""
    return page.locator(f".st-key-drawn_{card} svg text").all_text_contents()


MOVE = """async ([card, place]) => {
  const input = document.querySelector(`.st-key-moves_${card} input`);
  const drawn = () => {
    const picture = document.querySelector(`.st-key-drawn_${card} :is(canvas, svg.marks)`);
    return picture.toDataURL?.() ?? picture.outerHTML;
  };
  const last = drawn(), asked = window.testRuns.asked;
  input.value = place;
  input.dispatchEvent(new Event('input', { bubbles: true }));
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return [drawn() !== last, window.testRuns.asked === asked];
}"""


def outlined(page, card, colour):
    """The places of the cells of a card that have an outline of this colour."""
    return page.evaluate(
        """([card, colour]) => {
          const drawn = (name) => [...document.querySelectorAll(
            `.st-key-drawn_${card} svg g.${name}_marks path`)];
          const cells = drawn('cells');
          const edged = [...cells, ...drawn('lit')]
            .filter((one) => one.getAttribute('stroke') === colour);
          const ids = new Set(edged.map((one) => one.__data__.datum.id));
          return cells.flatMap((one, at) => ids.has(one.__data__.datum.id) ? [at] : []);
        }""",
        [card, colour],
    )


def arithmetic_of(page, cell):
    """What a cell says when it is pointed at: how it comes about follows where its picture is."""
    cell.hover()
    settled(page)
    box = cell.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2 + 2, box["y"] + box["height"] / 2 + 2)
    return page.locator("#vg-tooltip-element").inner_text()


def moves_in_one_frame(page, card, place=1):
    """Move the control of a card's picture to a place, and assert that the next frame is another
    picture, and that the server was not asked for it, once a hand has come near.
    """
    page.locator(f".st-key-moves_{card} input").hover()
    settled(page)
    is_another, without_the_server = page.evaluate(MOVE, [card, place])
    assert is_another, "the next frame is the same picture"
    assert without_the_server, "the server was asked"


def open_page(page, url, path="", timeout=60, first_visit=False):
    """Go to a page of the app ("", "masks", "masks?seed=3") and wait until it has settled. It shows
    `wild_cat` where the path names no example, but for a `first_visit` without any parameter.
    """
    address = url.rstrip("/") + "/" + path.lstrip("/")
    if "example=" not in path and not first_visit:
        address += ("&" if "?" in path else "?") + "example=wild_cat"
    page.goto(address, timeout=timeout * 1000)
    settled(page, timeout=timeout)
    wanted, found = urlsplit(address).path, urlsplit(page.url).path
    assert found == wanted, f"the app has no page {wanted}: it went to {found}"


def open_row(page, name):
    """Open one of the rows at a page's end: deeper, notebook, checks, take_away."""
    page.locator(f".st-key-row_{name} details:not([open]) > summary").first.click()
    settled(page)


def open_rows(page):
    """Open all rows at a page's end."""
    folded = page.locator("[class*=st-key-row_] details:not([open]):not(details details) > summary")
    while folded.count():
        folded.first.click()
        settled(page)


def in_contents(page, name):
    """A lesson's link in the contents, in sight: its group is opened where it is folded."""
    contents = page.locator(".st-key-contents")
    # By its text: what is folded away has no role.
    called = page.locator("a p").get_by_text(name, exact=True)
    if not contents.locator(called).is_visible():
        contents.locator("details", has=called).locator("summary").click()
    return contents.locator(called)


def settled(page, quiet=0.3, timeout=30):
    """Wait until the page has been at rest for `quiet` seconds, all of them from now on.

    At rest: connected, the script not running and none asked for, something on the page, no
    skeletons, every visible chart drawn, nothing that glides or fades. The quiet time lets what
    the browser itself puts off (a slider and a chart's selection wait 0.15 to 0.2 s) begin before
    it is looked for.
    """
    from playwright.sync_api import TimeoutError as TooLong

    page.evaluate(
        "() => ['WaitBegan', 'LastBusy', 'Looks'].forEach((name) => delete window['test' + name])"
    )
    try:
        page.wait_for_function(QUIET, arg=quiet * 1000, timeout=timeout * 1000, polling=25)
    except TooLong:
        busy = ", ".join(page.evaluate(BUSY)) or "it keeps changing"
        raise AssertionError(f"{page.url} did not settle within {timeout} s: {busy}") from None


def soon(page, found, wanted=True, seconds=10):
    """Assert that `found()` is soon what is wanted: for what the browser does in its own time, such
    as a player's picture, of which `settled` does not know.
    """
    for _ in range(int(seconds / 0.05)):
        if found() == wanted:
            return
        page.wait_for_timeout(50)
    assert found() == wanted


def choose(page, label, option):
    """Open the select box of this label, and take its option."""
    box = page.get_by_role("combobox", name=label).first
    # First: to scroll closes an open menu, and on a busy machine the news of it comes late.
    box.scroll_into_view_if_needed()
    settled(page)
    box.click()
    page.get_by_role("option").filter(has_text=option).first.click()
    settled(page)


def no_exception(page):
    """Assert that no uncaught exception of the script is shown on the page."""
    shown = page.locator("[data-testid=stException]").all_inner_texts()
    assert not shown, f"{page.url} shows an exception:\n" + "\n\n".join(shown)
