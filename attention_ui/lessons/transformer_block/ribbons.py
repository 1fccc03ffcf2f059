"""A token's vector on its way through a block: ribbons as thick as entries, strips between."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import pandas as pd

from ...charts.chart import Chart
from ...charts.template import blank, template, tips
from ...picture import palette

WIDE, HEAD = 800, 50
"""The length of the stream, and the room of the words above it."""
NARROW = "width < 560"
"""Where only the short names have room, and no number."""
STRIP, BAND = 46, 40
LANES, THINNEST, THICKEST = 290, 5, 30
WITH_NUMBERS = 15
"""Lanes as high as this have room for numbers."""
THICK = 0.43
"""The most of a lane that a ribbon takes, on each side of its middle."""
LABELLED = 12
BEFORE = 0.16
"""The share of the way to the next station that lies before what is added."""
THREAD = 0.6
"""Half of the least that a ribbon is thick, in pixels: also a 0 goes on."""
COLUMNS = ("kind", "lane", "x", "x2", "amount", "group", "y", "y2", "text", "short")


@dataclass(frozen=True)
class Station:
    """The vector at one place of the stream."""

    name: str
    short: str
    numbers: Sequence[float]


@dataclass(frozen=True)
class Reach:
    """What happens between two stations: a part adds numbers, or a norm moves and scales all."""

    name: str
    short: str
    added: Sequence[float] | None = None
    told: str = ""
    """What stands below the name."""


def stream(
    lanes: Sequence[str],
    stations: Sequence[Station],
    reaches: Sequence[Reach],
    sums: Sequence[str],
    words: str,
) -> Chart:
    """A stream of lanes: `reaches` between `stations`; `sums` for the pointer, `words` instead."""
    n_lanes = len(lanes)
    height = max(THINNEST, min(THICKEST, LANES // n_lanes))
    numbers = [each for station in stations for each in station.numbers]
    numbers += [each for reach in reaches for each in reach.added or ()]
    limit = max(map(abs, numbers), default=0.0) or 1.0
    gap = (WIDE - STRIP * len(stations)) / max(1, len(reaches))
    written = height >= WITH_NUMBERS
    least = THREAD / height
    rows: list[tuple] = [
        ("lane", lane, 0.0, WIDE, 0.0, "", lane, lane + 1, each, "")
        for lane, each in enumerate(sums)
    ]
    for at, station in enumerate(stations):
        left = at * (STRIP + gap)
        rows += _cells(station.numbers, left, STRIP, limit, written)
        rows.append(_label("station", left + STRIP / 2, station.name, station.short))
    for at, reach in enumerate(reaches):
        left = at * (STRIP + gap) + STRIP
        start = changes = left
        if reach.added is not None:
            start = left + gap * BEFORE
            changes = start + BAND
            rows.append(("band", 0, start, start + BAND, 0.0, "", 0, n_lanes, "", ""))
            rows += _cells(reach.added, start, BAND, limit, written, signed=True)
        middle = (start + changes) / 2 if reach.added is not None else left + gap / 2
        rows.append(_label("part", middle, reach.name, reach.short))
        rows.append(_label("told", middle, reach.told, " "))
        before, after = stations[at].numbers, stations[at + 1].numbers
        for lane, ends in enumerate(zip(before, after, strict=True)):
            group = f"{at}.{lane}"
            shares = tuple(each / limit for each in ends)
            still = (left, start) if start != left else ()
            rows += [_point(f"{group}.s", lane, shares[0], x, shares[0], least) for x in still]
            rows += _ribbon(group, lane, (changes, left + gap), shares, least)
    frame = pd.DataFrame(rows, columns=COLUMNS)
    spec = _template()
    spec["height"] = round(HEAD + n_lanes * height) + 4  # its padding
    y = spec["encoding"]["y"]
    y["scale"]["domain"] = [-HEAD / height, n_lanes]
    every = 1 if n_lanes <= LABELLED else 4
    y["axis"]["values"] = [lane + 0.5 for lane in range(0, n_lanes, every)]
    for parameter in spec["params"]:
        if parameter["name"] == "lane_names":
            parameter["value"] = list(lanes)
        if parameter["name"] == "lane_height":
            parameter["value"] = height
    return Chart(frame, spec, words)


def _cells(
    numbers: Sequence[float],
    left: float,
    width: float,
    limit: float,
    written: bool,
    signed: bool = False,
) -> list[tuple]:
    """A strip of cells, one a lane, with its number where there is room."""
    form = "+.2f" if signed else ".2f"
    # Adding 0 to a rounded number makes 0 of a −0.
    rounded = [round(each, 2) + 0.0 for each in numbers]
    texts = [f"{each:{form}}".replace("-", "−") if written else "" for each in rounded]
    return [
        ("cell", lane, left, left + width, each / limit, "", lane, lane + 1, text, "")
        for lane, (each, text) in enumerate(zip(numbers, texts, strict=True))
    ]


def _label(kind: str, middle: float, name: str, short: str) -> tuple:
    return (kind, 0, middle, middle, 0.0, "", 0, 0, name, short)


def _ribbon(
    group: str, lane: int, places: tuple[float, float], ends: tuple[float, float], least: float
) -> list[tuple]:
    """A lane's ribbon between two numbers; pinched, in two colours, where the sign changes."""
    left, right = places
    first, last = ends
    bend, middle = (right - left) / 4, (left + right) / 2
    if first * last >= 0:
        sign = first or last
        points = [(left, first), (left + bend, first), (right - bend, last), (right, last)]
        return [_point(group, lane, sign, *each, least) for each in points]
    out = [(left, first), (left + bend / 2, first), (middle, 0.0)]
    into = [(middle, 0.0), (right - bend / 2, last), (right, last)]
    return [
        *(_point(f"{group}.a", lane, first, *each, least) for each in out),
        *(_point(f"{group}.b", lane, last, *each, least) for each in into),
    ]


