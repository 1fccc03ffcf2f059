"""Three looks at many random vectors: q·k before and after dividing, its variance at each width,
and what softmax makes of it.
"""

from collections.abc import Iterator
from dataclasses import replace

import streamlit as st

from attention_core.experiments.saturation import (
    N_KEYS,
    SATURATED,
    Effect,
    softmax_effect,
    trials_at,
)
from attention_core.experiments.variance import (
    WIDTHS,
    Measured,
    Trials,
    measure_variance,
    variance_theory,
)

from ...cards.show import chart
from ...controls.control import Values
from ...controls.widget import control
from ...frame.long_run import go_on, long_run
from ...picture import palette
from .against_d import Point, against_d
from .histogram import histogram
from .lesson import AXES, ENTRIES, SPREAD, TRIALS, VD, trials_of
from .words import cost, entries_words, said, theory_words, verdict

BEFORE, AFTER = palette.MUTED, palette.BAR
QUICK = 2**24
"""Random numbers that are drawn without asking: 60 ms of work."""
HALF, THIRD = 432, 270
"""Widths of charts, two or three of which stand side by side."""
DIVIDED = {"nothing": "by nothing", "sqrt_d": "by √d", "d": "by d"}


def look(values: Values) -> None:
    """The controls of the look that is chosen, and what it shows. A long run draws what it has
    every 0.3 seconds.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if values.variance_view == "histogram":
            control(VD, again="here", width=170)
        if values.variance_view != "attention":
            control(TRIALS, width=150)
        control(ENTRIES, width=190)
        if values.entries != "uniform_0_1":
            control(SPREAD, width=220)
        if values.variance_view != "histogram":
            control(AXES)
    wanted, is_log = trials_of(values), values.vaxes == "log"
    if values.variance_view == "histogram":
        _histograms(wanted)
    elif values.variance_view == "width":
        _variances(wanted, is_log)
    else:
        _softmax(wanted, is_log)


def _histograms(wanted: Trials) -> None:
    """q·k before and after it is divided, on one axis."""

    def work() -> Iterator[tuple[float, Measured]]:
        for so_far in measure_variance(wanted):
            yield so_far.trials / wanted.trials, so_far

    run = long_run("histogram", wanted, work, wanted.numbers <= QUICK, cost(wanted.numbers))
    if run.found is not None:
        found, root = run.found, wanted.d**0.5
        reach = (min(found.low, 0), max(found.high, 0))
        drawn = (("q·k", 1.0, BEFORE), (f"q·k / √{wanted.d:,}", root, AFTER))
        for at, (name, divisor, colour) in enumerate(drawn):
            ends = (found.low / divisor, found.high / divisor)
            made = histogram(found.counts, *ends, reach, name, colour)
            with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
                chart(f"histogram_{at}", made, 600)
                st.markdown(theory_words(wanted, found, divisor), width=260)
        if told := entries_words(wanted):
            st.markdown(told)
    go_on(run)


def _variances(wanted: Trials, is_log: bool) -> None:
    """The variance at each width, of q·k, of one product in it, and after dividing."""
    # Entries s times as large make every q·k s² times as large: nothing new has to be drawn.
    base = replace(wanted, d=1, spread=1.0)
    total = sum(replace(base, d=d).numbers for d in WIDTHS)

    def work() -> Iterator[tuple[float, tuple[Measured, ...]]]:
        done, ended = 0, ()
        for d in WIDTHS:
            for so_far in measure_variance(replace(base, d=d)):
                yield (done + 2 * d * so_far.trials) / total, (*ended, so_far)
            ended = (*ended, so_far)
            done += so_far.settings.numbers

    run = long_run("widths", base, work, total <= QUICK, cost(total))
    if run.found is not None:
        _draw_variances(replace(wanted, d=1), run.found, is_log)
    go_on(run)


def _draw_variances(base: Trials, measured: tuple[Measured, ...], is_log: bool) -> None:
    """`measured` is of entries with spread 1, `base` has the spread that is wanted."""
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
    lines = {sums[0].line: (BEFORE, False), products[0].line: (BEFORE, True)}
    with st.container(horizontal=True, gap="medium"):
        made = against_d(sums + products, lines, "Variance before dividing", is_log)
        chart("variance_before", made, HALF)
        after = {divided[0].line: (AFTER, False)}
        made = against_d(divided, after, "Variance after dividing by √d", is_log)
        chart("variance_after", made, HALF)
    drawn = sums + products
    within = sum(abs(point.value - point.expected) <= point.error for point in drawn)
    st.markdown(
        "Lines are theory, points are measured, bands are how far chance takes most of them: here "
        f"{within} of {len(drawn)} lie within their band. You may have read that the variance "
        "grows because numbers are multiplied. It grows because they are added: one product has a "
        f"variance of {said(one.variance)} at any width, the sum of d products has d times as "
        f"much, and dividing the sum by √d brings it back to {said(one.variance)}."
    )
    if told := entries_words(base):
        st.markdown(told)


def _softmax(wanted: Trials, is_log: bool) -> None:
    """Softmax over the scores of random keys, by what the scores are divided by."""
    base = replace(wanted, d=1, trials=trials_at(1))

    def work() -> Iterator[tuple[float, list[dict[str, Effect]]]]:
        found: list[dict[str, Effect]] = []
        for d in WIDTHS:
            found.append(softmax_effect(replace(base, d=d, trials=trials_at(d))))
        yield 1.0, found

    effects: list[dict[str, Effect]] = long_run("attention", base, work).found
    lines = {
        DIVIDED["nothing"]: (BEFORE, False),
        DIVIDED["sqrt_d"]: (AFTER, False),
        DIVIDED["d"]: (AFTER, True),
    }
    with st.container(horizontal=True, gap="medium"):
        for name, title in (
            ("entropy", "Entropy of the weights"),
            ("largest_weight", "Largest weight"),
            ("saturated", "Trials with next to no gradient"),
        ):
            points = [
                Point(d, words, getattr(effect[divisor], name))
                for divisor, words in DIVIDED.items()
                for d, effect in zip(WIDTHS, effects, strict=True)
            ]
            made = against_d(points, lines, title, is_log, (0.0, 1.0), joined=True)
            chart(f"softmax_{name}", made, THIRD)
    st.caption(
        f"One random query and {N_KEYS} random keys. Entropy 1 means that all keys get the same, "
        f"0 that one key gets all; it and the largest weight are means of {trials_at(1):,} trials, "
        f"or {trials_at(WIDTHS[-1])} at the largest width. Next to no gradient: one key has over "
        f"{SATURATED:g} of the weight, so that softmax hardly moves when q·k does."
    )
    st.markdown(verdict(effects[-1]))
