"""The check in a process of its own, of which any end is seen. Needs no torch to wait."""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

IS_TRIAL = "CHECK_MY_ATTENTION_IS_TRIAL"
"""Set in the process that checks, for this program alone."""
VERDICT = 40
"""Added to the status of a check that came to its end, so that no code ends it with one."""
SECONDS = 60.0
"""How long a check may take, unless it is said."""
BY_CTRL_C = 130
"""The status that shells give to what Ctrl-C has ended."""


def tried() -> int:
    """Run this command again in a process of its own; its status, or that it had no verdict."""
    limit = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    limit.add_argument("--seconds", type=float)
    seconds = SECONDS
    with contextlib.suppress(argparse.ArgumentError):  # the other process says what is wrong
        seconds = limit.parse_known_args()[0].seconds or SECONDS
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda number, _: sys.exit(128 + number))
    child = subprocess.Popen(
        [sys.executable, *sys.orig_argv[1:]],
        env={**os.environ, IS_TRIAL: "1"},
        stdin=subprocess.PIPE,  # which closes when this process ends, however it ends
        start_new_session=True,
    )
    try:
        ended = child.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return _said(
            f"Stopped after {seconds:g} seconds without a verdict: what comes after the last line "
            "above did not end. Is there a loop in your code that never does? If it is only slow, "
            f"--seconds {10 * seconds:g} gives it more time."
        )
    except KeyboardInterrupt:
        return BY_CTRL_C
    finally:
        _end(child)
    if ended - VERDICT in (0, 1, 2):
        return ended - VERDICT
    return _said(
        f"Python ended with status {ended} before there was a verdict, so nothing was checked: "
        "does your code call os._exit?"
    )


def _said(words: str) -> int:
    print(words, file=sys.stderr)
    return 2


def _end(child: subprocess.Popen) -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.wait()


def with_verdict(main: Callable[[], int]) -> int:
    """The status of a finished check, as `tried` reads it; what code writes itself goes nowhere."""
    del os.environ[IS_TRIAL]
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # so KeyboardInterrupt is the code's own
    parent, nowhere = os.dup(0), os.open(os.devnull, os.O_RDWR)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    sys.stdout, sys.stderr = (
        os.fdopen(os.dup(at), "w", encoding=each.encoding, errors=each.errors, buffering=1)
        for at, each in ((1, sys.stdout), (2, sys.stderr))
    )
    for at in (0, 1, 2):
        os.dup2(nowhere, at)
    try:
        return VERDICT + main()
    except SystemExit as stopped:  # argparse: what was asked for cannot be, or is --help
        return VERDICT + int(stopped.code or 0)


def _end_with(parent: int) -> None:
    """End this process, and what it has started, when the one that waits for it is gone."""
    os.read(parent, 1)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
