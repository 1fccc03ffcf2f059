"""The app's own server and the browser, for tests and benchmarks alike."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

ROOT = Path(__file__).resolve().parents[1]
HANG = 300
"""Seconds after which what a test waits for will not come any more. It ends a hang, and measures
nothing: a test waits for a state, however slow the machine (tests/test_rooms.py)."""

# Debian's package, or the one you name: CHROMIUM=/opt/chrome/chrome make test
CHROMIUM = Path(os.environ.get("CHROMIUM") or "/usr/bin/chromium")
CHROMIUM_ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def launch_chromium(playwright):
    """Debian's Chromium, else Playwright's own. Raises playwright's Error where there is none."""
    debian = str(CHROMIUM) if CHROMIUM.exists() else None
    return playwright.chromium.launch(executable_path=debian, args=CHROMIUM_ARGS)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def stream(url, **more):
    """A connection as a browser's, without a visitor's first request."""
    address = url.replace("http", "ws", 1) + "/_stcore/stream"
    return connect(address, subprotocols=["streamlit"], max_size=None, **more)


async def new_session(socket):
    """What a server says first to a browser that asks for a page."""
    message = BackMsg()
    message.rerun_script.query_string = ""
    await socket.send(message.SerializeToString())
    answer = ForwardMsg()
    while answer.WhichOneof("type") != "new_session":
        answer.ParseFromString(await asyncio.wait_for(socket.recv(), HANG))
    return answer.new_session


GRACE = 10
"""Seconds that a server has to end by itself, before it is killed."""


class AppServer:
    """`streamlit run app.py` on a free port of this machine, or on the one that is named.

    `options` go to Streamlit, `before` is a command that runs the server's, and the rest to Popen.
    `start`, if there is one, is what Python gets in place of that, with {port} for the port.
    """

    running: ClassVar[list] = []

    def __init__(self, log, cwd=ROOT, port=None, options=None, before=(), start=(), **process):
        self.log = log
        port = port or free_port()
        self.url = f"http://127.0.0.1:{port}"
        options = {
            "server.headless": "true",
            "server.address": "127.0.0.1",
            "server.port": port,
            "server.fileWatcherType": "none",
            "browser.gatherUsageStats": "false",
            **(options or {}),
        }
        start = [str(each).format(port=port) for each in start] or [
            *("-m", "streamlit", "run", "app.py"),
            *(f"--{name}={value}" for name, value in options.items()),
        ]
        with open(log, "wb") as output:
            self.process = subprocess.Popen(
                [*before, sys.executable, *start],
                cwd=cwd,
                stdout=output,
                stderr=subprocess.STDOUT,
                **{"stdin": subprocess.DEVNULL, **process},
            )
        AppServer.running.append(self)

    def wait_until_healthy(self):
        """Wait until it answers. Raises RuntimeError, with its output, where it does not."""
        deadline = time.monotonic() + HANG
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=HANG):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.02)
        ended = self.process.poll()
        what = "did not answer" if ended is None else f"ended with status {ended}"
        raise RuntimeError(f"the app's server {what}; its output:\n{self.output()}")

    def output(self, lines=40):
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        AppServer.running.remove(self)
        self.process.terminate()
        try:
            self.process.wait(timeout=GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start_server(log, *args, **more):
    """A server that answers. Raises RuntimeError, with its output, where it does not."""
    server = AppServer(log, *args, **more)
    try:
        server.wait_until_healthy()
    except BaseException:
        server.stop()
        raise
    return server


@contextmanager
def browsing():
    """A browser and the address of a server of its own, for scripts that take pictures."""
    from playwright.sync_api import sync_playwright

    with (
        tempfile.TemporaryDirectory() as folder,
        start_server(Path(folder) / "output.txt") as server,
        sync_playwright() as playwright,
    ):
        browser = launch_chromium(playwright)
        yield browser, server.url
        browser.close()