def _point(group: str, lane: int, sign: float, x: float, share: float, least: float) -> tuple:
    half = max(least, THICK * abs(share))
    middle = lane + 0.5
    return ("ribbon", lane, x, x, sign, group, middle - half, middle + half, "", "")


@template("fit")
def _template() -> alt.LayerChart:
    """Ribbons, bands, strips of cells, words above, and what the pointer finds."""
    base = blank()
    axis = alt.Axis(
        labelExpr="lane_names[floor(datum.value)]",
        domain=False,
        ticks=False,
        grid=False,
        labelFontSize=12,
        labelPadding=8,
        labelLimit=92,
        labelOverlap=False,
        title=None,
    )
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, WIDE], nice=False, zero=False), axis=None)
    y = alt.Y(
        "y:Q", scale=alt.Scale(domain=[1, 0], nice=False, zero=False, reverse=True), axis=axis
    )
    over = alt.selection_point(
        name="over", fields=["lane"], on="pointerover", clear="pointerout", empty=True
    )
    sign = alt.when("datum.amount < 0").then(alt.value(palette.NEGATIVE))
    colour = sign.otherwise(alt.value(palette.POSITIVE))
    bright = alt.when(over)

    def of(kind: str) -> alt.Chart:
        return base.transform_filter(f"datum.kind === '{kind}'")

    bands = of("band").mark_rect(
        aria=False, cornerRadius=5, filled=False, stroke=palette.MUTED, strokeOpacity=0.6
    )
    ribbons = of("ribbon").mark_area(aria=False, interpolate="monotone", orient="vertical")
    cells = (
        of("cell")
        .transform_calculate(
            top="datum.y + min(0.06, 1 / lane_height)",
            bottom="datum.y2 - min(0.06, 1 / lane_height)",
        )
        .mark_rect(aria=False, cornerRadius=alt.expr("lane_height < 12 ? 1 : 3"))
    )
    numbers = (
        of("cell")
        .transform_filter("datum.text")
        .transform_calculate(middle="datum.lane + 0.5", centre="(datum.x + datum.x2) / 2")
    )
    ends = alt.Scale(domain=[-1, 0, 1], range=[palette.FULL, palette.FAINT, palette.FULL])
    places = {"x": alt.X("x:Q"), "x2": "x2:Q", "y": alt.Y("y:Q"), "y2": "y2:Q"}
    labels = {
        "station": (HEAD - 10, {"color": palette.MUTED}),
        "part": (9, {"fontWeight": "bold"}),
        "told": (24, {"color": palette.MUTED}),
    }
    chart = alt.layer(
        ribbons.encode(
            x=alt.X("x:Q"),
            y=alt.Y("y:Q"),
            y2="y2:Q",
            detail=["group:N", "lane:O"],
            color=colour,
            opacity=bright.then(alt.value(0.5)).otherwise(alt.value(0.14)),
        ),
        bands.encode(**places),
        cells.encode(
            x=alt.X("x:Q"),
            x2="x2:Q",
            y=alt.Y("top:Q"),
            y2="bottom:Q",
            color=colour,
            fillOpacity=alt.FillOpacity("amount:Q", scale=ends, legend=None),
            opacity=bright.then(alt.value(1)).otherwise(alt.value(0.35)),
        ),
        numbers.mark_text(
            aria=False, fontSize=11, color=palette.INK, opacity=alt.expr(f"{NARROW} ? 0 : 1")
        ).encode(x=alt.X("centre:Q"), y=alt.Y("middle:Q"), text="text:N"),
        *(
            of(kind)
            .transform_calculate(said=f"{NARROW} ? datum.short : datum.text")
            .mark_text(**{"aria": False, "fontSize": 12, "color": palette.INK, **look})
            .encode(x=alt.X("x:Q"), y=alt.value(top), text="said:N")
            for kind, (top, look) in labels.items()
        ),
        of("lane")
        .mark_rect(aria=False, fillOpacity=0)
        .encode(**places, color=alt.value(palette.MUTED), tooltip=tips(("text:N", " ")))
        .add_params(over),
    )
    chart = chart.encode(x=x, y=y).properties(width="container", height=100)
    names = [alt.param(name="lane_names", value=[]), alt.param(name="lane_height", value=1)]
    return chart.add_params(*names)
