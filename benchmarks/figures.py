"""Figures: measured, kept in results.json a part at a time, and written as RESULTS.md."""

import json
import os
import platform
import statistics
from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path

FAILED = "**failed**"
KEPT, RESULTS = (Path(__file__).with_name(name) for name in ("results.json", "RESULTS.md"))
HEAD = """# Measured

Written by `make bench`; do not edit. `make bench ARGS="moves layer"` measures some parts again and
leaves the others, `make bench ARGS="--quick moves"` prints a short run and writes nothing.

A figure that misses its goal is **bold**, with the goal in brackets. *× empty* is the ratio to the
least page of Streamlit's that answers a slider (`benchmarks/empty/app.py`), measured in the same
run: a slow or busy machine moves both.
"""
FOOT = (
    "<sub>`{name}`, {day}: {processor}, {cores} cores, load {load}; {system}; {versions}.</sub>\n"
)


@dataclass
class Figure:
    """One row of a table: what was measured, the numbers by the heading of their column.

    `most` is the largest number allowed in some columns; what lies above is said to miss.
    """

    what: str
    numbers: dict[str, float]
    most: dict[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def has_failed(self) -> bool:
        """Whether it could not be measured."""
        return self.note.startswith(FAILED)

    @property
    def missed(self) -> list[str]:
        """The columns in which the goal is not reached."""
        return [name for name, most in self.most.items() if self.numbers.get(name, 0) > most]

    def cell(self, column: str) -> str:
        """A number as it is written, and the goal where it misses it."""
        if column not in self.numbers:
            return ""
        value = _written(self.numbers[column])
        return f"**{value}** ({_written(self.most[column])})" if column in self.missed else value


@dataclass
class Part:
    """One table of the results, with the words that say how it was measured."""

    title: str
    how: str
    figures: list[Figure]
    unit: str = "ms"

    def table(self) -> str:
        """It as Markdown."""
        columns = list(dict.fromkeys(name for each in self.figures for name in each.numbers))
        notes = any(each.note for each in self.figures)
        heads = [f"in {self.unit}" if self.unit else "", *columns, *(["note"] if notes else [])]
        rows = [heads, ["---"] * len(heads)]
        for each in self.figures:
            cells = [each.cell(name) for name in columns]
            rows.append([each.what, *cells, *([each.note] if notes else [])])
        lines = [f"## {self.title}\n", f"{self.how}\n", *(f"| {' | '.join(row)} |" for row in rows)]
        if with_goal := [each for each in self.figures if each.most]:
            reached = sum(not each.missed for each in with_goal)
            lines.append(f"\n{reached} of {len(with_goal)} rows reach their goal.")
        return "\n".join(lines) + "\n"


def _written(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def failed(what: str, error: BaseException) -> Figure:
    """A row that could not be measured, with the reason."""
    told = f"{type(error).__name__}: {error}".partition("\n")[0]
    print(f"  {what}: FAILED, {told}", flush=True)
    return Figure(what, {}, note=f"{FAILED}: {told[:120].replace('|', '/')}")


@contextmanager
def tried(what: str):
    """Rows that are measured; one that says why where that fails."""
    rows: list[Figure] = []
    try:
        yield rows
    except Exception as error:  # the others go on
        rows[:] = [failed(what, error)]


def spread(times: Iterable[float]) -> dict[str, float]:
    """Median, 90th percentile and the largest."""
    times = [*times]
    ninth = statistics.quantiles(times, n=10, method="inclusive")[-1] if times[1:] else times[0]
    return {"median": statistics.median(times), "90th": ninth, "largest": max(times)}


def machine() -> dict[str, str]:
    """What the figures were measured with."""
    names = ("streamlit", "torch", "altair", "pandas")
    cpus = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    processors = [line for line in cpus.splitlines() if line.startswith("model name")]
    return {
        "day": date.today().isoformat(),
        "processor": processors[0].partition(":")[2].strip() if processors else "unknown",
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else "?"),
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": ", ".join(f"{name} {version(name)}" for name in names),
        "load": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "?",
    }


def keep(name: str, parts: list[Part], order: Iterable[str]) -> None:
    """Replace what is kept of one part of the benchmark, and write all, the parts in this order."""
    found = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    found[name] = {"machine": machine(), "parts": [asdict(part) for part in parts]}
    KEPT.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    lines = [HEAD]
    for each in (each for each in order if each in found):
        for part in found[each]["parts"]:
            figures = [Figure(**figure) for figure in part["figures"]]
            lines.append(Part(**{**part, "figures": figures}).table())
        lines.append(FOOT.format(name=each, **found[each]["machine"]))
    RESULTS.write_text("\n".join(lines), encoding="utf-8")
