"""Bars over tokens: a row of weights, alone or beside another one."""

import math

import altair as alt
import pandas as pd

from attention_core.text.tokenizers import visible

from ..picture import palette
from .chart import Chart
from .template import blank, template, tips

BAR = 26
LETTER = 10
"""About as wide is a letter: names that are wider than their bars stand aslant."""
FARTHEST = 2.0
"""A bar that goes further is cut there: else one of 500 would leave nothing of those up to 1."""


def bars(
    names: tuple[str, ...], rows: dict[str, list[float]], title: str, width: int = BAR
) -> Chart:
    """One bar a token and row; `rows` are at most two, the first drawn in grey if there are two.
    The bars of a token are `width` pixels wide together.

    `names` are tokens as they are; the bars keep their order. Values are read on one axis from
    0 to 1, as weights are, or further where one of them lies beyond, at most to FARTHEST: a bar
    that is cut there ends in an arrow, and its number stands in it. What is no finite number has no
    bar.
    """
    frame = pd.DataFrame(
        [
            {"place": place, "name": visible(name), "row": row, **_bar(float(value))}
            for row, values in rows.items()
            for place, (name, value) in enumerate(zip(names, values, strict=True))
        ]
    )
    spec = _template(len(rows))
    spec["width"] = {"step": width / len(rows)}
    ends = [0.0, 1.0, *frame["shown"].dropna()]
    spec["encoding"]["y"]["scale"]["domain"] = [min(ends), max(ends)]
    axis = spec["encoding"]["x"]["axis"]
    axis["labelExpr"] = "bar_names[datum.value]"
    axis["labelAngle"] = -45 if any(len(name) * LETTER > width for name in names) else 0
    spec["params"] = [{"name": "bar_names", "value": [visible(name) for name in names]}]
    colour = spec["encoding"]["color"]
    colour["scale"] = {
        "domain": list(rows),
        "range": [palette.GREY, palette.BAR] if len(rows) == 2 else [palette.BAR],
    }
    if len(rows) == 1:
        colour["legend"] = None
    return Chart(frame, spec, title)


def _bar(value: float) -> dict:
    """A number, as far as its bar goes, and what is written into a bar that is cut."""
    if not math.isfinite(value):
        return {"value": None, "shown": None, "cut": None}
    shown = max(-FARTHEST, min(FARTHEST, value))
    if shown == value:
        return {"value": value, "shown": shown, "cut": None}
    size = abs(value)
    text = f"{value:.2e}" if size >= 1e6 else f"{value:,.{0 if size >= 100 else 2}f}"
    return {"value": value, "shown": shown, "cut": text.replace("-", "−")}


ZERO_LINE = {"condition": {"test": "datum.value === 0", "value": 0.9}, "value": 0.2}


@template("pad")
def _template(n_rows: int) -> alt.LayerChart:
    quiet = {"domain": False}
    base = blank()
    place = dict(
        x=alt.X(
            "place:O",
            title=None,
            axis=alt.Axis(labelAngle=-45, labelOverlap=False, labelLimit=92, ticks=False, **quiet),
        ),
        y=alt.Y(
            "shown:Q",
            title=None,
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(tickCount=4, gridColor=palette.MUTED, gridOpacity=ZERO_LINE, **quiet),
        ),
        color=alt.Color("row:N", legend=alt.Legend(orient="top", title=None)),
        **({"xOffset": alt.XOffset("row:N", sort=None)} if n_rows == 2 else {}),
    )
    bar = base.mark_bar(cornerRadiusEnd=2).encode(
        tooltip=tips(("name:N", "token"), ("row:N", " "), ("value:Q", None, ".4f"))
    )
    cut = base.transform_filter("datum.cut")
    up, down = (cut.transform_filter(f"datum.shown {sign} 0") for sign in "><")
    arrow = {"filled": True, "size": 130, "opacity": 1, "aria": False}
    number = {"angle": 270, "fontSize": 10, "aria": False, "baseline": "middle"}
    loud, ink = alt.value(palette.CHOSEN), alt.value("black")
    chart = alt.layer(
        bar,
        up.mark_point(shape="triangle-up", yOffset=-5, **arrow).encode(color=loud),
        down.mark_point(shape="triangle-down", yOffset=5, **arrow).encode(color=loud),
        up.mark_text(align="right", dx=-8, **number).encode(text="cut:N", color=ink),
        down.mark_text(align="left", dx=8, **number).encode(text="cut:N", color=ink),
    )
    chart = chart.encode(**place).properties(height=150)
    return chart
