"""Each script of `docs/streamlit/` shows its fault. Where one fails, its mend may go."""

import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from browser_tools import BUSY, script
from serving import HANG, ROOT, free_port, start_server

pytestmark = pytest.mark.slow("1 min: a server for each")

FAULTS = ROOT / "docs" / "streamlit"
README = (FAULTS / "README.md").read_text(encoding="utf-8")
MAY_GO = "this Streamlit has not the fault any more: the module in docs/streamlit/README.md may go"
# Without a heading, a page is there once it says something.
IS_THERE = "main.querySelector('h1, h2, input')", "app.querySelector('p')"
QUIET = script("quiet", BUSY=BUSY.replace(*IS_THERE))
# A script sleeps for a second while somebody presses: here, until that has come to the server.
GATE = """
import time
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests

request, asked = ScriptRequests.request_rerun, []


def count(requests, wanted):
    if done := request(requests, wanted):
        asked.append(wanted)
    return done


def until(n):
    while len(asked) < n:
        time.sleep(0.01)


ScriptRequests.request_rerun = count
"""


@contextmanager
def serving(folder, name, messages=0, port=None):
    """A script's server, where a sleep lasts until so many messages have come."""
    text = (FAULTS / f"{name}.py").read_text(encoding="utf-8")
    assert ("time.sleep(1)" in text) == (messages > 0)
    text = text.replace("time.sleep(1)", f"gate.until({messages})")
    script = folder / f"{name}.py"
    script.write_text(text.replace("import time\n", "import gate\n"), encoding="utf-8")
    (folder / "gate.py").write_text(GATE, encoding="utf-8")
    options = ("server.headless=true", "server.address=127.0.0.1", "server.port={port}",
               "browser.gatherUsageStats=false", "runner.fastReruns=false")  # fmt: skip
    start = ["-m", "streamlit", "run", script, *(f"--{each}" for each in options)]
    with start_server(folder / "output.txt", folder, port, start=start) as server:
        yield server.url


def settled(page):
    """Wait until a page without a heading has been at rest for a second."""
    page.wait_for_function(QUIET, arg=1_000, timeout=HANG * 1_000, polling=25)


@contextmanager
def asking(page):
    """What is done within it is sent before what comes next, else the browser may join the two."""
    before = page.evaluate("testRuns.asked")
    yield
    page.wait_for_function("(before) => testRuns.asked !== before", arg=before)


def press(page, name):
    with asking(page):
        page.get_by_role("button", name=name, exact=True).click()


def to_the_right(page):
    with asking(page):
        page.get_by_role("slider").focus()
        page.keyboard.press("ArrowRight")


def is_said(page, text):
    settled(page)
    assert text in page.locator("[data-testid=stApp]").inner_text(), MAY_GO


def count(page):
    press(page, "Count")
    press(page, "Count")
    is_said(page, "Counted: 1")


def choose(page):
    press(page, "Dog")
    press(page, "Other")
    is_said(page, "Somebody chose cat")


def tell(page):
    for _ in range(3):
        press(page, "Tell")
    is_said(page, "Heard: [1, 3]")


def draw_above(page):
    with asking(page):
        page.get_by_test_id("stCheckbox").locator("label").click()
    to_the_right(page)
    is_said(page, "The server has 0")
    assert page.get_by_test_id("stSliderThumbValue").inner_text() == "1"


def leave(page):
    press(page, "Work")
    with asking(page):
        page.get_by_test_id("stPageLink").get_by_role("link").click()
    press(page, "Work")
    is_said(page, "This is page one")


def work(page):
    press(page, "Work")
    press(page, "Page")
    settled(page)
    assert page.get_by_test_id("stSidebar").get_by_text("Page").count(), MAY_GO


PRESSED = {
    "callback_cut_short": (count, 2),
    "repeated_for_pressed": (choose, 2),
    "told_twice": (tell, 3),
    "part_that_is_gone": (draw_above, 2),
    "part_of_a_left_page": (leave, 3),
    "page_in_the_sidebar": (work, 2),
}
"""What one does, and how many messages that sends, after the first, which opens the page."""
OTHERS = {
    "drawn_and_dropped": "Left to be sent: []\n",
    "waits_to_be_acknowledged": "TCP_NODELAY is 0\n",
}
"""What a script says that has no page."""


@pytest.mark.parametrize("name", PRESSED)
def test_a_press_shows_the_fault(name, page, tmp_path):
    do, messages = PRESSED[name]
    with serving(tmp_path, name, messages) as url:
        page.goto(url)
        settled(page)
        do(page)


@pytest.mark.parametrize("name", OTHERS)
def test_a_script_without_a_page_says_the_fault(name):
    command = [sys.executable, FAULTS / f"{name}.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=True)
    assert done.stdout == OTHERS[name], MAY_GO


def test_a_component_that_begins_anew_has_not_ended(page, tmp_path):
    with serving(tmp_path, "component_does_not_end") as url:
        page.goto(url)
        settled(page)
        for _ in range(2):
            to_the_right(page)
            settled(page)
        assert page.get_by_text("Watching").inner_text() == "Watching: 0,1,2", MAY_GO


@pytest.mark.meant(r"WebSocket onclose")
def test_a_restarted_server_is_not_asked_to_run_the_page(page, tmp_path):
    port = free_port()
    with serving(tmp_path, "server_restarted", port=port) as url:
        page.goto(url)
        settled(page)
    page.locator("[data-testid=stApp]:not([data-test-connection-state=CONNECTED])").wait_for()
    with serving(tmp_path, "server_restarted", port=port):
        settled(page)
        to_the_right(page)
        is_said(page, "The server has 0")


@pytest.mark.meant(r"404 .*/two/_stcore/")
def test_a_page_with_an_address_of_its_own_looks_below_it(page, tmp_path):
    with serving(tmp_path, "deep_page") as url:
        page.goto(f"{url}/two")
        settled(page)
        assert any("/two/_stcore/health" in each for each in page.problems), MAY_GO


def test_every_script_stands_in_the_list_and_is_run_by_a_test():
    scripts = {path.stem for path in FAULTS.glob("*.py")}
    assert scripts == {*re.findall(r"\((\w+)\.py\)", README)}
    tested = Path(__file__).read_text(encoding="utf-8")
    assert all(f'"{name}"' in tested for name in scripts)
    for module in re.findall(r"`(\w+\.py)`", README):
        assert (ROOT / "attention_ui" / "streamlit_workarounds" / module).exists(), module
    for name in scripts:
        lines = (FAULTS / f"{name}.py").read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 32, f"{name}: as short as an upstream report is"
