"""What the command writes: a lesson as a file, and what it says of it."""

import logging
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from ..cards.review import declared
from ..controls.shared import AROUND
from ..frame.contents import LESSONS
from .folder import folder
from .lesson_file import CannotBe, LessonFile, lesson_file
from .scorm import package


def write_page(pages: Path, asked: Namespace) -> int | str:
    """Write one lesson as a page. Returns 0, or what is wrong in words."""
    return _write(pages, asked, "html", lambda made: made[0].page().encode())


def write_package(pages: Path, asked: Namespace) -> int | str:
    """Write a lesson, or a course of several, as a package. Returns 0, or what is wrong in words.
    A setting of a course is set in those lessons that have a control for it.
    """
    return _write(pages, asked, "zip", package)


def _write(
    pages: Path, asked: Namespace, kind: str, of: Callable[[Sequence[LessonFile]], bytes]
) -> int | str:
    names = [name for name, _ in asked.lessons]
    if not names:
        return "Name a lesson, such as causal_mask."
    if wrong := _unknown(names):
        return wrong
    if len({*names}) < len(names):
        return "Name each lesson once."
    is_course = len(names) > 1
    output = asked.output or Path(f"{'course' if is_course else names[0]}.{kind}")
    _be_quiet()
    made = []
    try:
        if is_course and (lost := asked.settings.keys() - _known_in(pages, names)):
            raise CannotBe(f"None of these lessons has a control {sorted(lost)[0]!r}.")
        for name, own in asked.lessons:
            known = _known_in(pages, [name]) if is_course else asked.settings
            texts = {each: text for each, text in asked.settings.items() if each in known} | own
            is_strict = getattr(asked, "strict", False)
            made.append(lesson_file(pages / f"{name}.py", texts, asked.app or "", is_strict))
            if is_course:
                print(f"{name}: {made[-1].title}", flush=True)
    except CannotBe as error:
        return str(error)
    written = of(made)
    try:
        output.write_bytes(written)
    except OSError as error:
        return f"{output} cannot be written: {error.strerror}."
    if is_course:
        print(f"{output}: a course of {len(made)} lessons, {len(written) / 1_000:,.0f} kB.")
    else:
        print(told(made[0], output, len(written)))
    return 0


def write_site(pages: Path, asked: Namespace) -> int | str:
    """Write a site. Returns 0, or what is wrong in words."""
    if wrong := _unknown(asked.lessons):
        return wrong
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


def _unknown(names: Iterable[str]) -> str:
    """That there is no lesson of one of these names, in words."""
    known = [each.name for each in LESSONS]
    lost = [each for each in names if each not in known]
    return f"There is no lesson {lost[0]!r}. There are: {', '.join(known)}." if lost else ""


def _known_in(pages: Path, names: Iterable[str]) -> set[str]:
    """The names of all controls that these lessons have."""
    every = [each for name in names for each in declared(pages / f"{name}.py").controls]
    return {each.name for each in (*every, *AROUND)}


def _be_quiet() -> None:
    """Streamlit warns at each of its functions that no browser is there."""
    logging.disable(logging.WARNING)
    warnings.filterwarnings("ignore", module="streamlit")
