"""`python -m benchmarks [parts] [--quick]`: measures, and writes RESULTS.md."""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from serving import start_server

from . import (
    HERE,
    beside_bertviz,
    beside_plotly,
    crowd,
    figures,
    largest,
    layer,
    moves,
    pointing,
    report,
    walking,
)
from .figures import Part
from .watching import chromium


def in_browser(measure: Callable) -> Callable[[bool], list[Part]]:
    """A part that needs the app, an empty page, and a browser."""

    def part(quick: bool) -> list[Part]:
        with tempfile.TemporaryDirectory() as folder, chromium() as browser:
            app = start_server(Path(folder) / "app.txt")
            empty = start_server(Path(folder) / "empty.txt", HERE / "empty")
            try:
                return measure(browser, app, empty, quick)
            finally:
                app.stop()
                empty.stop()

    return part


def on_server(measure: Callable) -> Callable[[bool], list[Part]]:
    """A part that needs a server of its own, and no browser."""

    def part(quick: bool) -> list[Part]:
        with tempfile.TemporaryDirectory() as folder:
            app = start_server(Path(folder) / "app.txt")
            try:
                return measure(app, quick)
            finally:
                app.stop()

    return part


def start(quick: bool) -> list[Part]:
    """Servers that are started one after the other, before the eyes of one browser."""
    with chromium() as browser:
        return walking.start(browser, quick)


PARTS: dict[str, Callable[[bool], list[Part]]] = {
    "moves": in_browser(moves.measure),
    "long": in_browser(moves.measure_long),
    "pointing": in_browser(pointing.pointing),
    "plotly": in_browser(beside_plotly.beside_plotly),
    "bertviz": in_browser(beside_bertviz.beside_bertviz),
    "clicks": in_browser(walking.clicks),
    "pages": in_browser(walking.pages),
    "start": start,
    "layer": layer.measure,
    "memory": on_server(crowd.memory),
    "largest": largest.largest,
    "crowd": on_server(crowd.crowd),
}
"""In the order of the results."""


def main() -> None:
    """Measure the parts that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}; all without")
    parser.add_argument("--quick", action="store_true", help="a short run that writes nothing")
    given = parser.parse_args()
    unknown = set(given.parts) - PARTS.keys()
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}: take {', '.join(PARTS)}")
    for name in given.parts or PARTS:
        began = time.monotonic()
        print(f"{name} ...", flush=True)
        parts = PARTS[name](given.quick)
        for part in parts:
            print("\n" + report.table(part), flush=True)
        if not given.quick:
            figures.keep(name, parts)
            report.write(list(PARTS))
        print(f"{name} took {time.monotonic() - began:.0f} s", flush=True)


main()
