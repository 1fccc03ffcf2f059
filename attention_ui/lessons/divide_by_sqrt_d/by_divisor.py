"""What softmax makes of scores, by what divides them: their weights, and what they pass back."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import altair as alt
import pandas as pd

from ...charts.chart import Chart
from ...charts.template import without_data
from ...picture import palette

WEIGHTS_HEIGHT, GRADIENT_HEIGHT = 150, 150


def sorted_weights(weights: Mapping[str, Sequence[float]], best: str) -> Chart:
    """The weights (key,) under each name side by side, from the largest; `best` in colour. The
    largest of each is written above its bar.
    """
    rows = [
        {"name": name, "rank": rank, "value": value, "best": name == best, "text": text}
        for name, each in weights.items()
        for rank, value in enumerate(each, start=1)
        for text in [f"{value:.2f}" if rank == 1 else ""]
    ]
    return Chart(
        pd.DataFrame(rows),
        _template("Weights of the keys, from the largest to the smallest", True),
        f"Bars of the weights of softmax, divided {', '.join(weights)}: largest first.",
    )


def gradients(quartiles: Mapping[str, tuple[float, float, float]], best: str) -> Chart:
    """A bar for each median, and a line from the lower quartile to the upper one, on one scale from
    0 to the largest of all, with the median written on its bar.
    """
    most = max(high for _, _, high in quartiles.values()) or 1.0
    rows = [
        {
            **{"name": name, "rank": 1, "value": middle / most, "best": name == best},
            **{"low": low / most, "high": high / most, "text": f"{middle:.2g}"},
        }
        for name, (low, middle, high) in quartiles.items()
    ]
    return Chart(
        pd.DataFrame(rows),
        _template("Size of the gradient with respect to q·k", False),
        f"Bars of the size of the gradient, divided {', '.join(quartiles)}.",
    )


@lru_cache(maxsize=2)
def _template(title: str, has_axis: bool) -> dict:
    """Without a number in it, so that another width does not make another chart."""
    quiet = {"domain": False, "ticks": False, "labelFontSize": 12}
    grid = {"gridColor": palette.MUTED, "gridOpacity": 0.2}
    ruler = alt.Axis(values=[0, 0.5, 1], **grid, **quiet) if has_axis else None
    gaps = alt.Scale(paddingInner=0.15, paddingOuter=0.4)
    base = alt.Chart(alt.Data(values=[])).encode(
        x=alt.X("name:N", sort=None, title=None, axis=alt.Axis(labelAngle=0, **quiet)),
        xOffset=alt.XOffset("rank:O", scale=gaps),
        y=alt.Y("value:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=ruler),
    )
    colour = alt.when("datum.best").then(alt.value(palette.BAR))
    bars = base.mark_bar(cornerRadiusEnd=2, aria=False).encode(
        color=colour.otherwise(alt.value(palette.MUTED))
    )
    beside = {} if has_axis else {"align": "left"}  # of the line
    numbers = base.mark_text(
        dx=5, dy=-7, fontSize=12, aria=False, color=palette.INK, **beside
    ).encode(text="text:N")
    layers = [bars, numbers]
    if not has_axis:
        line = base.mark_rule(strokeWidth=2, aria=False, color=palette.INK)
        layers.append(line.encode(y="low:Q", y2="high:Q"))
    chart = alt.layer(*layers).properties(
        width="container",
        height=WEIGHTS_HEIGHT if has_axis else GRADIENT_HEIGHT,
        title=alt.Title(title, anchor="start", fontSize=12, offset=14),
    )
    return without_data(chart.to_dict()) | {"autosize": {"type": "fit-x", "contains": "padding"}}
