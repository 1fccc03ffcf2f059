"""Two looks at many random vectors: q·k around dividing, and its variance at each width."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from attention_core.experiments.variance import (
    WIDTHS,
    Measured,
    Trials,
    measure_variance,
    variance_theory,
)

from ...cards.elements import Element, chart, light, progress, row, say
from ...charts.lines import Across, Point, lines
from ...picture import palette
from ...reactive.control import Values
from ...reactive.long_run import Work, run_so_far
from .histogram import histogram
from .lesson import ENTRIES, SPREAD, TRIALS, VECTOR_WIDTH, trials_of
from .words import entries_words, said, theory_words

BEFORE, AFTER = palette.MUTED, palette.BAR
QUICK = 2**24
"""Random numbers that are drawn without asking: 60 ms of work."""
MOST = 0.8
"""Of the points, so many at least lie within two standard errors, but for bad luck."""
TOLD = (("at", "d"), ("value", "here"), ("expected", "theory"))
AGAINST_D = Across("the width d", (1, 4, 16, 64, 256, 1_024, 4_096), True, TOLD)
HALF = 428
"""The width of charts, two of which stand side by side."""


def work(v: Values) -> Work:
    """What is drawn at random for the look that is chosen."""
    look = v.variance_view
    if look == "histogram":
        wanted = trials_of(v)
        n, pieces = wanted.numbers, partial(_of_one_width, wanted)
    else:
        # Entries s times as large make every q·k s² times as large: nothing new has to be drawn.
        wanted = trials_of(v.but(vector_width=1, spread=1.0))
        n = sum(replace(wanted, d=d).numbers for d in WIDTHS)
        pieces = partial(_of_each_width, wanted, n)
    return Work(look, wanted, pieces, f"{n / 1e6:,.0f} million random numbers", quick=n <= QUICK)


def _of_one_width(wanted: Trials) -> Iterator[tuple[float, Measured]]:
    for so_far in measure_variance(wanted):
        yield so_far.trials / wanted.trials, so_far


def _of_each_width(base: Trials, total: int) -> Iterator[tuple[float, tuple[Measured, ...]]]:
    done, ended = 0, ()
    for d in WIDTHS:
        for so_far in measure_variance(replace(base, d=d)):
            yield (done + 2 * d * so_far.trials) / total, (*ended, so_far)
        ended = (*ended, so_far)
        done += so_far.settings.numbers


def look(v: Values) -> Iterator[Element]:
    """The controls of the look that is chosen, and what it shows as far as its run has come."""
    yield row(
        *[VECTOR_WIDTH.at(again="here", width=170)] * (v.variance_view == "histogram"),
        TRIALS.at(width=150),
        ENTRIES.at(width=190),
        *[SPREAD.at(width=220)] * (v.entries != "uniform_0_1"),
    )
    yield progress(v.variance_view)
    found = run_so_far(v.variance_view).result
    if found is not None:
        yield from SHOWN[v.variance_view](v, found)


def _histograms(v: Values, measured: Measured) -> Iterator[Element]:
    """q·k before and after it is divided, on one axis."""
    wanted = trials_of(v)
    reach = (min(measured.low, 0), max(measured.high, 0))
    drawn = (("q·k", 1.0, BEFORE), (f"q·k / √{wanted.d:,}", wanted.d**0.5, AFTER))
    for at, (name, divisor, colour) in enumerate(drawn):
        ends = (measured.low / divisor, measured.high / divisor)
        made = histogram(measured.counts, *ends, reach, name, colour)
        told = say(theory_words(wanted, measured, divisor), width=260)
        yield row(chart(f"histogram_{at}", made, 580), told, vertical_alignment="center")
    if told := entries_words(wanted):
        yield say(told)


def _variances(v: Values, measured: Sequence[Measured]) -> Iterator[Element]:
    """The variance at each width, of q·k, of a product, and after dividing; spread is 1."""
    base = trials_of(v.but(vector_width=1))
    grown = base.factor**4
    one = variance_theory(base)
    sums, products, divided = [], [], []
    for found in measured:
        d = found.settings.d
        theory = variance_theory(replace(base, d=d))
        error = 2 * theory.standard_error(found.trials)
        variance = found.variance * grown
        sums.append(Point(d, "q·k, the sum of d products", variance, theory.variance, error))
        divided.append(Point(d, "q·k / √d", variance / d, one.variance, error / d))
        error = 2 * one.standard_error(found.trials)
        product = found.product_variance * grown
        products.append(Point(d, "one product", product, one.variance, error))
    drawn = sums + products
    looks = {sums[0].line: (BEFORE, False), products[0].line: (BEFORE, True)}
    before = lines(drawn, looks, "Variance before dividing", AGAINST_D)
    looks = {divided[0].line: (AFTER, False)}
    after = lines(divided, looks, "Variance after dividing by √d", AGAINST_D)
    yield row(
        chart("variance_before", before, HALF),
        chart("variance_after", after, HALF),
        vertical_alignment="top",
    )
    within = sum(abs(point.value - point.expected) <= point.error for point in drawn)
    yield light(
        within >= MOST * len(drawn),
        "Lines are theory, points are measured, bands are how far chance takes most of them: here "
        f"{within} of {len(drawn)} lie within their band.",
    )
    yield say(
        "You may have read that the variance "
        "grows because numbers are multiplied. It grows because they are added: one product has a "
        f"variance of {said(one.variance)} at any width, the sum of d products has d times as "
        f"much, and dividing the sum by √d brings it back to {said(one.variance)}."
    )
    if told := entries_words(base):
        yield say(told)


SHOWN: dict[str, Any] = {"histogram": _histograms, "width": _variances}
"""By the look that is chosen."""
