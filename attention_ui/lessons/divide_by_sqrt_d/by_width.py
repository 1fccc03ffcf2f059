"""What the width of the vectors does: to the variance of q·k, and to softmax over such scores."""

from collections.abc import Iterator
from dataclasses import replace

import streamlit as st

from attention_core.experiments.saturation import EFFECT_TRIALS, N_KEYS, Effect, softmax_effect
from attention_core.experiments.variance import (
    WIDTHS,
    Measured,
    Trials,
    measure_variance,
    variance_theory,
)

from ...charts.against_d import Point, against_d
from ...charts.sizes import side_by_side
from ...page.show import show_within
from ...picture import palette
from ...settings import session
from ...widgets.long_run import go_on, long_run
from ...words import true_minus

BEFORE, AFTER = palette.MUTED, palette.BAR
QUICK = 2**24
"""Random numbers that are drawn without asking: 60 ms of work."""
HALF, THIRD = side_by_side(2), side_by_side(3)
"""Widths of charts, two or three of which stand side by side."""
LEAST = 1e-6
"""A smaller gradient leaves the picture: without dividing it goes to 0 beyond any axis."""
DIVIDED = {"nothing": "by nothing", "sqrt_d": "by √d", "d": "by d"}


def say_entries(wanted: Trials) -> None:
    """What these entries make of the rule."""
    one = variance_theory(replace(wanted, d=1)).variance
    if wanted.distribution == "uniform_0_1":
        mean = variance_theory(wanted).mean
        st.markdown(
            f"Entries between 0 and 1 have mean 0.5, so q·k has mean d/4 = {said(mean)}, and after "
            f"dividing {said(mean / wanted.d**0.5)}. Dividing by √d takes the width out of the "
            "spread, not out of the mean. Softmax does not mind a mean that all keys share."
        )
    elif wanted.spread != 1:
        st.markdown(
            f"Entries with standard deviation {wanted.spread:g} have variance "
            f"{said(wanted.spread**2)}, and a product of two has variance {said(one)}. Dividing "
            f"by √d brings q·k to that variance at any d, not to 1."
        )


def variance_by_width(wanted: Trials) -> None:
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
        _draw_variances(replace(wanted, d=1), run.found)
    go_on(run)


def _draw_variances(base: Trials, measured: tuple[Measured, ...]) -> None:
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
    logarithmic = session.current().vaxes == "log"
    lines = {sums[0].line: (BEFORE, False), products[0].line: (BEFORE, True)}
    with st.container(horizontal=True, gap="medium"):
        show_within(
            against_d(sums + products, lines, "Variance before dividing", logarithmic), HALF
        )
        after = {divided[0].line: (AFTER, False)}
        show_within(against_d(divided, after, "Variance after dividing by √d", logarithmic), HALF)
    drawn = sums + products
    within = sum(abs(point.value - point.expected) <= point.error for point in drawn)
    st.markdown(
        "Lines are theory, bands are two standard errors around it, points are measured: here "
        f"{within} of {len(drawn)} lie within their band.\n\n"
        "You may have read that multiplying two random numbers makes the variance grow. It does "
        f"not: one product keeps {said(one.variance)} at any width. It is the sum of d of them "
        f"that has d times as much, and only dividing the sum by √d gives {said(one.variance)} "
        "again."
    )
    say_entries(base)


def softmax_by_width(wanted: Trials) -> None:
    """Softmax over the scores of random keys, by what the scores are divided by."""
    base = replace(wanted, d=1, trials=EFFECT_TRIALS)

    def work() -> Iterator[tuple[float, list[dict[str, Effect]]]]:
        yield 1.0, [softmax_effect(replace(base, d=d)) for d in WIDTHS]

    effects: list[dict[str, Effect]] = long_run("attention", base, work).found
    lines = {
        DIVIDED["nothing"]: (BEFORE, False),
        DIVIDED["sqrt_d"]: (AFTER, False),
        DIVIDED["d"]: (AFTER, True),
    }
    logarithmic = session.current().vaxes == "log"
    with st.container(horizontal=True, gap="medium"):
        for name, title, ends in (
            ("entropy", "Entropy of the weights", (0.0, 1.0)),
            ("largest_weight", "Largest weight", (0.0, 1.0)),
            ("gradient_norm", "Gradient with respect to q·k", None),
        ):
            points = [
                Point(d, words, getattr(effect[divisor], name))
                for divisor, words in DIVIDED.items()
                for d, effect in zip(WIDTHS, effects, strict=True)
            ]
            chart = against_d(points, lines, title, logarithmic, ends, joined=True, least=LEAST)
            show_within(chart, THIRD)
    st.markdown(
        f"One random query looks at {N_KEYS} random keys. Entropy 1 means that all keys get the "
        f"same, 0 that one key gets all; it and the largest weight are means of {EFFECT_TRIALS} "
        "trials. The gradient is that of the weights with respect to q·k, before it is divided, "
        "in the middle one of the trials. What divides q·k divides its gradient too."
    )
    st.markdown(verdict(effects[-1]))


def verdict(widest: dict[str, Effect]) -> str:
    """What the curves come to at the largest width."""
    plain, by_root, by_d = (widest[divisor] for divisor in ("nothing", "sqrt_d", "d"))
    words = (
        f"At d = {WIDTHS[-1]:,}, divided by nothing, the largest weight is "
        f"{plain.largest_weight:.2f} and the gradient {plain.gradient_norm:.2g}"
    )
    is_lost = plain.gradient_norm < by_root.gradient_norm / 10
    words += ": little is left to learn from. " if is_lost else ". "
    words += f"Divided by d, the entropy is {by_d.entropy:.2f}"
    words += ": every key gets nearly the same, whatever it says" if by_d.entropy > 0.99 else ""
    words += f", and the gradient is {by_d.gradient_norm:.2g}. "
    words += f"Divided by √d, the entropy is {by_root.entropy:.2f}, much as at any other width"
    if by_root.largest_weight > 0.9:
        return f"{words}; but entries spread this far make softmax all or nothing at every width."
    if by_root.entropy > 0.99:
        return f"{words}; but entries this small make all keys alike at every width."
    return f"{words}, and the gradient {by_root.gradient_norm:.2g}."


def cost(numbers: int) -> str:
    return f"{numbers / 1e6:,.0f} million random numbers"


def said(value: float, digits: int = 4) -> str:
    """A number in a sentence: a few digits, thousands with commas."""
    is_long = abs(value) >= min(1_000, 10**digits)
    return true_minus(f"{value:,.0f}" if is_long else f"{value:.{digits}g}")
