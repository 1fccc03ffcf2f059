"""Two processes behind nginx by one command: one dies under an open page, both start anew."""

import http.client
import os
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from browser_tools import no_exception, open_page, open_row, settled, soon
from conftest import IN_CI
from serving import HANG, AppServer

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
CONNECTIONS = 30
"""At once from one address, in this test: more than a browser opens for a page."""


def ask(port, cookie=""):
    status, headers = answered(port, "/_stcore/health", **({"Cookie": cookie} if cookie else {}))
    given = [each.partition(";")[0] for each in headers.get_all("Set-Cookie", [])]
    return status, "".join(each for each in given if each.startswith("attention="))


def answered(port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANG)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    connection.close()
    return answer.status, answer.headers


def websocket(port, host):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANG)
    headers = {
        **{"Host": host, "Origin": f"http://{host}"},
        **{"Connection": "Upgrade", "Upgrade": "websocket"},
        **{"Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==", "Sec-WebSocket-Version": "13"},
    }
    connection.request("GET", "/_stcore/stream", headers=headers)
    return connection


def pids(server):
    ps = ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(server.process.pid)]
    lines = subprocess.run(ps, capture_output=True, text=True, check=True).stdout.splitlines()
    told = {int(line.split()[0]): line for line in lines}
    (config,) = re.findall(r" -c (\S+)", " ".join(told.values()))
    names = dict(re.findall(r'"~:(\d+)\$" (\d+);', Path(config).read_text()))
    ports = {each: re.findall(r"server\.port=(\d+)", line) for each, line in told.items()}
    return {names[port[0]]: each for each, port in ports.items() if port}


@pytest.fixture
def served(tmp_path):
    if NGINX is None:
        reason = "there is no nginx here (apt install nginx-light)"
        if IN_CI:
            pytest.fail(f"{reason}; with CI set, its tests must run", pytrace=False)
        pytest.skip(reason)
    command = ["-m", "attention_explorer", "serve", "--processes", "2", "--address", "127.0.0.1"]
    bound = f"--from-one-address={CONNECTIONS}"
    with AppServer(tmp_path / "out.txt", start=(*command, "--port={port}", bound)) as server:
        server.wait_until_healthy()
        yield server


@pytest.mark.meant(r"^console: WebSocket onclose: code=10(06 \(abnormal|12 \(service restart)")
def test_a_page_outlives_its_process(served, new_page):
    port = int(served.url.rpartition(":")[2])

    # A class behind one address is spread over both, and each pupil stays where it is.
    given = Counter(ask(port)[1] for _ in range(40))
    assert set(given) == {"attention=1", "attention=2"}
    for cookie in given:
        assert [ask(port, cookie) for _ in range(5)] == [(200, "")] * 5
    assert ask(port, "attention=none")[1] in given

    held = [websocket(port, "attention.example:8080") for _ in range(CONNECTIONS + 5)]
    statuses = Counter(each.getresponse().status for each in held)
    assert statuses == {101: CONNECTIONS, 429: 5}
    for each in held:
        each.close()

    # What is public of them, and what is written down of a visit.
    status, headers = answered(port, "/causal_mask?sentence=my+secret")
    assert status == 200
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert "X-Frame-Options" not in headers
    assert "Secure" not in headers["Set-Cookie"]
    over_https = {"X-Forwarded-Proto": "https"}  # as a proxy in front says
    assert answered(port, "/", **over_https)[1]["Set-Cookie"].endswith("; Secure")
    assert answered(port, "/_stcore/metrics")[0] == 404

    page = new_page()
    shown = "section=mask&cell=mask.1.1&dropout=0.3"
    link = f"causal_mask?predict=off&sentence=A+cat+sat&tokenizer=text&{shown}"
    open_page(page, f"http://127.0.0.1:{port}", link)
    first = name_of_server(page)
    (second,) = {"1", "2"} - {first}

    before = pids(served)
    os.kill(before[first], signal.SIGKILL)
    soon(page, lambda: name_of_server(page), second)
    page.wait_for_selector("[data-testid=stApp][data-test-connection-state=CONNECTED]")
    settled(page)
    no_exception(page)
    assert name_of_server(page) == second
    assert page.locator(".st-key-control_sentence textarea").first.input_value() == "A cat sat"
    assert page.locator(".st-key-cell_mask").count() == 1

    # When the first is back, the page stays with the second, which has its session and its files.
    soon(page, lambda: ask(port, f"attention={first}"), (200, ""))
    assert f"Process {first} ended (-9): it is started again." in served.output()
    assert "secret" not in served.output()
    now = pids(served)
    assert (now[first] != before[first], now[second]) == (True, before[second])
    page.locator(".st-key-moves_mask input").first.focus()
    page.keyboard.press("ArrowRight")
    settled(page)
    assert "window=1" in page.url
    open_row(page, "take_away")
    with page.expect_download() as download:
        page.get_by_role("button", name="Program", exact=True).click()
    assert download.value.suggested_filename == "causal_mask-a_cat_sat.py"
    assert "torch" in download.value.path().read_text(encoding="utf-8")
    assert name_of_server(page) == second

    # A host starts them anew: there is always one that answers.
    served.process.send_signal(signal.SIGHUP)
    until, statuses = time.monotonic() + HANG, set()
    while time.monotonic() < until and {*pids(served).values()} & {*now.values()}:
        statuses.add(ask(port)[0])
        time.sleep(0.1)
    assert statuses == {200}
    assert not {*pids(served).values()} & {*now.values()}


def name_of_server(page):
    (cookie,) = [each for each in page.context.cookies() if each["name"] == "attention"]
    return cookie["value"]
