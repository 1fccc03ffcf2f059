"""One row of weights as wide pale bars, such as a guess, and another as narrow bars over them."""

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import lru_cache

import altair as alt
import pyarrow as pa

from .. import palette
from .heatmap import Chart, written
from .template import without_data

BAR, HEIGHT, AXIS = 52, 150, 44
WRITTEN = 12
"""A row of more bars has no room for their numbers."""
LONG = 4
"""Longer names than this stand aslant."""


def laid_over(names: Sequence[str], rows: Mapping[str, Sequence[float]]) -> Chart:
    """One place a name; `rows` are one or two, by what they are called: the first wide and grey,
    the second narrow over it. The numbers of the last one are written above its bars.

    `names` are as they are to be written. Values are read on one axis from 0 to 1, as weights
    are, or further where one of them lies beyond. What is no finite number has no bar.
    """
    cells = [
        (place, name, row, at, _finite(value), written(value))
        for at, (row, values) in enumerate(rows.items())
        for place, (name, value) in enumerate(zip(names, values, strict=True))
    ]
    kinds = {
        "place": pa.int16(),
        "name": pa.string(),
        "row": pa.string(),
        "at": pa.int16(),
        "value": pa.float32(),
        "text": pa.string(),
    }
    columns = zip(kinds.items(), zip(*cells, strict=True), strict=True)
    frame = pa.table({name: pa.array(column, kind) for (name, kind), column in columns})
    ends = [0.0, 1.0, *(cell[4] for cell in cells if cell[4] is not None)]
    spec = deepcopy(_template(len(rows)))
    spec["params"] = [{"name": "bar_names", "value": list(names)}]
    for layer in spec["layer"]:
        encoding = layer["encoding"]
        encoding["y"]["scale"]["domain"] = [min(ends), max(ends)]
        aslant = any(len(name) > LONG for name in names)
        encoding["x"]["axis"]["labelAngle"] = -45 if aslant else 0
        if "color" in encoding:
            encoding["color"]["scale"]["domain"] = list(rows)
    if len(names) > WRITTEN:
        spec["layer"].pop()
    told = "; ".join(f"{row}: {', '.join(map(written, each))}" for row, each in rows.items())
    return Chart(frame, spec, f"Bars over {len(names)} keys. {told}.")


def width_of(n_bars: int) -> int:
    """The width in pixels that so many bars take where there is room."""
    return BAR * max(n_bars, 4) + AXIS


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


@lru_cache(maxsize=2)
def _template(n_rows: int) -> dict:
    quiet = {"domain": False, "ticks": False, "labelFontSize": 12}
    place = {
        "x": alt.X(
            "place:O",
            title=None,
            axis=alt.Axis(
                labelExpr="bar_names[datum.value]", labelOverlap=False, labelLimit=92, **quiet
            ),
            scale=alt.Scale(paddingInner=0.24, paddingOuter=0.12),
        ),
        "y": alt.Y(
            "value:Q",
            title=None,
            stack=None,
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(tickCount=4, gridColor=palette.MUTED, gridOpacity=0.2, **quiet),
        ),
    }
    legend = alt.Legend(orient="top", title=None, labelFontSize=12) if n_rows == 2 else None
    colour = alt.Color(
        "row:N",
        scale=alt.Scale(domain=[""], range=[palette.GREY, palette.BAR][:n_rows]),
        legend=legend,
    )
    tips = [
        alt.Tooltip("name:N", title="token"),
        alt.Tooltip("row:N", title=" "),
        alt.Tooltip("value:Q", format=".4f"),
    ]
    base = alt.Chart(alt.Data(values=[]))
    look = {"cornerRadiusEnd": 3, "aria": False}
    marks = [base.transform_filter("datum.at == 0").mark_bar(**look)]
    if n_rows == 2:
        narrow = {"width": {"band": 0.42}, **look}
        marks.append(base.transform_filter("datum.at == 1").mark_bar(**narrow))
    layers = [mark.encode(**place, color=colour, tooltip=tips) for mark in marks]
    numbers = base.transform_filter(f"datum.at == {n_rows - 1}").mark_text(
        baseline="bottom", dy=-4, fontSize=11, aria=False
    )
    layers.append(numbers.encode(**place, text="text:N"))
    chart = alt.layer(*layers).properties(width="container", height=HEIGHT)
    return without_data(chart.to_dict()) | {"autosize": {"type": "fit-x", "contains": "padding"}}
