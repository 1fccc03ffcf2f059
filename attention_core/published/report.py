"""Everything computed again, and what came of it, in words."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import fill

from ..examples import EXAMPLES
from ..trace import Trace
from .building import BUILDERS
from .checking import Check, check
from .places import PLACES, Place
from .printed import NOTEBOOKS, Notebook, Result, notebook
from .reading import read
from .relations import RELATIONS

COLUMNS = {
    "numbers": ("tensor", "scalar", "ints"),
    "whole ones": ("ints",),
    "shapes": ("shape",),
    "booleans": ("bool",),
    "texts": ("text",),
    "relations": ("derived",),
}
"""What is counted together, and the kinds of results in it: the whole numbers are counted among the
numbers too, and shapes by their sizes."""


@dataclass(frozen=True)
class Outcome:
    """What came of one printed result; without a check nothing computed it."""

    result: Result
    check: Check | None

    @property
    def matching(self) -> int:
        """Printed entries that came out again."""
        return 0 if self.check is None else self.check.matching

    @property
    def failed(self) -> bool:
        """Whether it was computed, should match, and does not."""
        return self.result.reproduces and self.check is not None and not self.check.ok

    @property
    def pending(self) -> bool:
        """Whether it could be computed, and is not yet."""
        return self.result.reproduces and self.check is None


def outcomes(name: str) -> list[Outcome]:
    """All printed results of a notebook, compared with traces of its examples."""
    printed = notebook(name)
    checks = {**_placed(printed), **_related(printed)}
    return [Outcome(result, checks.get(result.id)) for result in printed.results.values()]


def _placed(printed: Notebook) -> dict[str, Check]:
    """The checks of results that stand in a trace; each trace is built once."""
    traces: dict[tuple, Trace] = {}

    def trace_of(place: Place) -> Trace:
        example = EXAMPLES[place.example or printed.name]
        key = (place.lesson, example.name, place.query)
        if key not in traces:
            traces[key] = BUILDERS[place.lesson](example, place.query)
        return traces[key]

    return {
        name: check(printed.results[name], read(place, trace_of(place)))
        for name, place in PLACES[printed.name].items()
    }


def _related(printed: Notebook) -> dict[str, Check]:
    """The checks of relations between printed numbers."""
    relations = RELATIONS.get(printed.name, {})
    return {name: check(printed.results[name], of(printed)) for name, of in relations.items()}


def report(found: dict[str, list[Outcome]]) -> str:
    """What does not match and why, then a table of counts with the total in its last line."""
    everything = [outcome for outcomes_of in found.values() for outcome in outcomes_of]
    rows = [
        _row("matching", list(COLUMNS)),
        *(_row(name, _counts(outcomes_of)) for name, outcomes_of in found.items()),
        _row("total", _counts(everything)),
    ]
    blocks = []
    for name, outcomes_of in found.items():
        remarks = [fill(remark, 98, subsequent_indent="  ") for remark in _remarks(outcomes_of)]
        if remarks:
            blocks.append("\n".join([name, *(f"- {remark}" for remark in remarks)]))
    by_slack = sum(outcome.check.by_slack for outcome in everything if outcome.check)
    blocks.append(
        f"On this processor {by_slack:,} of the numbers match only by the slack measured between "
        "processors.\n(On those measured, {:,} to {:,} did.)".format(*slack_on_processors())
    )
    return "\n\n".join([*blocks, "\n".join(rows)])


def slack_on_processors() -> tuple[int, int]:
    """How many numbers needed the slack on the processors that were measured: fewest and most."""
    needed: Counter[str] = Counter()
    for name in NOTEBOOKS:
        for result in notebook(name).results.values():
            if result.rel_slack:
                needed.update(result.n_differing)
    return min(needed.values()), max(needed.values())


def _row(name: str, cells: list[str]) -> str:
    return f"{name:14}" + "".join(f"{cell:>16}" for cell in cells).rstrip()


def _counts(found: list[Outcome]) -> list[str]:
    """For each column: how many of how many."""
    cells = []
    for kinds in COLUMNS.values():
        counted = [outcome for outcome in found if outcome.result.kind in kinds]
        published = sum(outcome.result.count for outcome in counted)
        matching = sum(outcome.matching for outcome in counted)
        cells.append(f"{matching:,} of {published:,}" if published else "-")
    return cells


def _remarks(found: list[Outcome]) -> Iterator[str]:
    """What does not match and why, and what matches though the notebook's code has changed."""
    for outcome in found:
        if outcome.failed:
            far = outcome.check.largest_difference
            yield (
                f"DOES NOT MATCH: {outcome.result.id}, {outcome.matching} of "
                f"{outcome.result.count} entries"
                + ("" if far is None else f", largest difference {far:.3g}")
            )
    pending = [outcome.result for outcome in found if outcome.pending]
    if pending:
        yield f"not yet computed: {_entries(pending)}: {_ids(pending)}"
    for note, results in _by_note(o.result for o in found if not o.result.reproduces):
        yield f"cannot be computed: {_entries(results)}: {_ids(results)}: {note}"
    for note, results in _by_note(
        o.result
        for o in found
        if o.matching and o.result.reproduces and not o.result.reproduces_as_shown
    ):
        yield f"matches, but by another recipe than the code shown: {_ids(results)}: {note}"


def _by_note(results: Iterable[Result]) -> Iterable[tuple[str, list[Result]]]:
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.note, []).append(result)
    return groups.items()


def _entries(results: list[Result]) -> str:
    entries = sum(result.count for result in results)
    return f"{len(results)} result{'s' * (len(results) != 1)} with {entries:,} entries"


def _ids(results: list[Result]) -> str:
    return ", ".join(result.id for result in results)


def main() -> int:
    """Compute everything again and print the report: 0, or 1 if a result fails to match."""
    found = {name: outcomes(name) for name in NOTEBOOKS}
    print(report(found))
    return int(any(outcome.failed for outcomes_of in found.values() for outcome in outcomes_of))
