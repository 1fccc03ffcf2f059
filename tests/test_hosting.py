"""What docs/hosting.md gives a host, as far as it can be tried without Docker and systemd."""

import asyncio
import json
import re
import shlex
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import connect

from conftest import ran
from serving import ROOT, start_server
from visitor import Visitor

DOCKERFILE = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
LINES = [line.split(maxsplit=1) for line in DOCKERFILE.splitlines() if line[:1].isupper()]
COPIED = [name for word, rest in LINES if word == "COPY" for name in rest.split()[:-1]]
SERVICE = ROOT / "docs" / "attention-explorer@.service"


def command(of):
    (rest,) = [rest for word, rest in LINES if word == of]
    return json.loads(rest[rest.index("[") :])


def test_what_the_image_copies_is_there_and_is_sent_to_be_built():
    rules = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert sorted([line[1:] for line in rules if line.startswith("!")]) == sorted(COPIED)
    assert all((ROOT / name).exists() for name in COPIED)


def test_the_image_has_the_torch_of_the_list_without_cuda_and_no_root():
    (first,) = [rest for word, rest in LINES if word == "RUN" and "--index-url" in rest]
    (pattern,) = re.findall(r"\$\(grep (\S+) requirements-app\.txt\)", first)
    needs = (ROOT / "requirements-app.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in needs if re.match(pattern, line)] == ["torch>=2.13,<2.14"]
    assert dict(LINES)["ARG"].endswith("/whl/cpu")
    assert int(dict(LINES)["USER"]) > 0


@pytest.mark.slow("10 s: servers of their own")
def test_what_the_image_starts_answers_any_host_and_says_how_it_is(tmp_path):
    """In a folder with what it copies alone."""
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    words = [each.replace("=8501", "={port}") for each in command("CMD")]
    log = tmp_path / "output.txt"
    with start_server(log, cwd=tmp_path, start=("-m", *words)) as server:
        port = urlsplit(server.url).port
        asked = [each.replace("8501", str(port)) for each in command("HEALTHCHECK")]
        assert asked.pop(0) == "python"
        assert subprocess.run([sys.executable, *asked], check=False).returncode == 0
        assert asyncio.run(Visitor(server.url, "causal_mask").enter()).errors == []
        asyncio.run(of_another_name(port))
        assert "external IP" not in server.output()
    assert subprocess.run([sys.executable, *asked], check=False, stderr=-3).returncode == 1


async def of_another_name(port):
    """A page's websocket where a proxy, or a name of the network, leads to the server."""
    address = "ws://attention.example/_stcore/stream"
    origin = "http://attention.example"
    async with connect(address, host="127.0.0.1", port=port, origin=origin):
        pass


@pytest.mark.slow("5 s: a server of its own")
def test_what_the_service_starts_answers_on_its_port_alone(tmp_path):
    unit = dict(re.findall(r"^(\w+)=(.*)$", SERVICE.read_text(encoding="utf-8"), re.MULTILINE))
    python, *words = shlex.split(unit["ExecStart"].replace("%i", "{port}"))
    assert fnmatch(python, f"{unit['WorkingDirectory']}/.venv/bin/python")
    assert "--server.address=127.0.0.1" in words
    start_server(tmp_path / "output.txt", start=words).stop()
    if shutil.which("systemd-analyze"):
        shown = tmp_path / SERVICE.name
        shown.write_text(SERVICE.read_text().replace(python, sys.executable), encoding="utf-8")
        told = ran("systemd-analyze", "verify", shown)
        assert [line for line in told.stderr.splitlines() if SERVICE.stem in line] == []
