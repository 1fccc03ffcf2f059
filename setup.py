"""What pyproject.toml cannot say: `app.py` and `pages/` are installed within the package."""

import sys

from setuptools import find_packages, setup

if sys.version_info < (3, 11):  # older pips list versions of numpy, and do not tell why
    sys.exit(f"This project needs Python 3.11 or newer, and this is {sys.version.split()[0]}.")

SERVED = "attention_explorer.served"

setup(
    packages=[*find_packages(include=["attention_*"]), SERVED, f"{SERVED}.pages"],
    package_dir={SERVED: "."},
    script_name="setup.py",  # of this folder's modules the one that is not installed
)
