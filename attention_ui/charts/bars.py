"""One row of weights as wide bars, such as a guess, and another as narrow ones over them."""

from collections.abc import Mapping, Sequence

import altair as alt
import pyarrow as pa

from ..picture import palette
from ..picture.numbers import written
from .chart import Chart
from .template import QUIET, blank, table, template, tips

BAR, HEIGHT, AXIS = 52, 170, 44
LINE = 0.11
"""The room of a line of numbers, as a share of the axis."""
LONG = 4
"""Longer names than this stand aslant."""


def bars(
    names: Sequence[str],
    rows: Mapping[str, Sequence[float]],
    title: str = "",
    colour: str = palette.GREY,
) -> Chart:
    """Bars from 0 to 1, a place a name; one row wide in a `colour`, a second narrow over it."""
    top = 1.0 + LINE * len(rows)
    cells = [
        (place, name, row, at, value, written(value), top - LINE * (at + 0.4))
        for at, (row, values) in enumerate(rows.items())
        for place, (name, value) in enumerate(zip(names, values, strict=True))
    ]
    kinds = {"place": pa.int16(), "name": pa.string(), "row": pa.string(), "at": pa.int16()}
    frame = table(cells, **kinds, value=pa.float32(), text=pa.string(), line=pa.float32())
    spec = _template(len(rows), colour)
    spec["params"] = [{"name": "bar_names", "value": list(names)}]
    for layer in spec["layer"]:
        encoding = layer["encoding"]
        encoding["y"]["scale"]["domain"] = [0.0, top]
        aslant = any(len(name) > LONG for name in names)
        encoding["x"]["axis"]["labelAngle"] = -45 if aslant else 0
        encoding["y"]["axis"]["values"] = [0, 0.25, 0.5, 0.75, 1]
        if "color" in encoding:
            encoding["color"]["scale"]["domain"] = list(rows)
    told = "; ".join(f"{row}: {', '.join(map(written, each))}" for row, each in rows.items())
    return Chart(frame, spec, f"{title or f'Bars over {len(names)} keys'}. {told}.")


def width_of(n_bars: int) -> int:
    """The width in pixels that so many bars take where there is room."""
    return BAR * max(n_bars, 4) + AXIS


def up(column: str) -> alt.Y:
    """Shares from 0 to 1, upwards."""
    axis = alt.Axis(tickCount=4, gridColor=palette.MUTED, gridOpacity=0.2, **QUIET)
    return alt.Y(column, title=None, stack=None, scale=alt.Scale(domain=[0, 1]), axis=axis)


@template("fit-x")
def _template(n_rows: int, wide: str) -> alt.LayerChart:
    across = alt.X(
        "place:O",
        title=None,
        axis=alt.Axis(
            labelExpr="bar_names[datum.value]", labelOverlap=False, labelLimit=92, **QUIET
        ),
        scale=alt.Scale(paddingInner=0.24, paddingOuter=0.12),
    )

    legend = alt.Legend(orient="top", title=None, labelFontSize=12) if n_rows == 2 else None
    colour = alt.Color(
        "row:N", scale=alt.Scale(domain=[""], range=[wide, palette.BAR][:n_rows]), legend=legend
    )
    told = tips(("name:N", "token"), ("row:N", " "), ("value:Q", None, ".4f"))
    base = blank()
    look = {"cornerRadiusEnd": 3, "aria": False}
    layers = []
    for at in range(n_rows):
        narrow = {"width": {"band": 0.42}} if at else {}
        mark = base.transform_filter(f"datum.at == {at}").mark_bar(**narrow, **look)
        layers.append(mark.encode(x=across, y=up("value:Q"), color=colour, tooltip=told))
    for at in range(n_rows):
        weight = "bold" if at == n_rows - 1 else "normal"
        number = base.transform_filter(f"datum.at == {at}").mark_text(
            fontSize=11, fontWeight=weight, aria=False, color=palette.MUTED
        )
        layers.append(number.encode(x=across, y=up("line:Q"), text="text:N"))
    return alt.layer(*layers).properties(width="container", height=HEIGHT)
