"""Curves over the stops of a slider, with the stop that is chosen marked on them."""

import math

import altair as alt
import pyarrow as pa
from torch import Tensor

from attention_core.mechanism.softmax import spreads

from ...charts.chart import Chart
from ...charts.template import blank, table, template, tips
from ...picture import palette
from .lesson import MAGNIFY

COLOURS = (palette.BAR, palette.CHOSEN, palette.MUTED)


def over_factors(scores: Tensor, factor: float) -> Chart:
    """Largest weight, entropy and gradient of scores (key,) over all factors, evenly."""
    step, last = MAGNIFY.look["step"], MAGNIFY.field.most
    factors = sorted({*(at * step for at in range(round(last / step) + 1)), factor})
    most = math.log2(len(scores)) or 1.0
    found = spreads(scores, factors)
    lines = {
        "largest weight": [spread.largest for spread in found],
        "entropy": [spread.entropy / most for spread in found],
        "gradient": [spread.gradient for spread in found],
    }
    stops = [f"{each:g}" for each in factors]
    rows = [
        (place, line, value, stops[place], factors[place] == factor)
        for line, values in lines.items()
        for place, value in enumerate(values)
        if math.isfinite(value)
    ]
    kinds = {"place": pa.int16(), "line": pa.string(), "value": pa.float32()}
    frame = table(rows, **kinds, stop=pa.string(), here=pa.bool_())
    spec = _template()
    (parameter,) = spec["params"]
    parameter["value"] = stops
    for layer in spec["layer"]:
        layer["encoding"]["x"]["scale"] = {"domain": [0, len(stops) - 1], "nice": False}
        layer["encoding"]["x"]["axis"]["values"] = [
            at for at, f in enumerate(factors) if f % 2 == 0
        ]
        if "color" in layer["encoding"]:
            layer["encoding"]["color"]["scale"] = {"domain": [*lines], "range": [*COLOURS]}
    told = "Largest weight, entropy as a fraction of its maximum, and gradient, over the factor."
    return Chart(frame, spec, told)


@template("pad")
def _template() -> alt.LayerChart:
    quiet = {"domain": False, "ticks": False, "gridColor": palette.MUTED, "gridOpacity": 0.2}
    x = alt.X(
        "place:Q",
        title=MAGNIFY.label,
        axis=alt.Axis(
            labelExpr="stops[datum.value]", tickMinStep=1, labelOverlap=True, **quiet, grid=False
        ),
    )
    y = alt.Y(
        "value:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=4, **quiet)
    )
    colour = alt.Color("line:N", legend=alt.Legend(orient="top", title=None))
    told = tips(("line:N", " "), ("stop:N", "factor"), ("value:Q", None, ".4f"))
    base = blank()
    line = base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour)
    chosen = base.transform_filter("datum.here")
    rule = chosen.mark_rule(color=palette.MUTED, strokeDash=[4, 3]).encode(x=x)
    dots = chosen.mark_circle(size=90, opacity=1).encode(x=x, y=y, color=colour, tooltip=told)
    stops = alt.param(name="stops", value=[])
    chart = alt.layer(line, rule, dots).add_params(stops).properties(width=300, height=200)
    return chart
