"""How often numbers fell into each of some bins of equal width."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from ...charts.chart import Chart
from ...charts.template import GRID, template, tips

HEIGHT = 96


def histogram(
    counts: Sequence[int],
    low: float,
    high: float,
    reach: tuple[float, float],
    title: str,
    colour: str,
) -> Chart:
    """Bars from `low` to `high`, as high as their shares; `reach` is one scale for charts."""
    total = max(sum(counts), 1)
    width = (high - low) / len(counts)
    frame = pd.DataFrame(
        {
            "from": [low + at * width for at in range(len(counts))],
            "to": [low + (at + 1) * width for at in range(len(counts))],
            "count": list(counts),
            "share": [count / total for count in counts],
        }
    )
    spec = _template()
    spec["title"]["text"] = title
    spec["encoding"]["x"]["scale"]["domain"] = list(reach)
    spec["encoding"]["y"]["scale"]["domain"] = [0.0, max(*counts, 1) / total]
    spec["mark"]["color"] = colour
    words = f"Histogram: {title}. {total:,} numbers from {low:.4g} to {high:.4g}."
    return Chart(frame, spec, words)


@template("fit-x")
def _template() -> alt.LayerChart:
    grid = {**GRID, "labelFontSize": 12}
    return (
        alt.Chart(alt.Data(values=[]), title=alt.Title("", anchor="start", fontSize=12))
        .mark_rect()
        .encode(
            x=alt.X(
                "from:Q",
                title=None,
                scale=alt.Scale(domain=[0, 1], nice=False, zero=False),
                axis=alt.Axis(tickCount=7, **grid),
            ),
            x2="to:Q",
            y=alt.Y(
                "share:Q",
                title=None,
                scale=alt.Scale(nice=True),
                axis=alt.Axis(tickCount=3, format="%", minExtent=34, maxExtent=34, **grid),
            ),
            tooltip=tips(
                ("from:Q", None, ".4~g"),
                ("to:Q", None, ".4~g"),
                ("count:Q", None, ","),
                ("share:Q", None, ".1%"),
            ),
        )
        .properties(width="container", height=HEIGHT)
    )
