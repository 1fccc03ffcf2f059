"""A browser, where what we lean on of Streamlit's own page or server is gone: still usable."""

import os

import pytest

from browser_tools import no_exception
from serving import ROOT, start_server

# What Streamlit's own page writes into the document is lost, or says the same for ever.
LOST = """
(() => {
  const set = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function (name, value) {
    if (/^(LOST)$/.test(name)) return INSTEAD;
    return set.call(this, name, value);
  };
})()
"""
RUNS_FOR_EVER = "set.call(this, name, window.stuck ? 'running' : value)"
IN_THE_BROWSER = {
    "script state": ("data-test-script-state", ""),
    "script state that never rests": ("data-test-script-state", RUNS_FOR_EVER),
    "connection state": ("data-test-connection-state", ""),
    "all test ids": ("data-test.*", ""),
}
DRAWN = """([part, shape]) => {
  const title = document.querySelector(`.st-key-part_${part} svg .role-title-subtitle`);
  const last = document.querySelector('.st-key-part_take_away');
  const waits = document.querySelector('[data-old], [class*=st-key-part_][inert]');
  return title?.textContent === shape && last?.innerText && !waits
    && !document.body.hasAttribute('data-rest');
}"""


def use(page, url):
    """Open a lesson, move a slider, go on to another: each is drawn to its end."""
    wait = {"timeout": 60_000}
    page.goto(f"{url}/simplified_attention?predict=off")
    page.wait_for_function(DRAWN, arg=["scores", "token 11 × d_in 3"], **wait)
    page.wait_for_timeout(1000)  # the browser tells what is in sight
    page.evaluate("window.stuck = true")
    for width in "45":
        page.locator(".st-key-control_d_in input").first.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_url(f"**d_in={width}*", **wait)
        page.wait_for_function(DRAWN, arg=["scores", f"token 11 × d_in {width}"], **wait)
    page.get_by_role("link", name="The causal mask", exact=True).first.click()
    page.wait_for_url("**/causal_mask**", **wait)
    page.wait_for_function(DRAWN, arg=["mask", "query 11 × key 11"], **wait)
    no_exception(page)


@pytest.mark.long
@pytest.mark.parametrize("gone", IN_THE_BROWSER)
def test_a_page_that_tells_less_is_drawn_to_its_end(new_page, app_url, gone):
    lost, instead = IN_THE_BROWSER[gone]
    page = new_page()
    page.add_init_script(LOST.replace("LOST", lost).replace("INSTEAD", instead))
    use(page, app_url)


@pytest.mark.long
# What AppTest cannot show: there no part runs alone. Taken away before the server begins.
@pytest.mark.parametrize("gone", ["list of the queue", "keys of fragments", "rerun by key"])
def test_a_server_that_does_less_draws_pages_to_their_end(new_page, tmp_path, gone):
    taken = f"import streamlit_insides\nstreamlit_insides.take_away({gone!r})\n"
    (tmp_path / "sitecustomize.py").write_text(taken, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), str(ROOT / "tests")])
    server = start_server(tmp_path / "output.txt", env={**os.environ, "PYTHONPATH": path})
    try:
        use(new_page(), server.url)
    finally:
        server.stop()
    assert "Traceback" not in server.output(400)
