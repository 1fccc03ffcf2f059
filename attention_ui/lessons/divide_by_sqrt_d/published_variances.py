"""The four variances that a notebook prints, and why they can be placed but not drawn again."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from attention_core.experiments.variance import Trials, variance_theory
from attention_core.published import notebook

from ...cards.elements import Element, caption, chart, frame, light, row, say
from ...charts.chart import Chart
from ...picture import palette
from .against_d import Point, against_d
from .looks import HALF

NOTEBOOK = "journey_123"
N_TRIALS = 1_000
PRINTED_WIDTHS = (5, 100)
BAND_WIDTHS = (1, 2, 5, 10, 20, 50, 100, 200)
_ERROR = "two standard errors"


def printed_variances() -> dict[str, dict[int, float]]:
    """The printed numbers by `before` or `after` and width."""
    results = notebook(NOTEBOOK).results
    return {
        when: {d: float(results[f"var_{when}_{d}"].values) for d in PRINTED_WIDTHS}
        for when in ("before", "after")
    }


def band(d: int, divided: bool) -> tuple[float, float]:
    """What theory expects for standard normal entries, and two standard errors of it."""
    theory = variance_theory(Trials(d=d, trials=N_TRIALS))
    by = d if divided else 1
    return theory.variance / by, 2 * theory.standard_error(N_TRIALS) / by


def published_variances() -> Iterator[Element]:
    """The printed numbers within the band of what chance allows."""
    source = notebook(NOTEBOOK)
    yield caption(source.source)
    printed = printed_variances()
    rows: list[dict[str, Any]] = [
        {
            "when": f"{when} dividing by √{d}",
            "printed": value,
            "theory": band(d, when == "after")[0],
            _ERROR: band(d, when == "after")[1],
        }
        for d in PRINTED_WIDTHS
        for when in ("before", "after")
        for value in [printed[when][d]]
    ]
    outside = [row for row in rows if abs(row["printed"] - row["theory"]) > row[_ERROR]]
    if outside:
        yield light(
            False,
            f"{len(outside)} of the {len(rows)} variances that the notebook prints lie "
            "outside the band.",
        )
    else:
        yield light(
            True, f"All {len(rows)} variances that the notebook prints lie within the band."
        )
    yield say(
        f"The notebook ran {N_TRIALS:,} trials with standard normal entries and no seed, so even "
        "the notebook would not print the same numbers again. Two things can be checked: that "
        "they lie within two standard errors of the theory, and that each variance after "
        "dividing is the one before, divided by d."
    )
    charts = (
        chart(f"printed_{when}", _chart(when, colour, printed[when]), HALF)
        for when, colour in (("before", palette.MUTED), ("after", palette.BAR))
    )
    yield row(*charts, vertical_alignment="top")
    yield frame(pd.DataFrame(rows), hide_index=True)


def _chart(when: str, colour: str, printed: dict[int, float]) -> Chart:
    expected = [Point(d, f"theory, {when}", None, *band(d, when == "after")) for d in BAND_WIDTHS]
    points = [Point(d, "printed", value) for d, value in printed.items()]
    lines = {f"theory, {when}": (colour, False), "printed": (palette.CHOSEN, False)}
    title = "Variance before dividing" if when == "before" else "Variance after dividing by √d"
    return against_d([*expected, *points], lines, title, ticks=BAND_WIDTHS)
