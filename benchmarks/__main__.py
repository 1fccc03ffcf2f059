"""`python -m benchmarks [parts] [--quick]`: measures, and writes RESULTS.md."""

import argparse
import time
from collections.abc import Callable
from functools import partial

from attention_ui.frame.contents import HOME, LESSONS

from . import (
    HERE,
    beside_bertviz,
    beside_plotly,
    beside_transformers,
    crowd,
    figures,
    largest,
    layer,
    lessons,
    real_model_page,
    report,
    walking,
)
from .figures import Part
from .process import server
from .watching import chromium


def in_browser(measure: Callable, quick: bool) -> list[Part] | dict[str, list[Part]]:
    """What needs the app, an empty page, and a browser."""
    with server() as app, server(HERE / "empty") as empty, chromium() as browser:
        return measure(browser, app, empty, quick)


def on_server(measure: Callable, quick: bool) -> list[Part]:
    """What needs a server of its own, and no browser."""
    with server() as app:
        return measure(app, quick)


PARTS: dict[str, Callable[[bool], list[Part]]] = {
    "pages": partial(in_browser, walking.pages),
    "start": walking.start,
    "plotly": partial(in_browser, beside_plotly.beside_plotly),
    "bertviz": partial(in_browser, beside_bertviz.beside_bertviz),
    "memory": partial(on_server, crowd.memory),
    "largest": largest.largest,
    "crowd": partial(on_server, crowd.crowd),
    "layer": layer.measure,
    "model": lambda quick: beside_transformers.measure(quick) + real_model_page.measure(quick),
}
"""In the order of the results, after those on the pages of the lessons, which are `lessons.TABLES`
and are measured together.
"""
PAGES = [each.name for each in (HOME, *LESSONS)]
ORDER = [*lessons.TABLES, *PARTS]


def measured(name: str, measure: Callable[[], dict[str, list[Part]]], quick: bool) -> bool:
    """Measure, print, and keep, unless it is a short run. False where something failed: then its
    row says so, or its whole table.
    """
    began = time.monotonic()
    print(f"{name} ...", flush=True)
    try:
        found = measure()
    except (Exception, SystemExit) as error:  # the other parts go on
        print(f"{name} FAILED: {type(error).__name__}: {error}", flush=True)
        found = {each: [figures.failed_part(each, error)] for each in name.split(", ")}
    for each, parts in found.items():
        for part in parts:
            print("\n" + report.table(part), flush=True)
        if not quick:
            figures.keep(each, parts)
            report.write(ORDER)
    print(f"{name} took {time.monotonic() - began:.0f} s", flush=True)
    return not any(part.has_failed for parts in found.values() for part in parts)


def main() -> None:
    """Measure the parts that are named, or all. Ends with status 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(ORDER)}; all without")
    parser.add_argument("--quick", action="store_true", help="a short run that writes nothing")
    parser.add_argument("--page", action="append", default=[], choices=PAGES, metavar="NAME",
                        help="of the pages this one alone; writes nothing")  # fmt: skip
    given = parser.parse_args()
    if unknown := set(given.parts) - {*ORDER}:
        parser.error(f"there is no part {', '.join(sorted(unknown))}: take {', '.join(ORDER)}")
    quick, names = given.quick or bool(given.page), given.parts or ORDER
    good = True
    if of_lessons := [name for name in names if name in lessons.TABLES]:
        together = partial(in_browser, partial(lessons.measure, of_lessons, given.page), quick)
        good &= measured(", ".join(of_lessons), together, quick)
    for name in (name for name in names if name in PARTS):
        good &= measured(name, lambda name=name: {name: PARTS[name](quick)}, quick)
    raise SystemExit(not good)


main()
