"""A number as it changes: one or two lines over the steps of a run, with one step marked."""

import altair as alt
import pandas as pd

from ...charts.chart import Chart
from ...charts.template import GRID, blank, template, tips
from ...picture import palette

WIDTH, HEIGHT = 420, 190


def curve(steps: list[int], values: list[float], marked: int, name: str, title: str) -> Chart:
    """Positive finite `values` over `steps` on a logarithmic axis, the one at `marked` marked."""
    rows = [
        {"step": step, "value": value, "marked": place == marked}
        for place, (step, value) in enumerate(zip(steps, values, strict=True))
        if 0 < value < float("inf")
    ]
    spec = _template()
    for layer in spec["layer"]:
        layer["encoding"]["y"]["title"] = name
        # Given, since a chart is drawn once before its data arrive, and Vega would find no ends.
        layer["encoding"]["x"]["scale"] = {"domain": [0, max(*steps, 1)], "nice": True}
        layer["encoding"]["y"]["scale"] |= {"domain": _ends([row["value"] for row in rows])}
    return Chart(pd.DataFrame(rows, columns=["step", "value", "marked"]), spec, title)


def _ends(values: list[float]) -> list[float]:
    low, high = (min(values), max(values)) if values else (0.1, 1.0)
    return [low, high] if low < high else [low / 2, high * 2]


@template("pad")
def _template() -> alt.LayerChart:
    base = blank().encode(
        x=alt.X("step:Q", title="step", axis=alt.Axis(tickCount=5, format=",d", **GRID)),
        y=alt.Y(
            "value:Q", scale=alt.Scale(type="log", nice=True), axis=alt.Axis(tickCount=4, **GRID)
        ),
        tooltip=tips(("step:Q",), ("value:Q", None, ".4~g")),
    )
    line = base.mark_line(color=palette.BAR, strokeWidth=2)
    here = base.transform_filter("datum.marked").mark_point(
        color=palette.CHOSEN, filled=True, size=110, opacity=1
    )
    return alt.layer(line, here).properties(width=WIDTH, height=HEIGHT)
