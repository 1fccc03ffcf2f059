"""The check of everything that the notebooks print, in words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

from attention_core.examples import EXAMPLES
from attention_core.published import report
from attention_core.published.printed import NOTEBOOKS, notebook

from ...frame.ends import closes
from ...words import listed

AMONG = {
    "shapes": "sizes of shapes",
    "booleans": "answers of True or False",
    "texts": "texts",
    "relations": "relations between numbers",
}
"""What is counted beside the numbers, by its name in the report."""


@cache
def outcomes() -> Mapping[str, Sequence[report.Outcome]]:
    """What comes of each result, by notebook: computed once a process, in half a second."""
    return {name: tuple(report.each_outcome(name)) for name in NOTEBOOKS}


def says_total(outcomes: Sequence[report.Outcome]) -> tuple[bool, str]:
    """Whether all that can be computed came out again, and how many numbers did."""
    matching, published = report.totals(outcomes)["numbers"]
    failed = [each for each in outcomes if each.verdict == report.DIFFERS]
    counts = report.numbers_by_verdict(outcomes)
    words = (
        f"**{matching:,} of the {published:,} numbers** come out again: {counts[report.PRINT]:,} "
        f"digit for digit, {counts[report.OLDER]:,} by an older version of the notebook's code, "
        f"and {counts[report.SLACK]:,} within the [slack between processors](#judged)."
    )
    if failed:
        words += f" {len(failed)} results should, and do not: {_named(failed)}."
    others = [
        f"{good:,} of {count:,} {AMONG[name]}"
        for name, (good, count) in report.totals(outcomes).items()
        if name in AMONG
    ]
    return not failed, f"{words} So do {listed(others)}."


def which_they_are() -> str:
    """What each notebook computes, by its name here, and how many numbers come out again."""
    lines = ["Each is called by the sentence that it is about:"]
    for name, found in outcomes().items():
        good, count = report.totals(found)["numbers"]
        come = f"{good:,} of {count:,} numbers come out again"
        lines.append(f"- **{EXAMPLES[name].title}** – {notebook(name).source}: {come}")
    return "\n".join(lines)


def never_computed() -> tuple[int, list[str]]:
    """How many printed numbers nobody can compute, and how many of them why."""
    reasons: Counter[str] = Counter()
    for result in (each for name in NOTEBOOKS for each in notebook(name).results.values()):
        if not result.reproduces and result.kind in report.COLUMNS["numbers"]:
            reasons[result.reason] += result.count
    return reasons.total(), [f"{count} were {reason}" for reason, count in reasons.items()]


def why_not_all(outcomes: Sequence[report.Outcome]) -> str:
    """Why the other numbers cannot be computed, and what comes out of older code alone."""
    total, told = never_computed()
    older = [outcome for outcome in outcomes if outcome.verdict == report.OLDER]
    return (
        f"The other {total} cannot be computed by anybody: {listed(told)}. {len(older)} results "
        "come only out of an older version of a notebook's code than the one it shows: "
        f"{_named(older)}."
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


@closes("When is a computed number the printed one?", "judged")
def by_rounding() -> str:
    """The rule of the report, and what the processors that were measured needed beside it."""
    return (
        "When it would be printed with the same digits: it may differ by at most half a unit of "
        "the last one, 0.00005 where there are four decimals, and by the slack between processors. "
        "Everything that was never rounded, such as an id or a shape, has to be equal."
    )


@closes("Why can some printed numbers never be computed again?", "results")
def never() -> str:
    """With how many there are of each kind."""
    each = never_computed()[1]
    count, told = each[-1].split()[0], ", and ".join(each)
    return f"No computation gives them: {told}. A seed would have been enough for those {count}."


def _named(outcomes: Sequence[report.Outcome]) -> str:
    return listed([f"`{outcome.result.id}`" for outcome in outcomes])
