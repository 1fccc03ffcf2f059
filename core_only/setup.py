"""Says which Python is needed, where older pips would list versions of torch and not tell why."""

import sys

from setuptools import setup

if sys.version_info < (3, 11):
    sys.exit(f"This project needs Python 3.11 or newer, and this is {sys.version.split()[0]}.")
setup()
