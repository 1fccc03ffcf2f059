"""The command: a file and a name in it.

The source of this file is part of the file that checks a learner's own code. It therefore needs
torch and the standard library alone.
"""

import argparse
import importlib.util
import sys
from pathlib import Path

from .checking import check


def main(arguments: list[str] | None = None) -> int:
    """`python check_my_attention.py my_file.py:my_function --causal`: 1 where a light is red."""
    parser = argparse.ArgumentParser(description="Check an attention of your own, light by light.")
    parser.add_argument("what", help="my_file.py:name, a function or a module that is made there")
    parser.add_argument("--causal", action="store_true", help="later tokens should be hidden")
    parser.add_argument("--n-heads", type=int, default=1, help="heads that a function splits into")
    parser.add_argument("--d-in", type=int, help="width of a module's vectors")
    asked = parser.parse_args(arguments)
    path, _, name = asked.what.rpartition(":")
    if not Path(path).is_file() or not name:
        parser.error(f"{asked.what}: write the file and the name in it, as in my_file.py:attention")
    attention = _named(Path(path), name)
    if not callable(attention) or isinstance(attention, type):
        parser.error(f"{name} is no function and no module that is made in {path}")
    report = check(attention, asked.causal, asked.n_heads, asked.d_in)
    return 0 if report.is_right else 1


def _named(path: Path, name: str) -> object:
    """What has this name in a file; None where nothing has."""
    sys.path.insert(0, str(path.parent.resolve()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return getattr(module, name, None)
