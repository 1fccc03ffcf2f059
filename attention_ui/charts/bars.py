"""Bars over tokens: a row of weights, alone or beside another one."""

import math
from copy import deepcopy
from functools import lru_cache

import altair as alt
import pandas as pd

from attention_core.text.tokenizers import visible

from . import palette
from .chart import Chart
from .template import without_data

BAR = 26


def bars(names: tuple[str, ...], rows: dict[str, list[float]], title: str) -> Chart:
    """One bar a token and row; `rows` are at most two, the first drawn in grey if there are two.

    `names` are tokens as they are; the bars keep their order. Values are read on one axis from
    0 to 1, as weights are, or further where one of them lies beyond. What is no finite number has
    no bar.
    """
    frame = pd.DataFrame(
        [
            {"place": place, "name": visible(name), "row": row, "value": _finite(value)}
            for row, values in rows.items()
            for place, (name, value) in enumerate(zip(names, values, strict=True))
        ]
    )
    spec = deepcopy(_template(len(rows)))
    ends = [0.0, 1.0, *frame["value"].dropna()]
    spec["encoding"]["y"]["scale"]["domain"] = [min(ends), max(ends)]
    axis = spec["encoding"]["x"]["axis"]
    axis["labelExpr"] = "bar_names[datum.value]"
    axis["labelAngle"] = -45 if any(len(name) > 2 for name in names) else 0
    spec["params"] = [{"name": "bar_names", "value": [visible(name) for name in names]}]
    spec["encoding"]["color"]["scale"] = {
        "domain": list(rows),
        "range": [palette.GREY, palette.BAR] if len(rows) == 2 else [palette.BAR],
    }
    if len(rows) == 1:
        spec["encoding"]["color"]["legend"] = None
    return Chart(frame, spec, title)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


ZERO_LINE = {"condition": {"test": "datum.value === 0", "value": 0.9}, "value": 0.2}


@lru_cache(maxsize=2)
def _template(n_rows: int) -> dict:
    quiet = {"domain": False}
    chart = (
        alt.Chart(alt.Data(values=[]))
        .mark_bar(cornerRadiusEnd=2)
        .encode(
            x=alt.X(
                "place:O",
                title=None,
                axis=alt.Axis(
                    labelAngle=-45, labelOverlap=False, labelLimit=92, ticks=False, **quiet
                ),
            ),
            y=alt.Y(
                "value:Q",
                title=None,
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(tickCount=4, gridColor=palette.MUTED, gridOpacity=ZERO_LINE, **quiet),
            ),
            color=alt.Color("row:N", legend=alt.Legend(orient="top", title=None)),
            tooltip=[
                alt.Tooltip("name:N", title="token"),
                alt.Tooltip("row:N", title=" "),
                alt.Tooltip("value:Q", format=".4f"),
            ],
            **({"xOffset": alt.XOffset("row:N", sort=None)} if n_rows == 2 else {}),
        )
        .properties(width=alt.Step(BAR if n_rows == 1 else BAR / 2), height=150)
    )
    return without_data(chart.to_dict()) | {"autosize": {"type": "pad"}}
