"""`python -m benchmarks [parts] [--quick]`: measures, and writes RESULTS.md."""

import argparse
import time
from collections.abc import Callable
from functools import partial

from attention_ui.frame.contents import HOME, LESSONS

from . import class_votes, crowd, lesson_files, measure, recording
from .measure import Part, failed, keep

PARTS: dict[str, Callable[[bool], list[Part]]] = {
    "pages": measure.pages,
    "start": measure.start,
    "memory": measure.memory,
    "crowd": crowd.crowd,
    "class": class_votes.class_votes,
    "recording": recording.recording,
    "files": lesson_files.lesson_files,
}
"""In the order of the results, after those on the pages of the lessons, which are `TABLES` and are
measured together.
"""
NAMES = [each.name for each in (HOME, *LESSONS)]
ORDER = [*measure.TABLES, *PARTS]


def measured(names: list[str], work: Callable[[], dict[str, list[Part]]], quick: bool) -> bool:
    """Measure, print, and keep, unless it is a short run. False where something failed: then its
    row says so, or its whole table.
    """
    called, began = ", ".join(names), time.monotonic()
    print(f"{called} ...", flush=True)
    try:
        found = work()
    except (Exception, SystemExit) as error:  # the other parts go on
        rows = [failed(called, error)]
        found = {
            each: [Part(f"The part {each}", "It could not be measured.", rows)] for each in names
        }
    for each, parts in found.items():
        for part in parts:
            print("\n" + part.table(), flush=True)
        if not quick:
            keep(each, parts, ORDER)
    print(f"{called} took {time.monotonic() - began:.0f} s", flush=True)
    rows = [row for parts in found.values() for part in parts for row in part.figures]
    return not any(row.has_failed for row in rows)


def main() -> None:
    """Measure the parts that are named, or all. Ends with status 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(ORDER)}; all without")
    parser.add_argument("--quick", action="store_true", help="a short run that writes nothing")
    parser.add_argument("--page", action="append", default=[], choices=NAMES, metavar="NAME",
                        help="of the pages this one alone; writes nothing")  # fmt: skip
    given = parser.parse_args()
    if unknown := set(given.parts) - {*ORDER}:
        parser.error(f"there is no part {', '.join(sorted(unknown))}: take {', '.join(ORDER)}")
    quick, names = given.quick or bool(given.page), given.parts or ORDER
    good = True
    if some := [name for name in names if name in measure.TABLES]:
        good &= measured(some, lambda: measure.on_lessons(some, given.page, quick), quick)
    for name in (name for name in names if name in PARTS):
        good &= measured([name], partial(lambda name: {name: PARTS[name](quick)}, name), quick)
    raise SystemExit(not good)


main()
