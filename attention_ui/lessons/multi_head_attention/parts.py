"""The terms of a sum as bars that start at 0, one a head, and the sum below them."""

import altair as alt
import pandas as pd

from ...charts.chart import Chart
from ...charts.template import blank, template
from ...picture import palette

WIDTH, BAR = 340, 22


def parts(values: list[float], what: str) -> Chart:
    """One bar a head in its colour, a grey one for their sum; `what` is such as `output[3, 0]`."""
    total = sum(values)
    names = [f"head {head}" for head in range(len(values))]
    colours = [palette.HEADS[head % len(palette.HEADS)] for head in range(len(values))]
    frame = pd.DataFrame(
        {
            "name": [*names, "sum"],
            "value": [*values, total],
            "colour": [*colours, palette.MUTED],
            "written": [f"{value:.4f}".replace("-", "−") for value in (*values, total)],
        }
    )
    spec = _template()
    ends = [min(0.0, *values, total), max(0.0, *values, total)]
    for layer in spec["layer"]:
        layer["encoding"]["x"]["scale"]["domain"] = ends if ends != [0.0, 0.0] else [-1.0, 1.0]
    told = ", ".join(f"{name} {value:.4g}" for name, value in zip(names, values, strict=True))
    return Chart(frame, spec, f"Parts of {what}: {told}; their sum {total:.4g}.")


@template("pad")
def _template() -> alt.LayerChart:
    base = blank().encode(
        y=alt.Y(
            "name:N",
            sort=None,
            title=None,
            axis=alt.Axis(domain=False, ticks=False, labelFontSize=12, labelPadding=8),
        ),
        x=alt.X(
            "value:Q",
            title=None,
            stack=None,
            scale=alt.Scale(padding=56, nice=False),
            axis=alt.Axis(
                domain=False, ticks=False, tickCount=5, gridColor=palette.MUTED, gridOpacity=0.2
            ),
        ),
    )
    bars = base.mark_bar(aria=False, height=12).encode(color=alt.Color("colour:N", scale=None))
    text = {"fontSize": 12, "aria": False, "color": palette.MUTED}
    right = base.transform_filter("datum.value >= 0").mark_text(align="left", dx=6, **text)
    left = base.transform_filter("datum.value < 0").mark_text(align="right", dx=-6, **text)
    numbers = [side.encode(text="written:N") for side in (right, left)]
    chart = alt.layer(bars, *numbers).properties(width=WIDTH, height=alt.Step(BAR))
    return chart
