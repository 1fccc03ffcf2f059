"""The command `attention-explorer`: what it starts, and what it says where that cannot be."""

import os
import signal
import socket
import sys
from importlib import metadata

import pytest
from streamlit.web import cli

from attention_explorer import command
from attention_ui.frame import serve
from attention_ui.frame.started import ALONE, MODEL
from conftest import ran
from serving import HANG, ROOT, start_server


@pytest.fixture
def started(monkeypatch):
    asked = []
    monkeypatch.setattr(cli, "main", lambda arguments, **_: asked.extend(arguments))
    for name in (ALONE, MODEL):
        monkeypatch.setenv(name, "")
    return asked


def test_it_serves_on_this_machine_alone_for_who_started_it(started, tmp_path):
    assert command.main(["--no-browser", "--model", str(tmp_path)]) == 0
    options = ["--server.address=localhost", "--server.headless=true"]
    assert started == ["run", str(ROOT / "app.py"), *options]
    assert (os.environ[ALONE], os.environ[MODEL]) == ("1", str(tmp_path))


PATHS = ("no/such.gguf", "~nobody/a.gguf", "x" * 5_000)


@pytest.mark.parametrize(("given", "said"), [
    *((f"--port={port}", f"'{port}' is no port: choose a number from 1 to 65535")
      for port in ("x", "0", "65536", "-1", "²", "8501.5")),
    *((f"--model={path}", f"there is no file or folder '{path}'") for path in PATHS),
])  # fmt: skip
def test_what_is_no_port_and_no_model_is_said(given, said, started, capsys):
    with pytest.raises(SystemExit, match="2"):
        command.main([given])
    assert said in capsys.readouterr().err
    assert started == []


@pytest.mark.parametrize("name", ["page", "scorm", "site", "serve"])
def test_each_command_has_help(name, started, capsys):
    with pytest.raises(SystemExit, match="0"):
        command.main([name, "--help"])
    assert capsys.readouterr().out.startswith(f"usage: attention-explorer {name} [")
    assert started == []


def test_a_port_in_use_is_said(started):
    with socket.create_server(("localhost", 0)) as taken:
        port = taken.getsockname()[1]
        said = command.main([f"--port={port}"])
    assert said.startswith(f"Port {port} cannot be used (")
    assert said.endswith("leave --port out and the first free one from 8501 is taken.")
    assert started == []


@pytest.mark.parametrize("given", [(), ("--port=8600", "serve"), ("serve", "--port=8600")])
def test_it_serves_to_others_who_have_not_started_it(given, started, monkeypatch):
    monkeypatch.setattr(command, "_port_taken", lambda *_: "")
    assert command.main([*(given or ["serve"])]) == 0
    port = "8600" if given else "8501"
    options = ["--server.address=0.0.0.0", f"--server.port={port}", "--server.headless=true"]
    assert started[2:] == options
    assert ALONE not in os.environ


@pytest.mark.parametrize(("given", "told"), [
    ("--processes=0", "'0': give a whole number from 1 to 64"),
    ("--from-one-address=x", "'x': give a whole number from 1 to 10,000"),
    ("--address=1.2.3.4", "1.2.3.4, port 8501, cannot be used (Cannot assign"),
    ("--processes=2", "`sudo apt install nginx-light` brings it"),
])  # fmt: skip
def test_what_cannot_be_served_is_said(given, told, started, monkeypatch, capsys):
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    if "address=1" not in given:
        monkeypatch.setattr(command, "_port_taken", lambda *_: "")
    try:
        said = command.main(["serve", given])
    except SystemExit:
        said = capsys.readouterr().err
    assert told in said
    assert started == []


def test_without_streamlit_it_says_how_to_get_it(started, monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    said = command.main([])
    assert said.startswith("Streamlit, which shows the pages, is not installed.")
    assert "-m pip install 'streamlit>=" in said
    assert started == []


@pytest.mark.parametrize("other", ["1.40.2", "1.670.0", "2.0"])
def test_with_another_streamlit_it_says_so_and_goes_on(other, started, monkeypatch, capsys):
    assert command.main([]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(metadata, "version", lambda _: other)
    assert command.main([]) == 0
    assert f"Streamlit {other} is installed, and this app was tried with" in capsys.readouterr().err
    assert len(started) == 6


def test_without_a_browser_it_says_the_address(monkeypatch, capsys):
    monkeypatch.setattr(serve.webbrowser, "open", lambda _: False)
    serve.open_browser("http://localhost:8501/")
    said = capsys.readouterr().out
    assert said == "No browser could be opened. The app is at http://localhost:8501/\n"


def explorer(*arguments):
    return ran(sys.executable, "-m", "attention_explorer", *arguments)


@pytest.mark.slow("5 s: checks code in processes of its own")
@pytest.mark.parametrize(("scale", "status"), [(" / keys.shape[-1] ** 0.5", 0), ("", 1)])
def test_it_checks_code_of_one_s_own(scale, status, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "def attention(queries, keys, values):\n"
        f"    return (queries @ keys.T{scale}).softmax(-1) @ values\n"
    )
    told = explorer("check", f"{mine}:attention")
    assert (told.returncode, told.stderr) == (status, "")
    assert "lights" in told.stdout
    assert explorer("check", "mine:x").stderr.count("attention-explorer check") == 2


@pytest.mark.slow("10 s: runs code in processes of its own")
@pytest.mark.parametrize(("scale", "status"), [("** 0.5", 0), ("", 1)])
def test_it_compares_code_of_one_s_own_with_a_reference(scale, status, tmp_path):
    mine, theirs = tmp_path / "mine.py", tmp_path / "theirs.py"
    mine.write_text(
        "def attention(queries, keys, values):\n"
        f"    scores = queries @ keys.T / (keys.shape[-1] {scale})\n"
        "    return scores.softmax(-1) @ values\n"
    )
    theirs.write_text(
        "from torch.nn.functional import scaled_dot_product_attention\n"
        "def attention(x, W_q, W_k, W_v):\n"
        "    return scaled_dot_product_attention(x @ W_q, x @ W_k, x @ W_v)\n"
    )
    told = explorer("check", f"{mine}:attention", "--against", f"{theirs}:attention")
    assert (told.returncode, told.stderr) == (status, "")
    assert ("divided_by_d" in told.stdout) is bool(status)
    assert ("No difference" in told.stdout) is not bool(status)
    wrong = explorer("check", f"{mine}:attention", "--against", f"{theirs}:none")
    assert "there is no function of that name" in wrong.stderr


@pytest.mark.slow("5 s: a server of its own")
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is another thing there")
@pytest.mark.parametrize("home", ["/dev/null/none", "/proc"])
def test_it_needs_no_home_and_ctrl_c_ends_it_quietly(home, tmp_path):
    start, env = ("-m", "attention_explorer", "--no-browser", "--port={port}"), {"HOME": home}
    # As in a terminal: what a shell runs in the background, tests too, is deaf to Ctrl-C.
    hears = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    log = tmp_path / "output.txt"
    with start_server(log, start=start, env=os.environ | env, **hears) as server:
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=HANG) == 130
        said = [line for line in server.output().splitlines() if line.strip()]
        assert len(said) == 2, said  # where it is
