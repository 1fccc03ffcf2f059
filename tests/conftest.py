"""What all tests share: one torch thread, the app's servers and a real browser."""

import logging
import os
import re
import subprocess
import sys
from functools import cache

import hypothesis
import pytest
import torch
from streamlit.components.v2 import manifest_scanner

from attention_ui.picture.table import table
from attention_ui.reactive import fragments
from attention_ui.reactive.source import untracked
from browser_tools import WATCH_RUNS
from sampling import is_long
from serving import CHROMIUM, HANG, ROOT, AppServer, launch_chromium, start_server

# `make fuzz`: more cases of every test that leaves their number to the profile, and what is marked
# `long`, such as the cases of a product that no day's run draws (sampling.py). A slow machine fails
# no test.
hypothesis.settings.register_profile("long", max_examples=1_500, deadline=None)
hypothesis.settings.register_profile("short", max_examples=25, deadline=None)
if not is_long():
    hypothesis.settings.load_profile("short")

# AppTest runs pages outside a server, which Streamlit would say of every single run.
logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").disabled = True

# Each AppTest looks through all packages that are installed for components. No other one comes, and
# two thirds of a page's visit went into it.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)

# As fast for tensors of this size, and 10 to 100 times faster on a busy machine.
# Pages are tested with the model that everybody has; what needs another says so.
os.environ["ATTENTION_EXPLORER_MODEL"] = "tiny"
torch.set_num_threads(1)

BROWSER_TESTS = ROOT / "tests" / "browser"
SHOTS = ROOT / "shots"

SIZE = {"width": 1280, "height": 900}
PAGES = pytest.StashKey()
"""The pages that a test has opened."""
FAILED = pytest.StashKey()
"""Whether a test has failed."""

LATE_FONT = "preloaded using link preload but not used within a few seconds"
"""Chromium says so of Streamlit's own letters where the machine is slow."""
SERVER_IS_GONE = re.compile(r"ERR_CONNECTION_.*/_stcore/|/_stcore/.*ERR_CONNECTION_")
"""What a page says of a server that a test has stopped."""

IN_CI = os.environ.get("CI", "").lower() not in ("", "0", "false")

MARKED = re.compile(r"^pytestmark = pytest\.mark\.(slow|long)\b", re.MULTILINE)


