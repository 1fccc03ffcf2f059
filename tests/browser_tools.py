"""Small helpers for tests in a real browser: open a page, wait until it has settled, look at it.

def test_cell_opens(page, app_url):
    open_page(page, app_url, "simplified_attention?seed=3")
    page.get_by_role("button", name="Next").click()
    settled(page)

What no page may have at the end of a test, exceptions and errors, the fixtures look for (conftest).
"""

from pathlib import Path
from urllib.parse import urlsplit

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from serving import HANG


def script(name, **others):
    """What runs in the page, from `in_browser`, with others in the place of some words."""
    text = (Path(__file__).parent / "in_browser" / f"{name}.js").read_text(encoding="utf-8")
    for word, other in others.items():
        text = text.replace(word, str(other))
    return text


# Runs in the page before Streamlit does, and notes when runs of the script are asked for by the
# browser (in Streamlit's protocol such a message begins with the byte 0x5a), begin and end. By its
# messages: what the page shows of a run may be over within one frame, or two runs look like one.
# What a failed test tells of it says whether a key went astray or a run was not asked for.
WATCH_RUNS = script(
    "watch_runs",
    NEW_SESSION=ForwardMsg.NEW_SESSION_FIELD_NUMBER,
    SCRIPT_FINISHED=ForwardMsg.SCRIPT_FINISHED_FIELD_NUMBER,
    EARLY_FOR_RERUN=ForwardMsg.FINISHED_EARLY_FOR_RERUN,
)
# What the page is still busy with, as a list of words; empty when nothing.
BUSY = script("busy")
QUIET = script("quiet", BUSY=BUSY)


def numbers(page, card, matrix=None):
    """What is written in a card's picture, or one of its matrices, in reading order."""
    return page.evaluate(script("numbers"), [card, matrix])


def written(page, card):
    return page.locator(f".st-key-drawn_{card} svg text").all_text_contents()


def outlined(page, card, colour):
    """The places of the cells of a card that have an outline of this colour."""
    return page.evaluate(script("outlined"), [card, colour])


def arithmetic_of(page, cell):
    """What a cell says when it is pointed at: how it comes about follows where its picture is."""
    cell.hover()
    settled(page)
    box = cell.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2 + 2, box["y"] + box["height"] / 2 + 2)
    return page.locator("#vg-tooltip-element").inner_text()


def picture_of(name):
    """The selector of a picture, be it of matrices or a chart with controls in it."""
    return f":is(.st-key-drawn_{name}, .st-key-fills_chart_of_{name}) :is(canvas, svg).marks"


def moves_in_one_frame(page, card, place=1, room=None):
    """Move the control of a card's picture to a place, and assert that the next frame is another
    picture, and that the server was not asked for it, once a hand has come near. The control stands
    in the `room` of this name, where that is not the card's.
    """
    room = room or card
    page.locator(f".st-key-moves_{room} input").hover()
    settled(page)
    is_another, without_the_server = page.evaluate(script("move"), [picture_of(card), place, room])
    assert is_another, "the next frame is the same picture"
    assert without_the_server, "the server was asked"


def open_page(page, url, path="", first_visit=False):
    """Go to a page and wait until it has settled; on `wild_cat`, but for a `first_visit`."""
    address = url.rstrip("/") + "/" + path.lstrip("/")
    if "example=" not in path and not first_visit:
        address += ("&" if "?" in path else "?") + "example=wild_cat"
    page.goto(address)
    settled(page)
    wanted, found = urlsplit(address).path, urlsplit(page.url).path
    assert found == wanted, f"the app has no page {wanted}: it went to {found}"


def make_class(page, url, lesson):
    """Make a class by *Share*, and take its teacher’s side. Returns the link for all."""
    open_page(page, url, lesson)
    click(page.get_by_role("button", name="Share"))
    click(page.get_by_role("button", name="Make a class"))
    codes = page.locator("[data-testid=stCode]").all_inner_texts()
    for_all, mine = [text.strip() for text in codes if "/class/" in text]
    page.goto(mine)
    settled(page)
    assert "/class/" not in page.url
    return for_all


def open_row(page, name):
    page.locator(f".st-key-row_{name} details:not([open]) > summary").first.click()
    settled(page)


def open_rows(page):
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


def settled(page, quiet=0.3):
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
        page.wait_for_function(QUIET, arg=quiet * 1000, timeout=HANG * 1000, polling=25)
    except TooLong:
        busy = ", ".join(page.evaluate(BUSY)) or "it keeps changing"
        raise AssertionError(f"{page.url} did not settle within {HANG} s: {busy}") from None


def click(one):
    one.click()
    settled(one.page)


def soon(page, found, wanted=True):
    """Assert that `found()` is soon what is wanted, of what `settled` does not know."""
    for _ in range(int(HANG / 0.05)):
        if found() == wanted:
            return
        page.wait_for_timeout(50)
    assert found() == wanted


def caught_up(page):
    """Wait until nothing waits, and nothing is veiled."""
    settled(page)
    soon(page, lambda: page.locator("[data-waits]").count(), 0)
    settled(page)


def choose(page, label, option):
    box = page.get_by_role("combobox", name=label).first
    # First: to scroll closes an open menu, and on a busy machine the news of it comes late.
    box.scroll_into_view_if_needed()
    settled(page)
    box.click()
    page.get_by_role("option").filter(has_text=option).first.click()
    settled(page)


def no_exception(page):
    shown = page.locator("[data-testid=stException]").all_inner_texts()
    assert not shown, f"{page.url} shows an exception:\n" + "\n\n".join(shown)


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
SHOWN = f"""(kinds) => ({{
  words: [...document.querySelectorAll('[data-testid=stMain] :is(p, label, h1, h2, code, .katex)')]
    .filter((one) => one.checkVisibility()).map((one) => one.innerText)
    .filter((text) => !/ went from .+ to /.test(text)),  // said of the last move
  pictures: [...document.querySelectorAll('[data-testid=stMain] svg.marks')].map((one) =>
    [...one.querySelectorAll('text')].map((one) => one.textContent).sort().join(' ')),
  controls: ({CONTROLS})(kinds).map((one) => [one.value, one.checked,
    ...['aria-label', 'aria-valuetext', 'aria-checked'].map((name) => one.getAttribute(name))
  ].join(' ')),
  canvases: [...document.querySelectorAll('canvas')].map((one) => one.toDataURL().length),
}})"""


def shown(page):
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(2, 2)
    settled(page)
    return page.evaluate(SHOWN, ", ".join(KEYS))


def pushed_sideways(page):
    """Whether what a visitor sees can be pushed to the side: of the page, its main box scrolls."""
    return page.evaluate("""() =>
      [document.documentElement, document.querySelector('[data-testid=stMain]')]
        .some((one) => one && one.scrollWidth > one.clientWidth + 1)""")
