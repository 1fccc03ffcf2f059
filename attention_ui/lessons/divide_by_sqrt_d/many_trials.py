"""The experiment of "Why divide by √d": many random vectors, and what their width does."""

from collections.abc import Iterator

import streamlit as st

from attention_core.experiments.variance import Measured, Trials, measure_variance, variance_theory

from ...cards.questions import Verdict
from ...charts.histogram import histogram
from ...page.show import show_within
from ...settings import session
from ...settings.control import control, control_row
from ...widgets.long_run import go_on, long_run
from .by_width import (
    AFTER,
    BEFORE,
    QUICK,
    cost,
    said,
    say_entries,
    softmax_by_width,
    variance_by_width,
)


def choose_seed() -> None:
    """The seed of all random numbers of the lesson."""
    with control_row():
        control("draw_seed", width=160)
        st.button(
            "Draw again",
            key="draw_again",
            icon=":material/casino:",
            on_click=session.next_seed,
            args=("draw_seed",),
        )


def judge_growth(guess: int, seed: int) -> Verdict:
    """Of the choices for the growth from d = 4 to d = 64, the second is right."""
    return Verdict(guess == 1, f"{'Right. ' if guess == 1 else ''}{growth_words(seed)}")


def growth_words(seed: int) -> str:
    """How much the standard deviation grows from d = 4 to d = 64, and what was measured."""
    narrow, wide = (last(Trials(d=d, seed=seed)).variance ** 0.5 for d in (4, 64))
    return (
        f"It is 4 times as large. In 1,000 trials it goes from {narrow:.2f} to {wide:.2f}, "
        f"{wide / narrow:.2f} times as large."
    )


def last(settings: Trials) -> Measured:
    """The end of a run."""
    *_, end = measure_variance(settings)
    return end


def many_trials() -> None:
    """Controls, and one of three looks at what they make."""
    settings = session.current()
    control("vlook")
    with control_row():
        if settings.vlook == "histogram":
            control("vd", elsewhere=True, width=230)
        if settings.vlook != "attention":
            control("trials", width=180)
        control("entries", width=190)
        if settings.entries != "uniform_0_1":
            control("spread", width=190)
        if settings.vlook != "histogram":
            control("vaxes")
    wanted = Trials(
        settings.vd, settings.trials, settings.entries, settings.spread, settings.draw_seed
    )
    {"histogram": _histograms, "width": variance_by_width, "attention": softmax_by_width}[
        settings.vlook
    ](wanted)


def _histograms(wanted: Trials) -> None:
    """q·k before and after it is divided, on one axis."""

    def work() -> Iterator[tuple[float, Measured]]:
        for so_far in measure_variance(wanted):
            yield so_far.trials / wanted.trials, so_far

    run = long_run("histogram", wanted, work, wanted.numbers <= QUICK, cost(wanted.numbers))
    if run.found is not None:
        _draw_histograms(wanted, run.found)
    go_on(run)


def _draw_histograms(wanted: Trials, found: Measured) -> None:
    root = wanted.d**0.5
    reach = (min(found.low, 0), max(found.high, 0))
    theory = variance_theory(wanted)
    error = 2 * theory.standard_error(found.trials)
    for divisor, name, colour in ((1.0, "q·k", BEFORE), (root, f"q·k / √{wanted.d:,}", AFTER)):
        ends = (found.low / divisor, found.high / divisor)
        show_within(histogram(found.counts, *ends, reach, name, colour), 680)
        measured, expected = found.variance / divisor**2, theory.variance / divisor**2
        st.markdown(
            f"Variance in {found.trials:,} trials: **{said(measured)}**. Theory says "
            f"{said(expected)}, give or take {said(error / divisor**2, 2)} (two standard errors)."
        )
    say_entries(wanted)