def ran(*command, cwd=ROOT, env=None):
    """A command that has come to its end, and what it said."""
    told = [*map(str, command)]
    return subprocess.run(told, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def pytest_ignore_collect(collection_path, config):
    """Leave unread what `-m` leaves out whole: to import a file is most of finding its tests."""
    asked = config.option.markexpr
    parts = [] if " or " in asked else asked.split(" and ")
    left_out = {part.removeprefix("not ") for part in parts if part.startswith("not ")}
    if not is_long():
        left_out.add("long")
    if collection_path == BROWSER_TESTS:
        return "browser" in left_out or None
    if collection_path.is_file() and collection_path.name.startswith("test_"):
        marked = MARKED.search(collection_path.read_text(encoding="utf-8"))
        return (marked is not None and marked[1] in left_out) or None
    return None


@pytest.hookimpl(tryfirst=True)  # before `-m` picks by the mark
def pytest_collection_modifyitems(items, config):
    """Mark browser tests and put them last: Playwright's loop counts as this thread's own."""
    # Of few tests, one server is enough: to start a second one costs more than they do.
    one_server = "not slow" in config.option.markexpr
    for item in items:
        if one_server and "app_url" in item.fixturenames:
            item.add_marker(pytest.mark.xdist_group("server"))
        if item.path.parent == BROWSER_TESTS or "browser" in item.fixturenames:
            item.add_marker(pytest.mark.browser)
        if item.path.parent == ROOT / "tests" / "fuzz":
            item.add_marker(pytest.mark.fuzz)
        fixtures = item._fixtureinfo.name2fixturedefs.values()
        if any(each[-1].scope == "module" for each in fixtures):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    if not is_long():
        items[:] = [item for item in items if item.get_closest_marker("long") is None]
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(autouse=True)
def whole_runs(monkeypatch):
    """AppTest shows what the last run has drawn, and no more: there, a control runs all of it."""
    monkeypatch.setattr(fragments, "rerun_stale", lambda *_, **__: None)


NO_HAND = """covers first_visit glossary real_model_files lights_go_out take_away closing questions
hand_out tasks notebooks_numbers named_features"""
"""Of what a picture says at rest: what it carries for a hand, others look at on every page."""


@pytest.fixture(autouse=True)
def no_hand_is_near(monkeypatch, request):
    """AppTest is no browser, and so is sent all positions: 40 % of a page's first visit."""
    if request.path.stem.removeprefix("test_") in NO_HAND.split():
        monkeypatch.setattr(fragments.is_hovered, "_current", lambda _: False)


# --- servers -----------------------------------------------------------------------------------
@pytest.fixture(scope="session")
def app_url(tmp_path_factory):
    with start_server(tmp_path_factory.mktemp("server") / "output.txt") as server:
        yield server.url


# --- browser -----------------------------------------------------------------------------------
@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium, else Playwright's; without either tests skip, but fail under CI."""
    from playwright.sync_api import Error, sync_playwright

    chromium = None
    with sync_playwright() as playwright:
        try:
            chromium = launch_chromium(playwright)
        except Error as error:
            if "Executable doesn't exist" not in error.message:
                raise
        if chromium is None:
            reason = (
                f"no browser: neither {CHROMIUM} nor Playwright's own is here "
                "(apt install chromium, or python -m playwright install chromium)"
            )
            if IN_CI:
                pytest.fail(f"{reason}; with CI set, browser tests must run", pytrace=False)
            pytest.skip(reason)
        yield chromium
        chromium.close()


def _new_profile(browser, **options):
    options = {"viewport": SIZE, "reduced_motion": "reduce", **options}
    page = browser.new_context(**options).new_page()
    page.context.set_default_timeout(HANG * 1000)
    page.add_init_script(WATCH_RUNS)
    page.problems = []

    def heard(message):
        if message.type in ("error", "warning") or message.text.startswith("WARN"):  # Vega's
            page.problems.append(f"console: {message.text} {message.location.get('url', '')}")

    page.on("console", heard)
    page.on("pageerror", lambda error: page.problems.append(f"page error: {error}"))
    return page


def _wrong_with(page, node):
    """The errors of a page's scripts and console, unless meant, and exceptions shown."""
    meant = [SERVER_IS_GONE, LATE_FONT, *(mark.args[0] for mark in node.iter_markers("meant"))]
    told = [each for each in page.problems if not any(re.search(one, each) for one in meant)]
    if page.is_closed() or not page.url.startswith("http"):
        return told
    return told + page.locator("[data-testid=stException]").all_inner_texts()


@pytest.fixture
def new_page(browser, request):
    """`new_page(color_scheme="dark")`: a page of a new browser profile, with its own cookies and
    nothing in its cache.

    Errors of the page's scripts and of its console gather in `page.problems`. At the end of a test
    there must be none, and no uncaught exception may be shown: where a test means to have some, it
    is marked `meant(r"pattern")`.
    """
    pages = []

    def open_profile(**options):
        pages.append(_new_profile(browser, **options))
        request.node.stash.setdefault(PAGES, []).append(pages[-1])
        return pages[-1]

    yield open_profile
    seen = [] if FAILED in request.node.stash else pages
    wrong = [told for page in seen for told in _wrong_with(page, request.node)]
    for page in pages:
        page.context.close()
    assert wrong == []


@pytest.fixture(scope="session")
def kept_tab():
    """What `page` keeps from test to test: its tab, in a list, or nothing."""
    return []


@pytest.fixture
def page(browser, kept_tab, request):
    """A page, 1280 by 900, with reduced motion, as nobody has used it yet: nothing stored, nobody
    listening. But its tab has opened the app before, and has Streamlit's scripts at hand: a page
    opens with 40 % less work than in a new profile, which is what `new_page` is for. What is asked
    of it at the end is the same.
    """
    if not kept_tab:
        kept_tab.append(_new_profile(browser))
    (page,) = kept_tab
    listening = []

    def on(event, listener):
        type(page).on(page, event, listener)
        listening.append((event, listener))

    scripts = []

    def add_init_script(script):
        type(page).add_init_script(page, script)
        scripts.append(script)

    page.on, page.add_init_script = on, add_init_script
    request.node.stash.setdefault(PAGES, []).append(page)
    yield page
    wrong = [] if FAILED in request.node.stash else _wrong_with(page, request.node)
    del page.on, page.add_init_script
    # A failed test has left it in whatever state, from elsewhere nothing stored can be reached, and
    # what runs before Streamlit does cannot be taken away again.
    if wrong or FAILED in request.node.stash or not page.url.startswith("http") or scripts:
        kept_tab.clear()
        page.context.close()
        assert wrong == []
        return
    for each in listening:
        page.remove_listener(*each)
    page.mouse.move(-1, -1)
    page.evaluate("localStorage.clear(); sessionStorage.clear()")
    page.goto("about:blank")
    page.context.clear_cookies()
    page.set_viewport_size(SIZE)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.problems = []


# --- what a failing browser test leaves behind ---------------------------------------------------
@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Add to a failed browser test its pages' pictures and problems, and the servers' words."""
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    if report.failed and call.when == "call":
        for number, page in enumerate(item.stash.get(PAGES, [])):
            name = re.sub(r"[^\w.-]+", "_", f"{item.nodeid}-{number}")
            told = [f"at {page.url}", *page.problems]
            try:
                SHOTS.mkdir(exist_ok=True)
                page.screenshot(path=SHOTS / f"{name}.png")
                told += [f"picture: shots/{name}.png", *page.evaluate("testRuns.told()")]
            except Exception as error:  # a page that has crashed or is closed has no picture
                told.append(f"no picture: {error}")
            report.sections.append(("page", "\n".join(told)))
        if PAGES in item.stash:
            for server in AppServer.running:
                report.sections.append((f"server {server.url}", server.output()))
    return report


@pytest.fixture(autouse=True)
def kept_is_fresh(monkeypatch):
    """A card that was kept is the one that would be made now, its words and its pictures."""
    kept = sys.modules.get("attention_ui.reactive.cache")
    if kept is None:
        return
    get = kept.Cache.get

    def checked(self, what, make, size):
        new = []
        found = get(self, what, lambda: new.append(made := make()) or made, size)
        if what[0] == "card" and found is not None and not new:
            with untracked():
                assert _told(found) == _told(make()), (
                    f"kept for {what[:3]}, but another now: what it read is no source"
                )
        return found

    monkeypatch.setattr(kept.Cache, "get", checked)


def _told(made):
    """What a card says and draws, as text, since nan is not equal to itself."""
    each = [getattr(one, "given", ()) for one in made.elements if not hasattr(one, "tables")]
    drawn = [one.now() for one in made.elements if hasattr(one, "tables")]
    rows = [table(one, told=False).to_pydict() for one in drawn]
    words = [text for one in each for text in one if isinstance(text, str)]
    return repr((made.words, words, rows))
