"""The command in a process of its own: what ends Python there is seen here.

The source of this file begins the file that checks a learner's own code. It needs the standard
library alone: the process that waits does not load torch.
"""

import os
import subprocess
import sys
from collections.abc import Callable

IS_TRIAL = "CHECK_MY_ATTENTION_IS_TRIAL"
"""Set in the process that checks, for this program alone."""
VERDICT = 40
"""Added to the status of a check that came to its end. Python's own are below, as are those that
code ends it with."""


def tried() -> int:
    """Run this very command again, in a process of its own, and return its status. A process that
    ends without a verdict, as by `os._exit(0)`, is said, and is no success.
    """
    command = [sys.executable, *sys.orig_argv[1:]]
    ended = subprocess.run(command, env={**os.environ, IS_TRIAL: "1"}, check=False).returncode
    if ended - VERDICT in (0, 1, 2):
        return ended - VERDICT
    print(
        f"Python ended with status {ended} before there was a verdict, so nothing was checked: "
        "does your code call os._exit?",
        file=sys.stderr,
    )
    return 2


def with_verdict(main: Callable[[], int]) -> int:
    """The status of a check that came to its end, as `tried` reads it."""
    del os.environ[IS_TRIAL]
    try:
        return VERDICT + main()
    except SystemExit as stopped:  # argparse: what was asked for cannot be, or is --help
        return VERDICT + int(stopped.code or 0)
