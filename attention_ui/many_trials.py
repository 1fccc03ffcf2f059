"""The experiment of "Why divide by √d": many random vectors, and what their width does."""

from collections.abc import Iterator
from dataclasses import replace

import streamlit as st

from attention_core.saturation import EFFECT_TRIALS, N_KEYS, Effect, softmax_effect
from attention_core.variance import (
    WIDTHS,
    Measured,
    Trials,
    measure_variance,
    variance_theory,
)

from . import palette, session
from .charts.against_d import Point, against_d
from .charts.histogram import histogram
from .frame import say_problem
from .long_run import long_run
from .predict import Verdict
from .settings import ENTRIES, LOOKS, MAX_SEED, SCALES, TRIAL_COUNTS, VECTOR_WIDTHS, Settings
from .show import show
from .view import View

BEFORE, AFTER = palette.MUTED, palette.BAR
QUICK = 2**24
"""Random numbers that are drawn without asking: 60 ms of work."""
DIVIDED = {"nothing": "by nothing", "sqrt_d": "by √d", "d": "by d"}


def choose_seed() -> None:
    """The seed of all random numbers of the lesson."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        session.control(st.text_input, "Seed of this lesson", "draw_seed", width=160)
        st.button("Draw again", key="draw_again", icon=":material/casino:", on_click=_next_seed)
    say_problem("draw_seed")


def _next_seed() -> None:
    state = st.session_state
    state[session.DRAFTS] = {n: t for n, t in state[session.DRAFTS].items() if n != "draw_seed"}
    session.change(draw_seed=(session.current().draw_seed + 1) % (MAX_SEED + 1))


def judge_growth(guess: int, seed: int) -> Verdict:
    """Of the choices for the growth from d = 4 to d = 64, the second is right; measured."""
    narrow, wide = (last(Trials(d=d, seed=seed)).variance ** 0.5 for d in (4, 64))
    words = (
        f"In 1,000 trials the standard deviation goes from {narrow:.2f} to {wide:.2f}, "
        f"{wide / narrow:.2f} times as large. The variance grows as d does, 16 times; its root, "
        "the standard deviation, 4 times."
    )
    return Verdict(guess == 1, ("Right. " if guess == 1 else "It is 4 times. ") + words)


def last(settings: Trials) -> Measured:
    """The end of a run."""
    *_, end = measure_variance(settings)
    return end


@st.fragment
def many_trials(view: View) -> None:
    """Controls, and one of three looks at what they make."""
    settings = session.current()
    session.save(view.page)
    session.control(
        st.segmented_control,
        "Look at",
        "vlook",
        options=list(LOOKS),
        format_func=LOOKS.__getitem__,
        required=True,
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        _controls(settings)
    wanted = Trials(
        settings.vd, settings.trials, settings.entries, settings.spread, settings.draw_seed
    )
    {"histogram": _histograms, "width": _widths, "attention": _attention}[settings.vlook](wanted)


def _controls(settings: Settings) -> None:
    control = session.control
    if settings.vlook == "histogram":
        options = {"options": VECTOR_WIDTHS, "format_func": "{:,}".format, "width": 260}
        control(st.select_slider, "Width d", "vd", **options)
    if settings.vlook != "attention":
        options = {"options": TRIAL_COUNTS, "format_func": "{:,}".format, "width": 200}
        control(st.select_slider, "Trials", "trials", **options)
    options = {"options": list(ENTRIES), "format_func": ENTRIES.__getitem__, "width": 190}
    control(st.selectbox, "Entries", "entries", **options)
    if settings.entries != "uniform_0_1":
        options = {"min_value": 0.1, "max_value": 5.0, "step": 0.1, "width": 200}
        control(st.slider, "Their standard deviation", "spread", **options)
    if settings.vlook != "histogram":
        options = {"options": list(SCALES), "format_func": SCALES.__getitem__, "required": True}
        control(st.segmented_control, "Axes", "vaxes", **options)


def _histograms(wanted: Trials) -> None:
    """q·k before and after it is divided, on one axis."""

    def work() -> Iterator[tuple[float, Measured]]:
        for so_far in measure_variance(wanted):
            yield so_far.trials / wanted.trials, so_far

    run = long_run("histogram", wanted, work, wanted.numbers <= QUICK, _cost(wanted.numbers))
    found: Measured | None = run.found
    if found is None:
        return
    root = wanted.d**0.5
    reach = (min(found.low, 0), max(found.high, 0))
    theory = variance_theory(wanted)
    error = 2 * theory.standard_error(found.trials)
    for divisor, name, colour in ((1.0, "q·k", BEFORE), (root, f"q·k / √{wanted.d:,}", AFTER)):
        ends = (found.low / divisor, found.high / divisor)
        show(histogram(found.counts, *ends, reach, name, colour))
        measured, expected = found.variance / divisor**2, theory.variance / divisor**2
        st.markdown(
            f"Variance in {found.trials:,} trials: **{said(measured)}**. Theory says "
            f"{said(expected)}, give or take {said(error / divisor**2)} (two standard errors)."
        )
    _say_entries(wanted)


def _say_entries(wanted: Trials) -> None:
    """What these entries make of the rule."""
    one = variance_theory(replace(wanted, d=1)).variance
    if wanted.distribution == "uniform_0_1":
        mean = variance_theory(wanted).mean
        st.markdown(
            f"Entries between 0 and 1 have mean 0.5, so q·k lies around d/4 = {said(mean)}, and "
            f"after dividing still around {said(mean / wanted.d**0.5)}. √d takes the width out of "
            "the spread, not out of the mean. Softmax does not mind a mean that all keys share."
        )
    elif wanted.spread != 1:
        st.markdown(
            f"Entries with standard deviation {wanted.spread:g} have variance "
            f"{said(wanted.spread**2)}, and a product of two has variance {said(one)}. Dividing "
            f"by √d leads to that number, whatever d is, and not to 1."
        )


def _widths(wanted: Trials) -> None:
    """The variance at each width, of q·k, of one product in it, and after dividing."""
    base = replace(wanted, d=1)
    total = sum(replace(base, d=d).numbers for d in WIDTHS)

    def work() -> Iterator[tuple[float, tuple[Measured, ...]]]:
        done, ended = 0, ()
        for d in WIDTHS:
            for so_far in measure_variance(replace(base, d=d)):
                yield (done + 2 * d * so_far.trials) / total, (*ended, so_far)
            ended = (*ended, so_far)
            done += so_far.settings.numbers

    run = long_run("widths", base, work, total <= QUICK, _cost(total))
    if run.found is None:
        return
    logarithmic = session.current().vaxes == "log"
    one = variance_theory(base)
    sums, products, divided = [], [], []
    for found in run.found:
        d, theory = found.settings.d, variance_theory(found.settings)
        error = 2 * theory.standard_error(found.trials)
        sums.append(Point(d, "q·k, the sum of d products", found.variance, theory.variance, error))
        error_of_one = 2 * one.standard_error(found.trials)
        products.append(Point(d, "one product", found.product_variance, one.variance, error_of_one))
        divided.append(Point(d, "q·k / √d", found.variance / d, one.variance, error / d))
    lines = {sums[0].line: (BEFORE, False), products[0].line: (BEFORE, True)}
    with st.container(horizontal=True, gap="medium"):
        show(against_d(sums + products, lines, "Variance before dividing", logarithmic))
        after = {divided[0].line: (AFTER, False)}
        show(against_d(divided, after, "Variance after dividing by √d", logarithmic))
    st.markdown(
        "Lines are theory, the bands around them two standard errors, points what was measured: "
        "about 19 of 20 lie within. Multiplying two numbers is not what makes the variance grow: "
        f"one product keeps {said(one.variance)} at any width. The sum of d of them has d times "
        "as much."
    )
    _say_entries(base)


def _attention(wanted: Trials) -> None:
    """Softmax over the scores of random keys, by what the scores are divided by."""
    base = replace(wanted, d=1, trials=EFFECT_TRIALS)

    def work() -> Iterator[tuple[float, list[dict[str, Effect]]]]:
        yield 1.0, [softmax_effect(replace(base, d=d)) for d in WIDTHS]

    effects: list[dict[str, Effect]] = long_run("attention", base, work, True, "").found
    lines = {
        DIVIDED["nothing"]: (BEFORE, False),
        DIVIDED["sqrt_d"]: (AFTER, False),
        DIVIDED["d"]: (AFTER, True),
    }
    logarithmic = session.current().vaxes == "log"
    with st.container(horizontal=True, gap="medium"):
        for name, title, top in (
            ("entropy", "Entropy of the weights", 1.0),
            ("largest_weight", "Largest weight", 1.0),
            ("gradient_norm", "Size of the gradient", 0.5),
        ):
            points = [
                Point(d, words, getattr(effect[divisor], name))
                for divisor, words in DIVIDED.items()
                for d, effect in zip(WIDTHS, effects, strict=True)
            ]
            chart = against_d(points, lines, title, logarithmic, (0, top), joined=True, width=232)
            show(chart)
    end = effects[-1]
    st.markdown(
        f"One random query looks at {N_KEYS} random keys; each point is the mean of "
        f"{EFFECT_TRIALS} trials. Entropy 1 means that all keys get the same, 0 that one key gets "
        "all. The gradient is that of the weights by the scores that enter softmax.\n\n"
        f"At d = {WIDTHS[-1]:,}, divided by nothing, the largest weight is "
        f"{end['nothing'].largest_weight:.2f} and the gradient {end['nothing'].gradient_norm:.3f}: "
        "hardly anything is left to learn from. Divided by d, the entropy is "
        f"{end['d'].entropy:.2f}: every key gets nearly the same, whatever it says. Divided by √d, "
        f"it is {end['sqrt_d'].entropy:.2f}, and the curves stay level at every width."
    )


def _cost(numbers: int) -> str:
    return f"{numbers / 1e6:,.0f} million random numbers"


def said(value: float) -> str:
    """A number in a sentence: four digits, thousands with commas."""
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"
