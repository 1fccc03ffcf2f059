"""Several processes of the app behind nginx, for a class on a machine with as many cores.

Everything about a visit lives in the memory of one process: its settings, and the files that its
downloads are made as. So a cookie names the process, and nginx obeys it. Not the address of a
visitor: behind the router of a school all pupils have one, and would all share one process.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from attention_ui.classroom.classes import PROCESS
from attention_ui.frame.of_the_system import raise_open_files

WITHOUT_NGINX = (
    "Several processes need nginx, which keeps each visitor with one of them, and there is none "
    "here. `sudo apt install nginx-light` brings it on Debian and Ubuntu, `brew install nginx` on "
    "macOS. One process needs none: leave --processes out."
)
PAUSE = 1.0
"""Seconds between two looks at the processes."""
SOON = 5.0
"""Seconds after its start before a process that ended is started again."""
LOADS = 120.0
"""Seconds that a process may take until it answers."""
PATIENCE = 30.0
"""Seconds without an answer after which a process is ended: it will not come back by itself."""
AGAIN = 2
"""Seconds after which nginx asks a process again that has failed."""


def configuration(folder: str, ports: list[int], listen: str, from_one_address: int) -> str:
    """What nginx is told: the processes' ports, where it listens, connections per address."""
    numbered = [*enumerate(ports, 1)]
    answers = f"server 127.0.0.1:{{}} max_fails=1 fail_timeout={AGAIN}s"
    groups = "".join(
        f"    upstream process_{name} {{ {answers.format(port)}; "
        + " ".join(f"{answers.format(other)} backup;" for other in ports if other != port)
        + " }\n"
        for name, port in numbered
    )
    shares = [f"{100 / len(ports):.2f}% process_{name};" for name, _ in numbered[:-1]]
    template = Path(__file__).with_name("nginx.conf").read_text(encoding="utf-8")
    return template.format(
        folder=folder,
        listen=listen,
        from_one_address=from_one_address,
        groups=groups,
        shares=" ".join([*shares, f"* process_{len(ports)};"]),
        named=" ".join(f"{name} process_{name};" for name, _ in numbered),
        ports=" ".join(f'"~:{port}$" {name};' for name, port in numbered),
        known=" ".join(f'{name}:{name} "";' for name, _ in numbered),
    )


class _Process:
    """One of the app's processes, at a port that only this machine can reach."""

    def __init__(self, name: int, app: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.name, self.app = name, app
        self.start()

    def start(self) -> None:
        options = ("--server.address=127.0.0.1", "--server.headless=true")
        command = [sys.executable, "-m", "streamlit", "run", str(self.app), *options]
        quiet = subprocess.DEVNULL  # an address that nobody else can reach
        named = {**os.environ, PROCESS: str(self.name)}
        port = f"--server.port={self.port}"
        self.running = subprocess.Popen([*command, port], stdout=quiet, env=named)
        self.started = self.heard = time.monotonic()
        self.has_answered = False

    def answers(self) -> bool:
        try:
            address = f"http://127.0.0.1:{self.port}/_stcore/health"
            with urllib.request.urlopen(address, timeout=2):
                self.heard, self.has_answered = time.monotonic(), True
        except OSError:
            return False
        return True

    def look_after(self) -> None:
        """Start it again where it has ended, or has not answered for too long."""
        status, silence = self.running.poll(), time.monotonic() - self.heard
        if status is None and not self.answers():
            if silence > (PATIENCE if self.has_answered else LOADS):
                print(f"Process {self.name} does not answer: it is started again.", flush=True)
                self.stop(kill=True)
                self.start()
        elif status is not None and time.monotonic() - self.started > SOON:
            print(f"Process {self.name} ended ({status}): it is started again.", flush=True)
            self.start()

    def stop(self, kill: bool = False) -> None:
        (self.running.kill if kill else self.running.terminate)()
        try:
            self.running.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.running.kill()
            self.running.wait()


def serve(app: Path, count: int, address: str, port: int, from_one_address: int) -> int | str:
    """Serve the app by this many processes until stopped; SIGHUP renews them one by one."""
    where = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin:/opt/homebrew/bin"
    nginx = shutil.which("nginx", path=where)
    if nginx is None:
        return WITHOUT_NGINX
    raise_open_files()
    anew: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, lambda *_: anew.append(1))
    running: list[_Process] = []
    proxy: subprocess.Popen[bytes] | None = None
    with tempfile.TemporaryDirectory(prefix="attention-explorer-") as folder:
        try:
            for name in range(1, count + 1):
                running.append(_Process(name, app))
            while not all(each.answers() for each in running):
                if any(each.running.poll() is not None for each in running):
                    return "The app could not be started: what it said stands above."
                time.sleep(PAUSE / 4)
            told = Path(folder) / "nginx.conf"
            listen = f"{address}:{port}" if address else f"{port}"
            ports = [each.port for each in running]
            told.write_text(configuration(folder, ports, listen, from_one_address), "utf-8")
            proxy = subprocess.Popen([nginx, "-p", folder, "-e", "stderr", "-c", str(told)])
            print(f"{count} processes serve http://{address or 'localhost'}:{port}", flush=True)
            while proxy.poll() is None:
                time.sleep(PAUSE)
                for each in running:
                    each.look_after()
                while anew:
                    anew.clear()
                    _start_anew(running)
            return f"nginx ended (status {proxy.returncode}): what it said stands above."
        finally:
            for each in running:
                each.running.terminate()
            for each in running:
                each.stop()
            if proxy:
                proxy.terminate()
                proxy.wait()


def _start_anew(running: list[_Process]) -> None:
    for each in running:
        each.stop()
        each.start()
        while not each.answers() and each.running.poll() is None:
            time.sleep(PAUSE / 4)
        time.sleep(2 * AGAIN)  # the next one is needed until nginx asks this one again
