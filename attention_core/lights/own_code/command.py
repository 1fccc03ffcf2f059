"""The command: a file and a name in it."""

import argparse
import importlib.util
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from .calling import Stopped, printable, stopping
from .checking import check
from .report import to_the_screen
from .trial import SECONDS


def main(
    arguments: list[str] | None = None,
    prog: str | None = None,
    compare: Callable[..., tuple[str, bool]] | None = None,
) -> int:
    """`python check_my_attention.py my_file.py:my_function --causal`: 1 where a light is red.

    With `compare`, a reference can be given: it takes both and gives what to say, and whether they
    are the same; 1 where they are not.
    """
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
    if compare:
        parser.add_argument("--against", help="theirs.py:name: where yours and this one part first")
    asked = parser.parse_args(arguments)
    settings = asked.causal, asked.n_heads, asked.d_in
    attention = _asked_for(parser, asked.what)
    against = compare and asked.against and _asked_for(parser, asked.against)
    try:
        if compare and against:
            told, is_same = compare(attention, against, *settings)
            to_the_screen(told)
            return 0 if is_same else 1
        report = check(attention, *settings)
    except (Stopped, TypeError, ValueError) as stopped:
        parser.error(f"{printable(asked.what)}: {stopped}")
    return 0 if report.is_right else 1


def _asked_for(parser: argparse.ArgumentParser, what: str) -> Callable:
    """The function or module of `my_file.py:name`; in words what is wrong with that."""
    path, _, name = what.rpartition(":")
    shown = printable(what)
    if not Path(path).is_file() or not name:
        none = "" if Path(path).exists() else f"there is no file {printable(path)}; "
        said = f"{none}write the file and the name in it, as in my_file.py:attention"
        parser.error(f"{shown}: {said}")
    if Path(path).suffix != ".py":
        parser.error(f"{shown}: the name of a Python file ends in .py, as in my_file.py:attention")
    try:
        attention = _named(Path(path), name)
    except (Stopped, TypeError, ValueError) as stopped:
        parser.error(f"{shown}: {stopped}")
    if not callable(attention):
        parser.error(f"{shown}: there is no function of that name, and no module that is made")
    return attention


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
