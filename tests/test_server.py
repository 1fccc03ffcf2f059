"""The server as it is started: its configuration, what it is sent, and how many it carries."""

import asyncio
import re
import shutil
import sys
import time
import tomllib
import urllib.error
import urllib.request
from itertools import product
from urllib.parse import urlsplit

import pytest
from packaging.requirements import Requirement
from websockets.exceptions import ConnectionClosed

from attention_ui.frame.of_the_system import MOST_OPEN, raise_open_files
from conftest import ran
from serving import HANG, ROOT, new_session, start_server, stream
from visitor import Visitor

pytestmark = pytest.mark.slow("1 min: servers of its own")

CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))


def test_it_asks_for_no_email_does_not_watch_its_files_and_is_for_all():
    assert CONFIG["server"]["showEmailPrompt"] is False  # else `streamlit run` waits for one
    assert "address" not in CONFIG["server"]  # else nobody could reach a hosted app
    assert CONFIG["server"]["fileWatcherType"] == "none"  # else a busy folder fills the log


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
def test_make_run_is_the_command():
    asked = ("run", "PORT=8600", "MODEL=a model", f"PYTHON={sys.executable}")
    told = ran("make", "-n", *asked).stdout
    (line,) = [line for line in told.splitlines() if "attention_explorer" in line]
    assert line.endswith("-m attention_explorer --port=8600 --model='a model'")


def test_at_most_one_wheel_of_torch_is_for_a_machine_and_each_has_its_hash():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    whole, *wanted = [line for line in lines if not line.startswith("#")]
    assert whole == "-r requirements-app.txt"  # with a torch for every machine
    torch = [Requirement(line) for line in wanted]
    assert {each.name for each in torch} == {"torch"}
    assert len(torch) == len({urlsplit(each.url).fragment for each in torch}) == 3
    for each in torch:
        wheel = urlsplit(each.url)
        assert re.search(r"-cp(3\d+)-.*\.whl$", wheel.path)
        assert re.fullmatch(r"sha256=[0-9a-f]{64}", wheel.fragment)
    for system, machine, minor in product(("linux", "darwin"), ("x86_64", "arm64"), range(11, 16)):
        place = {"sys_platform": system, "platform_machine": machine}
        place["python_version"] = f"3.{minor}"
        taken = [each.url for each in torch if each.marker.evaluate(place)]
        has_wheel = (system, machine) == ("linux", "x86_64") and minor in (12, 13, 14)
        assert [f"-cp3{minor}-" in url for url in taken] == [True] * has_wheel


def test_pip_reads_the_requirements():
    options = ("--dry-run", "--no-index", "--no-deps", "--disable-pip-version-check")
    told = ran(sys.executable, "-m", "pip", "install", *options, "-r", "requirements.txt")
    assert told.returncode == 0, told.stderr


def test_a_message_above_the_limit_is_refused(app_url):
    limit = CONFIG["server"]["maxMessageSize"] * 1024 * 1024

    async def close_code():
        async with stream(app_url) as socket:
            await socket.send(b"x" * (limit + 1))
            with pytest.raises(ConnectionClosed) as closed:
                await asyncio.wait_for(socket.recv(), HANG)
        return closed.value.rcvd.code

    assert limit == 10 * 1024 * 1024
    assert asyncio.run(close_code()) == 1009  # "message too big", RFC 6455


def test_what_is_sent_looks_back_further_than_uvicorn_does(app_url):
    async def packs():
        async with stream(app_url) as socket:
            return socket.protocol.extensions

    assert [each.remote_max_window_bits for each in asyncio.run(packs())] == [14]


def test_no_file_can_be_uploaded(app_url):
    async def put_a_byte():
        async with stream(app_url) as socket:
            answer = await new_session(socket)
            return await asyncio.to_thread(put, answer.initialize.session_id)

    def put(session):
        with urllib.request.urlopen(f"{app_url}/_stcore/health") as answer:
            cookie = answer.headers["Set-Cookie"].partition(";")[0]
        request = urllib.request.Request(
            f"{app_url}/_stcore/upload_file/{session}/1",
            data=b"x",
            method="PUT",
            headers={"Cookie": cookie, "X-Xsrftoken": cookie.partition("=")[2]},
        )
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        return refused.value.code

    assert asyncio.run(put_a_byte()) == 413


SOFT, HARD, SOCKETS = 64, 2_048, 100
limits = pytest.importorskip("resource", reason="this system has no limit of open files")


def test_it_carries_more_connections_than_the_soft_limit_allows(tmp_path):
    raise_open_files()  # the other ends of the connections are here
    log = tmp_path / "output.txt"
    lower = ["sh", "-c", f'ulimit -Sn {SOFT}; ulimit -Hn {HARD}; exec "$@"', "sh"]

    async def crowd():
        first = await Visitor(server.url, "simplified_attention").enter()
        sockets = [await stream(server.url) for _ in range(SOCKETS)]
        last = await asyncio.wait_for(Visitor(server.url, "simplified_attention").enter(), HANG)
        errors = first.errors + last.errors
        for socket in (*sockets, first.socket, last.socket):
            await socket.close()
        return errors

    with start_server(log, before=lower) as server:
        assert asyncio.run(crowd()) == []
        time.sleep(0.5)
        assert log.stat().st_size < 20_000, server.output()


@pytest.mark.parametrize(("soft", "hard", "wanted"), [
    (256, 1_024, 1_024),
    (1_024, 1_024, None),
    (4_096, limits.RLIM_INFINITY, MOST_OPEN),
    (MOST_OPEN, 1_000_000, None),
    (limits.RLIM_INFINITY, limits.RLIM_INFINITY, None),
])  # fmt: skip
def test_the_soft_limit_follows_the_hard_one(soft, hard, wanted, monkeypatch):
    asked = []
    monkeypatch.setattr(limits, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(limits, "setrlimit", lambda _, both: asked.append(both))
    raise_open_files()
    assert asked == ([] if wanted is None else [(wanted, hard)])


@pytest.mark.parametrize("error", [ValueError, OSError, None])
def test_a_system_that_refuses_or_knows_no_limits_is_left_as_it_is(error, monkeypatch):
    def refuse(*_):
        raise error

    monkeypatch.setattr(limits, "getrlimit", lambda _: (256, 1_024))
    monkeypatch.setattr(limits, "setrlimit", refuse)
    monkeypatch.setitem(sys.modules, "resource", limits if error else None)
    raise_open_files()
