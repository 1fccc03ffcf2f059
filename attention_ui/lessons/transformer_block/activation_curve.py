"""The activation as a picture: a curve that bends, and the hidden numbers of a token on it."""

import altair as alt
import pandas as pd
import torch

from attention_core.mechanism.block import ACTIVATIONS
from attention_core.trace import Trace

from ...charts.chart import Chart, without_data
from ...charts.template import blank, tips
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
    # With domains of their own: before its rows arrive, a view has none to find them from.
    ends = {"x": [-reach, reach], "y": [float(up.min()) - 0.1, float(up.max())]}
    titles = {"x": "a hidden number", "y": "activated"}
    axis = {"grid": False, "tickCount": 5, "titleFontWeight": "normal"}

    def along(side: str) -> dict:
        look = {"axis": alt.Axis(title=titles[side], **axis), "shorthand": f"{side}:Q"}
        return look | {"scale": alt.Scale(domain=ends[side], nice=False)}

    base = blank().encode(x=alt.X(**along("x")), y=alt.Y(**along("y")))
    line, dots = (base.transform_filter(f"datum.kind == '{kind}'") for kind in ("curve", "number"))
    curve = line.mark_line(color=palette.MUTED, strokeWidth=2, aria=False)
    points = dots.mark_circle(size=60, opacity=0.75, color=palette.POSITIVE, aria=False).encode(
        tooltip=tips(
            ("name:N", "hidden number"), ("x:Q", "goes in", ".4f"), ("y:Q", "comes out", ".4f")
        )
    )
    spec = without_data((curve + points).properties(width="container", height=HEIGHT).to_dict())
    below = int((hidden < 0).sum())
    name = {"relu": "ReLU", "gelu": "GELU"}[activation]
    return Chart(
        frame,
        spec,
        f"The curve of {name}, and the {len(hidden)} hidden numbers of the token on it; {below} of "
        "them are below 0.",
    )
