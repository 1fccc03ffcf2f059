"""What the command writes: a lesson as a file, and what it says of it."""

import logging
import warnings
from argparse import Namespace
from functools import partial
from pathlib import Path

from ..frame.contents import LESSONS
from .folder import folder
from .lesson_file import CannotBe, LessonFile, lesson_file
from .scorm import package


def write_page(pages: Path, asked: Namespace) -> int | str:
    """Write one lesson, as a page or a package. Returns 0, or what is wrong in words."""
    known = [each.name for each in LESSONS]
    if asked.lesson not in known:
        return f"There is no lesson {asked.lesson!r}. There are: {', '.join(known)}."
    is_package = asked.command == "scorm"
    output = asked.output or Path(f"{asked.lesson}.{'zip' if is_package else 'html'}")
    _be_quiet()
    try:
        strict = not is_package and asked.strict
        script = pages / f"{asked.lesson}.py"
        made = lesson_file(script, dict(asked.settings), asked.app or "", strict)
    except CannotBe as error:
        return str(error)
    written = package(made) if is_package else made.page().encode()
    try:
        output.write_bytes(written)
    except OSError as error:
        return f"{output} cannot be written: {error.strerror}."
    print(told(made, output, len(written)))
    return 0


def write_site(pages: Path, asked: Namespace) -> int | str:
    """Write a site. Returns 0, or what is wrong in words."""
    known = [each.name for each in LESSONS]
    for name in asked.lessons:
        if name not in known:
            return f"There is no lesson {name!r}. There are: {', '.join(known)}."
    _be_quiet()
    says = partial(print, flush=True)
    made = folder(pages, asked.lessons, app=asked.app or "", says=says)
    try:
        made.write(asked.folder)
    except OSError as error:
        return f"{error.filename} cannot be written: {error.strerror}."
    print(
        f"{asked.folder}: {len(made.lessons)} lessons in {len(made.files)} files, "
        f"{made.n_bytes / 1e6:,.1f} MB, {made.n_on_the_wire / 1e6:,.1f} MB as a host sends them."
    )
    return 0


def told(made: LessonFile, output: Path, n_bytes: int) -> str:
    """What is in a file, in a few lines."""
    counted = made.counted()
    n_cards = len(counted["whole"]) + len(counted["with a reason"])
    lines = [f"{output}: {made.title}, {n_bytes / 1_000:,.0f} kB."]
    lines.append(f"{len(counted['whole'])} of {n_cards} cards are whole.")
    for name in counted["with a reason"]:
        adds = "; ".join(dict.fromkeys(made.baked.writer.needs_app[name]))
        lines.append(f"  {name}: the app {adds}")
    titles = {
        name: [each.title for each in made.baked.pieces if each.title and name in each.axes]
        for name in (*counted["moves in a picture"], *counted["moves"])
    }
    if titles:
        lines.append("These controls move, with the cards that follow them:")
        lines += [f"  {name}: {', '.join(each) or 'its picture'}" for name, each in titles.items()]
    if counted["stands"]:
        lines.append(f"These stand as they are: {', '.join(counted['stands'])}.")
    return "\n".join(lines)


def _be_quiet() -> None:
    """Streamlit warns at each of its functions that no browser is there."""
    logging.disable(logging.WARNING)
    warnings.filterwarnings("ignore", module="streamlit")
