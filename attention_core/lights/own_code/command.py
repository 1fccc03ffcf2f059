"""The command: a file and a name in it."""

import argparse
import importlib.util
import sys
import traceback
from pathlib import Path

from .calling import Stopped, printable, stopping
from .checking import check
from .trial import SECONDS


def main(arguments: list[str] | None = None, prog: str | None = None) -> int:
    """`python check_my_attention.py my_file.py:my_function --causal`: 1 where a light is red."""
    parser = argparse.ArgumentParser(
        prog, description="Check an attention of your own, light by light."
    )
    parser.add_argument("what", help="my_file.py:name, a function or a module that is made there")
    parser.add_argument("--causal", action="store_true", help="later tokens should be hidden")
    parser.add_argument("--n-heads", type=int, help="heads that a function splits into")
    parser.add_argument("--d-in", type=int, help="width of a module's vectors")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help=f"how long it may take (else {SECONDS:g})"
    )
    asked = parser.parse_args(arguments)
    path, _, name = asked.what.rpartition(":")
    shown = printable(asked.what)
    if not Path(path).is_file() or not name:
        none = "" if Path(path).exists() else f"there is no file {printable(path)}; "
        said = f"{none}write the file and the name in it, as in my_file.py:attention"
        parser.error(f"{shown}: {said}")
    if Path(path).suffix != ".py":
        parser.error(f"{shown}: the name of a Python file ends in .py, as in my_file.py:attention")
    try:
        attention = _named(Path(path), name)
        if not callable(attention):
            parser.error(f"{shown}: there is no function of that name, and no module that is made")
        report = check(attention, asked.causal, asked.n_heads, asked.d_in)
    except (Stopped, TypeError, ValueError) as stopped:
        parser.error(f"{shown}: {stopped}")
    return 0 if report.is_right else 1


def _named(path: Path, name: str) -> object:
    """What has this name in a file; None where nothing has. Raises Stopped where the file stops."""
    sys.path.insert(0, str(path.parent.resolve()))
    # Not in the place of a module that is in use, where the file is called random.py, say.
    title = f"_{path.stem}" if path.stem in sys.modules else path.stem
    try:
        with stopping():
            spec = importlib.util.spec_from_file_location(title, path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[title] = module
            spec.loader.exec_module(module)
            return getattr(module, name, None)
    except Stopped as stopped:
        frames = traceback.extract_tb(stopped.__cause__.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(path)]
        where = f" at line {lines[-1]}" if lines else ""
        raise Stopped(
            f"the file {str(stopped).removeprefix('it ')}{where}, before anything could be checked"
        ) from stopped
