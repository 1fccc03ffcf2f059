"""The check of everything that the notebooks print: as far as it has come, in words and as bars."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from time import perf_counter

import streamlit as st

from attention_core.examples import EXAMPLES
from attention_core.published import NOTEBOOKS, notebook, report

from ...cards.show import chart
from ...charts.amounts import amounts
from ...frame.long_run import Run, Steps, begun
from ...picture import palette
from ...words import listed
from .lesson import LEGEND

COLOURS = {
    report.PRINT: palette.BAR,
    report.SLACK: palette.GONE,
    report.OLDER: palette.FED,
    report.NEVER: palette.GREY,
    report.DIFFERS: palette.NEGATIVE,
    report.PENDING: palette.MUTED,
}
AMONG = {
    "shapes": "sizes of shapes",
    "booleans": "answers of True or False",
    "texts": "texts",
    "relations": "relations between numbers",
}
"""What is counted beside the numbers, by its name in the report."""
N_RESULTS = sum(len(notebook(name).results) for name in NOTEBOOKS)


@dataclass
class Found:
    """What has come of the results so far, by notebook, and how long it took."""

    outcomes: dict[str, list[report.Outcome]] = field(
        default_factory=lambda: {n: [] for n in NOTEBOOKS}
    )
    seconds: float = 0.0

    @property
    def all(self) -> list[report.Outcome]:
        """The outcomes of all notebooks."""
        return [outcome for found in self.outcomes.values() for outcome in found]

    @property
    def is_whole(self) -> bool:
        """Whether every result has been looked at."""
        return len(self.all) == N_RESULTS


def check_of_all() -> Run:
    """The check, which begins when the page is opened."""
    return begun("published", "published", _work)


def _work() -> Steps:
    """One result after the other. Only the time of the work itself is counted."""
    found = Found()
    n_done, began = 0, perf_counter()
    for name in NOTEBOOKS:
        for outcome in report.each_outcome(name):
            found.outcomes[name].append(outcome)
            found.seconds += perf_counter() - began
            n_done += 1
            yield n_done / N_RESULTS, found
            began = perf_counter()


def show_progress(run: Run) -> None:
    """A bar while the check goes on; nothing when it is over."""
    if run.share < 1:
        done = len(run.found.all)
        st.progress(run.share, text=f"{done} of {N_RESULTS} results computed again")


def show_bars(found: Found) -> None:
    """A bar a notebook: what came of its numbers."""
    pieces, texts = [], []
    for name, outcomes in found.outcomes.items():
        printed = [report.Outcome(result, None) for result in notebook(name).results.values()]
        counts, n_all = report.numbers_by_verdict(outcomes), report.totals(printed)["numbers"][1]
        counts[report.PENDING] += n_all - counts.total()
        pieces.append({LEGEND[verdict]: count for verdict, count in counts.items()})
        texts.append(
            f"{sum(counts[each] for each in (report.PRINT, report.SLACK, report.OLDER)):,} of "
            f"{n_all:,}"
        )
    titles = [EXAMPLES[name].title for name in NOTEBOOKS]
    colours = {words: COLOURS[verdict] for verdict, words in LEGEND.items()}
    title = "Published numbers that come out again, by notebook"
    chart("bars", amounts(titles, pieces, texts, colours, title, of_each=True), 896)


def says_total(found: Found) -> tuple[bool, str]:
    """Whether all that can be computed came out again, and how many numbers did."""
    matching, published = report.totals(found.all)["numbers"]
    failed = [
        outcome for outcome in found.all if outcome.verdict in (report.DIFFERS, report.PENDING)
    ]
    counts = report.numbers_by_verdict(found.all)
    words = (
        f"**{matching:,} of the {published:,} numbers** come out again: {counts[report.PRINT]:,} "
        f"digit for digit, {counts[report.OLDER]:,} by an older version of the notebook's code, "
        f"and {counts[report.SLACK]:,} within the [slack between processors](#judged)."
    )
    if failed:
        words += f" {len(failed)} results should, and do not: {_named(failed)}."
    others = [
        f"{good:,} of {count:,} {AMONG[name]}"
        for name, (good, count) in report.totals(found.all).items()
        if name in AMONG
    ]
    return found.is_whole and not failed, f"{words} So do {listed(others)}."


def which_they_are() -> str:
    """What each notebook computes, under the name that it has here: the sentence that it is about.
    Nothing is said of their authors, whom the record of what they print does not name.
    """
    each = [f"- **{EXAMPLES[name].title}** – {notebook(name).source}" for name in NOTEBOOKS]
    return "\n".join(["Each is called by the sentence that it is about:", *each])


def never_computed() -> tuple[int, list[str]]:
    """How many printed numbers nobody can compute, and how many of them why."""
    reasons: Counter[str] = Counter()
    for result in (each for name in NOTEBOOKS for each in notebook(name).results.values()):
        if not result.reproduces and result.kind in report.COLUMNS["numbers"]:
            reasons[result.reason] += result.count
    return reasons.total(), [f"{count} were {reason}" for reason, count in reasons.items()]


def why_not_all(found: Found) -> str:
    """Why the other numbers cannot be computed, and what comes out of older code alone."""
    total, told = never_computed()
    older = [outcome for outcome in found.all if outcome.verdict == report.OLDER]
    return (
        f"The other {total} cannot be computed by anybody: {listed(told)}. {len(older)} results "
        "come only out of an older version of a notebook's code than the one it shows: "
        f"{_named(older)}."
    )


def show_how_long(run: Run) -> None:
    """How long it took, and what has no part in it; nothing before it is over."""
    if run.share == 1:
        seconds = ceil(run.found.seconds)
        time = "a second" if seconds == 1 else f"{seconds} seconds"
        st.caption(
            f"Computed when you opened this page, in less than {time}, each result with its "
            "notebook’s own settings."
        )


def what_the_slack_is() -> str:
    """Why a last digit may differ, with what was measured."""
    fewest, most = report.slack_on_processors()
    return (
        "Processors add up in different orders, and each order rounds at other places, so a last "
        "digit may differ. Of the processors that were measured, one needs this **slack** for "
        f"{fewest} numbers, another for {most}; it is at most 1.3 times the largest gap that was "
        "measured. Ids, shapes and texts have to be equal."
    )


def _named(outcomes: Sequence[report.Outcome]) -> str:
    return listed([f"`{outcome.result.id}`" for outcome in outcomes])
