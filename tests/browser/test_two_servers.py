"""Two servers behind nginx with the configuration in docs/: one dies under an open page."""

import http.client
import os
import shutil
import subprocess
import time
from collections import Counter

import pytest

from browser_tools import no_exception, open_page, open_row, settled, soon
from conftest import IN_CI
from serving import ROOT, free_port, start_server

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
LONG = 120
"""Seconds: the second server has not been visited, and loads everything on a busy machine."""
CONNECTIONS = 30
"""At once from one address, in this test: more than a browser opens for a page."""
AROUND = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.txt;
events {{}}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    scgi_temp_path {folder}/scgi;
    uwsgi_temp_path {folder}/uwsgi;
    include {folder}/two-servers.conf;
}}
"""


def ask(port, cookie="", path="/_stcore/health"):
    """The status of a request, and the cookie that it is given."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
    answer = connection.getresponse()
    given = [value for name, value in answer.getheaders() if name.lower() == "set-cookie"]
    connection.close()
    named = [each.partition(";")[0] for each in given if each.startswith("attention=")]
    return answer.status, "".join(named)


def answered(port, path):
    """The status of a request, and its headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path)
    answer = connection.getresponse()
    connection.close()
    return answer.status, answer.headers


def websocket(port, host):
    """A connection on which a page of this host has asked for a websocket."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    headers = {
        **{"Host": host, "Origin": f"http://{host}"},
        **{"Connection": "Upgrade", "Upgrade": "websocket"},
        **{"Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==", "Sec-WebSocket-Version": "13"},
    }
    connection.request("GET", "/_stcore/stream", headers=headers)
    return connection


def wait_for_port(port, process, log):
    for _ in range(200):
        try:
            return ask(port)
        except OSError:
            assert process.poll() is None, log.read_text(encoding="utf-8")
            time.sleep(0.05)
    raise AssertionError("nginx did not answer")


@pytest.fixture
def behind_nginx(tmp_path):
    """The port of nginx, the servers behind it by their name, and a way to start one."""
    if NGINX is None:
        reason = "there is no nginx here (apt install nginx-light)"
        if IN_CI:
            pytest.fail(f"{reason}; with CI set, its tests must run", pytrace=False)
        pytest.skip(reason)
    port, ports = free_port(), {"one": free_port(), "two": free_port()}
    config = (ROOT / "docs" / "two-servers.conf").read_text(encoding="utf-8")
    for ours, its in (("8501", ports["one"]), ("8502", ports["two"])):
        assert f"127.0.0.1:{ours}" in config
        config = config.replace(f":{ours}", f":{its}")
    assert "listen 80;" in config
    config = config.replace("listen 80;", f"listen 127.0.0.1:{port};")
    assert "limit_conn of_one_address 400;" in config
    config = config.replace("of_one_address 400;", f"of_one_address {CONNECTIONS};")
    assert "/var/log/nginx/attention.log" in config
    config = config.replace("/var/log/nginx/attention.log", f"{tmp_path}/access.txt")
    (tmp_path / "two-servers.conf").write_text(config, encoding="utf-8")
    (tmp_path / "nginx.conf").write_text(AROUND.format(folder=tmp_path), encoding="utf-8")
    servers = {}

    def start(name):
        servers[name] = start_server(tmp_path / f"{name}.txt", port=ports[name])

    log = tmp_path / "nginx.txt"
    nginx = subprocess.Popen(
        [NGINX, "-p", tmp_path, "-e", log, "-c", tmp_path / "nginx.conf"], stderr=subprocess.STDOUT
    )
    try:
        for name in ports:
            start(name)
        wait_for_port(port, nginx, log)
        yield port, servers, start
    finally:
        nginx.terminate()
        nginx.wait(timeout=10)
        for server in servers.values():
            server.stop()


def test_a_page_outlives_its_server(behind_nginx, new_page, tmp_path):
    port, servers, start = behind_nginx

    # A class behind one address is spread over both servers, and each pupil stays where it is.
    given = Counter(ask(port)[1] for _ in range(40))
    assert set(given) == {"attention=one", "attention=two"}
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
    assert answered(port, "/_stcore/metrics")[0] == 404
    log = (tmp_path / "access.txt").read_text(encoding="utf-8")
    assert "GET /causal_mask" in log
    assert "secret" not in log

    page = new_page()
    shown = "section=mask&cell=mask.1.1&dropout=0.3"
    link = f"causal_mask?predict=off&sentence=A+cat+sat&tokenizer=text&{shown}"
    open_page(page, f"http://127.0.0.1:{port}", link)
    first = name_of_server(page)
    (second,) = {"one", "two"} - {first}

    died = servers[first]
    died.process.kill()
    died.process.wait()
    soon(page, lambda: name_of_server(page), second, seconds=LONG)
    page.wait_for_selector(
        "[data-testid=stApp][data-test-connection-state=CONNECTED]", timeout=LONG * 1000
    )
    settled(page, timeout=LONG)
    no_exception(page)
    assert name_of_server(page) == second
    assert page.locator(".st-key-control_sentence textarea").first.input_value() == "A cat sat"
    assert page.locator(".st-key-cell_mask").count() == 1

    # When the first is back, the page stays with the second, which has its session and its files.
    died.stop()
    start(first)
    # nginx asks a server that has failed again after `fail_timeout`, 10 seconds.
    until = time.monotonic() + LONG
    while ask(port, f"attention={first}") != (200, "") and time.monotonic() < until:
        time.sleep(0.5)
    assert ask(port, f"attention={first}") == (200, "")
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


def name_of_server(page):
    (cookie,) = [each for each in page.context.cookies() if each["name"] == "attention"]
    return cookie["value"]
