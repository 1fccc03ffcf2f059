"""Something measured at several widths d: points, and the line and the band of a theory."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import altair as alt
import pandas as pd

from ...charts.chart import Chart
from ...charts.template import GRID, blank, template, tips

HEIGHT = 130
D_TICKS = [1, 4, 16, 64, 256, 1_024, 4_096]
THIN = 0.1
"""A band that would reach 0, which the axis has not, ends at this part of its line."""


@dataclass(frozen=True)
class Point:
    """At one width what was measured, expected, and half its band's width."""

    d: int
    line: str
    value: float
    expected: float
    error: float


def against_d(points: Sequence[Point], lines: dict[str, tuple[str, bool]], title: str) -> Chart:
    """Points at their widths, each with its theory's line and band, on axes of powers. `lines` are
    the names of what is drawn, each with its colour and whether it is dashed.
    """
    frame = pd.DataFrame([_row(point) for point in points])
    spec = _template()
    spec["title"]["text"] = title
    drawn = frame[["value", "expected", "low", "high"]].stack()
    drawn = drawn[drawn > 0]
    for layer in spec["layer"]:
        y = layer["encoding"]["y"]
        # The least and the most that is drawn, given: else Vega warns before the data arrive.
        y["scale"]["domain"] = [float(drawn.min()), float(drawn.max())]
        if powers := _powers(frame):
            y["axis"]["values"] = powers
        names = {"domain": list(lines)}
        colours, dashes = zip(*lines.values(), strict=True)
        layer["encoding"]["color"]["scale"] = names | {"range": list(colours)}
        if "strokeDash" in layer["encoding"]:
            layer["encoding"]["strokeDash"]["scale"] = names | {
                "range": [[4, 4] if dashed else [1, 0] for dashed in dashes]
            }
    return Chart(frame, spec, _words(title, points, lines))


def _row(point: Point) -> dict:
    low = max(point.expected - point.error, point.expected * THIN)
    return asdict(point) | {"low": low, "high": point.expected + point.error}


def _powers(frame: pd.DataFrame) -> list[float]:
    """The powers of ten among what is drawn; none where there are fewer than two of them."""
    drawn = frame[["value", "expected"]].stack()
    drawn = drawn[drawn > 0]
    first, last = math.ceil(math.log10(drawn.min())), math.floor(math.log10(drawn.max()))
    return [float(f"1e{power}") for power in range(first, last + 1)] if last > first else []


def _words(title: str, points: Sequence[Point], lines: dict) -> str:
    """The first and the last point of each line."""
    told = []
    for name in lines:
        drawn = [point for point in points if point.line == name]
        ends = (f"{each.value:.4g} at d {each.d}" for each in (drawn[0], drawn[-1]))
        told.append(f"{name}: {' and '.join(ends)}")
    return f"{title}, against the width d. {'; '.join(told)}."


@template("fit-x")
def _template() -> alt.LayerChart:
    readable = "abs(datum.value) >= 1000 ? format(datum.value, ',.0f') : format(datum.value, '~g')"
    x = alt.X(
        "d:Q",
        title="d",
        scale=alt.Scale(type="log", base=2, nice=False, domain=[D_TICKS[0], D_TICKS[-1]]),
        axis=alt.Axis(values=D_TICKS, format=",.0f", labelFontSize=12, titleFontSize=12, **GRID),
    )
    y_axis = alt.Axis(labelExpr=readable, minExtent=44, tickCount=5, labelFontSize=12, **GRID)
    scale = alt.Scale(type="log", nice=False)
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
    band = base.mark_area(opacity=0.18, strokeWidth=0)
    line = base.mark_line(strokeWidth=1.5)
    dots = base.mark_point(filled=True, size=42, opacity=1, strokeDash=[1, 0])
    told = tips(
        ("line:N", " "),
        ("d:Q", None, ","),
        ("value:Q", "here", ",.5~g"),
        ("expected:Q", "theory", ",.5~g"),
    )
    layers = [
        line.encode(y=y("expected"), **shared),
        dots.encode(y=y("value"), tooltip=told, **shared),
    ]
    del shared["strokeDash"]
    layers.insert(0, band.encode(y=y("low"), y2="high:Q", **shared))
    return alt.layer(*layers).properties(
        width="container", height=HEIGHT, title=alt.Title("", anchor="start", fontSize=12)
    )
