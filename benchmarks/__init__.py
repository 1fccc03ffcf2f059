"""Measurements of the app, written into RESULTS.md: `make bench`."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
# The server and the browser are the tests' own.
sys.path.append(str(HERE.parent / "tests"))
