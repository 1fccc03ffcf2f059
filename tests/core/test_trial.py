"""The process that checks code for another: what its end says, in processes without torch."""

import subprocess
import sys

import pytest

from attention_core.lights.own_code import trial

ALONE = f"""
import importlib.util, os, sys
told = importlib.util.spec_from_file_location("trial", {trial.__file__!r})
trial = importlib.util.module_from_spec(told)
told.loader.exec_module(trial)
os.environ[trial.IS_TRIAL] = "1"
"""


def ended(monkeypatch, code, *options):
    """What a check whose process runs this code is said to have ended with."""
    monkeypatch.setattr(sys, "orig_argv", ["python", "-c", code])
    monkeypatch.setattr(sys, "argv", ["check", *options])
    monkeypatch.setattr(trial.signal, "signal", lambda *_: None)
    return trial.tried()


@pytest.mark.parametrize("status", [0, 1, 2])
@pytest.mark.parametrize("end", ["lambda: {}", "lambda: sys.exit({})"])
def test_a_verdict_comes_back_as_it_was_given(monkeypatch, capsys, status, end):
    code = f"{ALONE}sys.exit(trial.with_verdict({end.format(status)}))"
    assert ended(monkeypatch, code) == status
    assert capsys.readouterr().err == "", "nothing is wrong with the check itself"


def test_to_be_asked_for_help_is_no_mistake(monkeypatch, capsys):
    assert ended(monkeypatch, f"{ALONE}sys.exit(trial.with_verdict(sys.exit))") == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("status", [0, 1, 2, 39, 43, 255])
def test_what_code_ends_with_is_no_verdict(monkeypatch, capsys, status):
    assert ended(monkeypatch, f"import os; os._exit({status})") == 2
    assert f"ended with status {status} before there was a verdict" in capsys.readouterr().err


def test_a_check_that_does_not_end_is_ended_and_how_to_wait_longer_is_said(monkeypatch, capsys):
    assert ended(monkeypatch, "while True: pass", "--seconds", "0.5") == 2
    said = capsys.readouterr().err
    assert "Stopped after 0.5 seconds" in said
    assert "--seconds 5 gives it more time" in said
    assert trial.SECONDS == 60
    monkeypatch.setattr(trial, "SECONDS", 0.25)
    assert ended(monkeypatch, "while True: pass") == 2
    assert "Stopped after 0.25 seconds" in capsys.readouterr().err


def test_what_code_writes_is_not_among_the_lights_and_it_ends_with_who_waits():
    code = f"""{ALONE}
def main():
    os.write(1, b"of the code"); os.write(2, b"of the code"); os.system("echo of the code")
    print("a warning", file=sys.stderr); print("a light")
    assert trial.IS_TRIAL not in os.environ
    assert not sys.stdin.read(), "no terminal to wait for"
    import time; time.sleep(60)
sys.exit(trial.with_verdict(main))
"""
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE),
        start_new_session=True,
    )
    assert child.stdout.readline() == b"a light\n", "at once, not at the end"
    assert child.poll() is None
    child.stdin.close()
    assert child.wait() == -9
    assert child.stdout.read() == b""
    assert child.stderr.read() == b"a warning\n"
