"""The activation as a picture: a curve that bends, and the hidden numbers of a token on it."""

from itertools import product

import altair as alt
import pandas as pd
import torch

from attention_core.mechanism.block import ACTIVATIONS
from attention_core.trace import Trace

from ...charts.chart import Chart
from ...charts.template import blank, template, tips
from ...picture import palette

HEIGHT, LEAST_REACH, POINTS = 120, 1.5, 121


def activation_curve(trace: Trace, activation: str, token: int) -> Chart:
    """What goes into the activation across, what comes out of it up; a point is a hidden number."""
    hidden, activated = (trace[name].value[token].double() for name in ("hidden", "activated"))
    reach = max(LEAST_REACH, hidden.abs().max().item()) * 1.1
    across = torch.linspace(-reach, reach, POINTS, dtype=torch.float64)
    up = ACTIVATIONS[activation].value(across)
    rows = [("curve", *each, "") for each in zip(across.tolist(), up.tolist(), strict=True)]
    names = trace.labels("d_hidden")
    rows += [
        ("number", *each) for each in zip(hidden.tolist(), activated.tolist(), names, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["kind", "x", "y", "name"])
    ends = {"x": [-reach, reach], "y": [float(up.min()) - 0.1, float(up.max())]}
    spec = _template()
    for layer, (side, domain) in product(spec["layer"], ends.items()):
        layer["encoding"][side]["scale"]["domain"] = domain
    below = int((hidden < 0).sum())
    name = {"relu": "ReLU", "gelu": "GELU"}[activation]
    return Chart(
        frame,
        spec,
        f"The curve of {name}, and the {len(hidden)} hidden numbers of the token on it; {below} of "
        "them are below 0.",
    )


@template()
def _template() -> alt.LayerChart:
    axis = {"grid": False, "tickCount": 5, "titleFontWeight": "normal"}
    # With domains of their own: before its rows arrive, a view has none to find them from.
    scale = alt.Scale(domain=[0, 1], nice=False)
    base = blank().encode(
        x=alt.X("x:Q", axis=alt.Axis(title="a hidden number", **axis), scale=scale),
        y=alt.Y("y:Q", axis=alt.Axis(title="activated", **axis), scale=scale),
    )
    line, dots = (base.transform_filter(f"datum.kind == '{kind}'") for kind in ("curve", "number"))
    curve = line.mark_line(color=palette.MUTED, strokeWidth=2, aria=False)
    points = dots.mark_circle(size=60, opacity=0.75, color=palette.POSITIVE, aria=False).encode(
        tooltip=tips(
            ("name:N", "hidden number"), ("x:Q", "goes in", ".4f"), ("y:Q", "comes out", ".4f")
        )
    )
    return (curve + points).properties(width="container", height=HEIGHT)
