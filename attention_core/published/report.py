"""Everything computed again, and what came of it, in words."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import fill
from typing import Any

from .building import traces
from .checking import Check, check, fits
from .printed import NOTEBOOKS, Result, notebook
from .recipe import RECIPES

COLUMNS = {
    "numbers": ("tensor", "scalar", "ints"),
    "whole ones": ("ints",),
    "shapes": ("shape",),
    "booleans": ("bool",),
    "texts": ("text",),
    "relations": ("derived",),
}
"""What is counted together, and its kinds: whole numbers among numbers, shapes by sizes."""
VERDICTS = ("print", "slack", "older", "never", "differs")
"""As printed; by the slack alone; by older code; never; differs."""
PRINT, SLACK, OLDER, NEVER, DIFFERS = VERDICTS
REMARKS = {
    NEVER: "cannot be computed: {size}: {ids}: {note}",
    OLDER: "matches, but by another recipe than the code shown: {ids}: {note}",
}
"""What the report says of results, all of those with one note together."""


@dataclass(frozen=True)
class Outcome:
    """What came of one printed result; without a check nothing computed it."""

    result: Result
    check: Check | None
    computed: Any = None
    """Numbers, booleans or texts nested like the result's shape; None for nothing of it."""

    @property
    def matching(self) -> int:
        """Printed entries that came out again."""
        return 0 if self.check is None else self.check.matching

    @property
    def verdict(self) -> str:
        """What is to be said of it, one of `VERDICTS`."""
        if self.check is None:
            return NEVER
        if not self.check.ok:
            return DIFFERS
        if not self.result.reproduces_as_shown:
            return OLDER
        return SLACK if self.check.by_slack else PRINT

    def entries(self) -> dict[str, int]:
        """How many entries each verdict is true of: those by the slack match mostly as printed."""
        count, verdict = self.result.count, self.verdict
        if verdict == SLACK:
            return {PRINT: count - self.check.by_slack, SLACK: self.check.by_slack}
        if verdict == DIFFERS:
            return {PRINT: self.matching, DIFFERS: count - self.matching}
        return {verdict: count}


def each_outcome(name: str) -> Iterator[Outcome]:
    """A notebook's printed results against traces, in order; each trace is built once."""
    recipes, trace_of = RECIPES[name], traces()
    for result in notebook(name).results.values():
        recipe = recipes.get(result.id)
        if recipe is None:
            yield Outcome(result, None)
            continue
        value = recipe.read(trace_of)
        there = value if value is not None and fits(value, result.shape) else None
        computed = there.tolist() if hasattr(there, "tolist") else there
        yield Outcome(result, check(result, value), computed)


def totals(found: Iterable[Outcome]) -> dict[str, tuple[int, int]]:
    """For each of `COLUMNS`: how many printed entries match, of how many."""
    found = list(found)
    counted = {}
    for name, kinds in COLUMNS.items():
        some = [outcome for outcome in found if outcome.result.kind in kinds]
        counted[name] = sum(o.matching for o in some), sum(o.result.count for o in some)
    return counted


def numbers_by_verdict(outcomes: Iterable[Outcome]) -> Counter[str]:
    """How many of the printed numbers each verdict is true of."""
    counted: Counter[str] = Counter()
    for outcome in outcomes:
        counted.update(outcome.entries() if outcome.result.kind in COLUMNS["numbers"] else {})
    return counted


def report(outcomes: dict[str, list[Outcome]]) -> str:
    """What does not match and why, then a table of counts with the total in its last line."""
    everything = [outcome for outcomes_of in outcomes.values() for outcome in outcomes_of]
    rows = [
        _row("matching", list(COLUMNS)),
        *(_row(name, _counts(outcomes_of)) for name, outcomes_of in outcomes.items()),
        _row("total", _counts(everything)),
    ]
    blocks = []
    for name, outcomes_of in outcomes.items():
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
                needed.update(result.differing_by_environment)
    return min(needed.values()), max(needed.values())


def _row(name: str, cells: Iterable[str]) -> str:
    return f"{name:14}" + "".join(f"{cell:>16}" for cell in cells).rstrip()


def _counts(outcomes: list[Outcome]) -> Iterator[str]:
    for matching, published in totals(outcomes).values():
        yield f"{matching:,} of {published:,}" if published else "-"


def _remarks(outcomes: list[Outcome]) -> Iterator[str]:
    """What does not match and why, and what matches though the notebook's code has changed."""
    for outcome in outcomes:
        if outcome.verdict == DIFFERS:
            far = outcome.check.largest_difference
            words = "" if far is None else f", largest difference {far:.3g}"
            matching = f"{outcome.matching} of {outcome.result.count} entries"
            yield f"DOES NOT MATCH: {outcome.result.id}, {matching}{words}"
    for verdict, words in REMARKS.items():
        groups: dict[str, list[Result]] = {}
        for result in (outcome.result for outcome in outcomes if outcome.verdict == verdict):
            groups.setdefault(result.note, []).append(result)
        for note, results in groups.items():
            entries = sum(result.count for result in results)
            size = f"{len(results)} result{'s' * (len(results) != 1)} with {entries:,} entries"
            yield words.format(size=size, ids=", ".join(result.id for result in results), note=note)


def main() -> int:
    """Compute everything again and print the report: 0, or 1 if a result fails to match."""
    found = {name: list(each_outcome(name)) for name in NOTEBOOKS}
    print(report(found))
    return int(any(each.verdict == DIFFERS for some in found.values() for each in some))
