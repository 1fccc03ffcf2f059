"""Something measured at several widths d: points, the line and the band of a theory, curves."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import pandas as pd

from ...charts.chart import Chart
from ...charts.template import GRID, blank, template, tips

HEIGHT = 130
D_TICKS = {True: [1, 4, 16, 64, 256, 1_024, 4_096], False: [0, 1_024, 2_048, 3_072, 4_096]}
THIN = 0.1
"""On a logarithmic axis a band that would reach 0 ends at this part of its line."""


@dataclass(frozen=True)
class Point:
    """At one width what was measured, expected, and half its band's width; None: not drawn."""

    d: int
    line: str
    value: float | None = None
    expected: float | None = None
    error: float | None = None


def against_d(
    points: Sequence[Point],
    lines: dict[str, tuple[str, bool]],
    title: str,
    logarithmic: bool = True,
    domain: tuple[float, float] | None = None,
    joined: bool = False,
) -> Chart:
    """Points at their widths, each with its theory's line and band.

    `lines` are the names of what is drawn, each with its colour and whether it is dashed.
    `logarithmic` is for both axes where there is no `domain`, else for d alone. `joined` draws a
    curve through the points instead of a theory's line.
    """
    log_y = logarithmic and domain is None
    frame = pd.DataFrame([_row(point, log_y) for point in points])
    spec = _template(joined)
    spec["title"]["text"] = title
    for layer in spec["layer"]:
        x, y = layer["encoding"]["x"], layer["encoding"]["y"]
        x["scale"] |= {"type": "log", "base": 2} if logarithmic else {"type": "linear"}
        x["axis"]["values"] = D_TICKS[logarithmic]
        x["scale"]["domain"] = [x["axis"]["values"][0], x["axis"]["values"][-1]]
        y["scale"] |= {"type": "log"} if log_y else {"type": "linear", "zero": True}
        low, high = domain or _ends(frame, log_y)
        y["scale"]["domain"] = [low, high]
        if log_y and (powers := _powers(frame)):
            y["axis"]["values"] = powers
        names = {"domain": list(lines)}
        colours, dashes = zip(*lines.values(), strict=True)
        layer["encoding"]["color"]["scale"] = names | {"range": list(colours)}
        if "strokeDash" in layer["encoding"]:
            layer["encoding"]["strokeDash"]["scale"] = names | {
                "range": [[4, 4] if dashed else [1, 0] for dashed in dashes]
            }
    return Chart(frame, spec, _words(title, points, lines))


def _row(point: Point, log_y: bool) -> dict:
    row = {"d": point.d, "line": point.line, "value": point.value, "expected": point.expected}
    if point.expected is not None and point.error is not None:
        least = point.expected * THIN if log_y else 0.0
        row["low"] = max(point.expected - point.error, least)
        row["high"] = point.expected + point.error
    return row


def _ends(frame: pd.DataFrame, log_y: bool) -> tuple[float, float]:
    """The least and the most that is drawn, given: else Vega warns before the data arrive."""
    columns = [name for name in ("value", "expected", "low", "high") if name in frame]
    drawn = frame[columns].astype(float).stack()
    if not log_y:
        return 0.0, float(drawn.max()) or 1.0
    drawn = drawn[drawn > 0]
    return float(drawn.min()), float(drawn.max())


def _powers(frame: pd.DataFrame) -> list[float]:
    """The powers of ten among what is drawn; none where there are fewer than two of them."""
    columns = [name for name in ("value", "expected") if name in frame]
    drawn = frame[columns].astype(float).stack()
    drawn = drawn[drawn > 0]
    first, last = math.ceil(math.log10(drawn.min())), math.floor(math.log10(drawn.max()))
    return [float(f"1e{power}") for power in range(first, last + 1)] if last > first else []


def _words(title: str, points: Sequence[Point], lines: dict) -> str:
    """The first and the last point of each line."""
    told = []
    for name in lines:
        drawn = [p for p in points if p.line == name and (p.value or p.expected) is not None]
        if drawn:
            ends = (
                f"{p.value if p.value is not None else p.expected:.4g} at d {p.d}"
                for p in (drawn[0], drawn[-1])
            )
            told.append(f"{name}: {' and '.join(ends)}")
    return f"{title}, against the width d. {'; '.join(told)}."


@template("fit-x")
def _template(joined: bool) -> alt.LayerChart:
    readable = "abs(datum.value) >= 1000 ? format(datum.value, ',.0f') : format(datum.value, '~g')"
    x = alt.X(
        "d:Q",
        title="d",
        scale=alt.Scale(nice=False),
        axis=alt.Axis(format=",.0f", labelFontSize=12, titleFontSize=12, **GRID),
    )
    y_axis = alt.Axis(labelExpr=readable, minExtent=44, tickCount=5, labelFontSize=12, **GRID)
    scale = alt.Scale(nice=False)
    legend = alt.Legend(
        orient="top",
        title=None,
        labelLimit=300,
        labelFontSize=12,
        symbolType="stroke",
        symbolStrokeWidth=2.5,
        symbolOpacity=1,
    )
    shared = {
        "x": x,
        "color": alt.Color("line:N", legend=legend),
        "strokeDash": alt.StrokeDash("line:N", legend=legend),
    }

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title=None, scale=scale, axis=y_axis)

    base = blank()
    band = base.transform_filter("isValid(datum.high)").mark_area(opacity=0.18, strokeWidth=0)
    line = base.transform_filter("isValid(datum.expected)").mark_line(strokeWidth=1.5)
    curve = base.transform_filter("isValid(datum.value)").mark_line(strokeWidth=2)
    dots = base.transform_filter("isValid(datum.value)").mark_point(
        filled=True, size=42, opacity=1, strokeDash=[1, 0]
    )
    told = tips(("line:N", " "), ("d:Q", None, ","), ("value:Q", "here", ",.5~g"))
    if not joined:
        told += tips(("expected:Q", "theory", ",.5~g"))
    layers = [dots.encode(y=y("value"), tooltip=told, **shared)]
    if joined:
        layers.insert(0, curve.encode(y=y("value"), **shared))
    else:
        layers.insert(0, line.encode(y=y("expected"), **shared))
        del shared["strokeDash"]
        layers.insert(0, band.encode(y=y("low"), y2="high:Q", **shared))
    chart = alt.layer(*layers).properties(
        width="container", height=HEIGHT, title=alt.Title("", anchor="start", fontSize=12)
    )
    return chart
