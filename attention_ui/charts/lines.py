"""Something measured at several places: points, and the line and the band of a theory."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import altair as alt
import pandas as pd

from .chart import Chart
from .template import GRID, blank, template, tips

HEIGHT = 130
MOST_POWERS = 5
"""Of more powers of ten than these along the axis, some have no label."""
THIN = 0.1
"""A band that would reach 0, which the axis has not, ends at this part of its line."""


@dataclass(frozen=True)
class Point:
    """At one place what was measured, expected, and half its band's width."""

    at: int
    line: str
    value: float
    expected: float
    error: float = 0.0


@dataclass(frozen=True)
class Across:
    """The axis of the places, one of powers of 2 or not, and what the pointer tells of a point."""

    title: str
    ticks: tuple[int, ...]
    is_log: bool
    told: tuple[tuple[str, str], ...]
    """Columns of the table, each with what it is called."""


def lines(
    points: Sequence[Point], looks: Mapping[str, tuple[str, bool]], title: str, across: Across
) -> Chart:
    """Points at their places, each with its theory's line and band, upwards on an axis of powers.
    `looks` are the names of what is drawn, each with its colour and whether it is dashed.
    """
    frame = pd.DataFrame([_row(point) for point in points])
    spec = _template(across)
    spec["title"]["text"] = title
    drawn = frame[["value", "expected", "low", "high"]].stack()
    drawn = drawn[drawn > 0]
    colours, dashes = zip(*looks.values(), strict=True)
    shapes = [[4, 4] if dashed else [1, 0] for dashed in dashes]
    for layer in spec["layer"]:
        y = layer["encoding"]["y"]
        # The least and the most that is drawn, given: else Vega warns before the data arrive.
        y["scale"]["domain"] = [float(drawn.min()), float(drawn.max())]
        if powers := _powers(frame):
            y["axis"]["values"] = powers
        for channel, values in (("color", [*colours]), ("strokeDash", shapes)):
            if channel in layer["encoding"]:
                layer["encoding"][channel]["scale"] = {"domain": list(looks), "range": values}
    return Chart(frame, spec, _words(title, points, looks, across.title))


def _row(point: Point) -> dict[str, Any]:
    low = max(point.expected - point.error, point.expected * THIN)
    return asdict(point) | {"low": low, "high": point.expected + point.error}


def _powers(frame: pd.DataFrame) -> list[float]:
    """The powers of ten among what is drawn; none where there are fewer than two of them."""
    drawn = frame[["value", "expected"]].stack()
    drawn = drawn[drawn > 0]
    first, last = math.ceil(math.log10(drawn.min())), math.floor(math.log10(drawn.max()))
    every = -(-(last - first) // MOST_POWERS)
    return [float(f"1e{power}") for power in range(last, first - 1, -every)] if every > 0 else []


def _words(title: str, points: Sequence[Point], names: Mapping[str, Any], across: str) -> str:
    """The first and the last point of each line."""
    told = []
    for name in names:
        drawn = [point for point in points if point.line == name]
        ends = (f"{each.value:.4g} at {each.at}" for each in (drawn[0], drawn[-1]))
        told.append(f"{name}: {' and '.join(ends)}")
    return f"{title}, against {across}. {'; '.join(told)}."


@template("fit-x")
def _template(across: Across) -> alt.LayerChart:
    readable = "abs(datum.value) >= 1000 ? format(datum.value, ',.0f') : format(datum.value, '~g')"
    ends = {"nice": False, "domain": [across.ticks[0], across.ticks[-1]]}
    x_axis = alt.Axis(
        values=across.ticks, format=",.0f", labelFontSize=12, titleFontSize=12, **GRID
    )
    scale = alt.Scale(type="log", base=2, **ends) if across.is_log else alt.Scale(**ends)
    y_axis = alt.Axis(labelExpr=readable, minExtent=44, tickCount=5, labelFontSize=12, **GRID)
    look = {"orient": "top", "title": None, "labelLimit": 300, "labelFontSize": 12}
    legend = alt.Legend(symbolType="stroke", symbolStrokeWidth=2.5, symbolOpacity=1, **look)
    shared = {
        "x": alt.X("at:Q", title=across.title, scale=scale, axis=x_axis),
        "color": alt.Color("line:N", legend=legend),
    }
    dashed = shared | {"strokeDash": alt.StrokeDash("line:N", legend=legend)}

    def y(field: str) -> alt.Y:
        log = alt.Scale(type="log", nice=False)
        return alt.Y(f"{field}:Q", title=None, scale=log, axis=y_axis)

    base = blank()
    band = base.mark_area(opacity=0.18, strokeWidth=0)
    line = base.mark_line(strokeWidth=1.5)
    dots = base.mark_point(filled=True, size=42, opacity=1, strokeDash=[1, 0])
    formats = {"at": ",", "value": ",.5~g", "expected": ",.5~g"}
    told = tips(
        ("line:N", " "), *((f"{name}:Q", called, formats[name]) for name, called in across.told)
    )
    return alt.layer(
        band.encode(y=y("low"), y2="high:Q", **shared),
        line.encode(y=y("expected"), **dashed),
        dots.encode(y=y("value"), tooltip=told, **dashed),
    ).properties(width="container", height=HEIGHT, title=alt.Title("", anchor="start", fontSize=12))
