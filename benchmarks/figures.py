"""Figures: measured, kept in results.json a part at a time, and written as RESULTS.md."""

import json
import os
import platform
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path

FAILED = "**failed**"
KEPT = Path(__file__).parent / "results.json"


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


@dataclass
class Part:
    """One table of the results, with the words that say how it was measured."""

    title: str
    how: str
    figures: list[Figure]
    unit: str = "ms"

    @property
    def has_failed(self) -> bool:
        """Whether one of its rows could not be measured."""
        return any(each.has_failed for each in self.figures)


def failed(what: str, error: BaseException) -> Figure:
    """A row that could not be measured, with the reason."""
    told = f"{type(error).__name__}: {error}".partition("\n")[0]
    print(f"  {what}: FAILED, {told}", flush=True)
    return Figure(what, {}, note=f"{FAILED}: {told[:120].replace('|', '/')}")


def failed_part(name: str, error: BaseException) -> Part:
    """The table of a part that could not be measured."""
    return Part(f"The part {name}", "It could not be measured.", [failed(name, error)])


def spread(times: Iterable[float]) -> dict[str, float]:
    """Median, 90th percentile and the largest."""
    times = [*times]
    ninth = statistics.quantiles(times, n=10, method="inclusive")[-1] if times[1:] else times[0]
    return {"median": statistics.median(times), "90th": ninth, "largest": max(times)}


def machine() -> dict[str, str]:
    """What the figures were measured with."""
    names = ("streamlit", "torch", "altair", "pandas")
    return {
        "day": date.today().isoformat(),
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else "?"),
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": ", ".join(f"{name} {version(name)}" for name in names),
        "load": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "?",
    }


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def keep(name: str, parts: list[Part]) -> None:
    """Replace what is kept of one part of the benchmark."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    kept[name] = {"machine": machine(), "parts": [asdict(part) for part in parts]}
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


def kept() -> dict[str, tuple[dict[str, str], list[Part]]]:
    """All that is kept: by part of the benchmark the machine and the tables."""
    found = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    return {
        name: (
            each["machine"],
            [
                Part(**{**part, "figures": [Figure(**figure) for figure in part["figures"]]})
                for part in each["parts"]
            ],
        )
        for name, each in found.items()
    }
