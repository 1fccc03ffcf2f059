"""Bars over tokens: a row of weights, alone or beside another one."""

import altair as alt
import pandas as pd

from attention_core.text.tokenizers import visible

from ..picture import palette
from .chart import Chart
from .template import blank, template, tips

BAR = 26
LETTER = 10
"""About as wide is a letter: names that are wider than their bars stand aslant."""


def bars(
    names: tuple[str, ...],
    rows: dict[str, list[float]],
    title: str,
    width: int = BAR,
    first: str = palette.GREY,
) -> Chart:
    """One bar a token and row; `rows` are at most two; of two, one is drawn in the colour
    `first`. The bars of a token are `width` pixels wide together.

    `names` are tokens as they are; the bars keep their order. Values are read on one axis from
    0 to 1, as weights are, or further where the mean of some draws lies beyond.
    """
    frame = pd.DataFrame(
        [
            {"place": place, "name": visible(name), "row": row, "value": value}
            for row, values in rows.items()
            for place, (name, value) in enumerate(zip(names, values, strict=True))
        ]
    )
    spec = _template(len(rows))
    spec["width"] = {"step": width / len(rows)}
    spec["encoding"]["y"]["scale"]["domain"] = [0.0, max(1.0, *frame["value"])]
    axis = spec["encoding"]["x"]["axis"]
    axis["labelExpr"] = "bar_names[datum.value]"
    axis["labelAngle"] = -45 if any(len(name) * LETTER > width for name in names) else 0
    spec["params"] = [{"name": "bar_names", "value": [visible(name) for name in names]}]
    colour = spec["encoding"]["color"]
    colour["scale"] = {
        "domain": list(rows),
        "range": [first, palette.BAR] if len(rows) == 2 else [palette.BAR],
    }
    if len(rows) == 1:
        colour["legend"] = None
    return Chart(frame, spec, title)


ZERO_LINE = {"condition": {"test": "datum.value === 0", "value": 0.9}, "value": 0.2}


@template("pad")
def _template(n_rows: int) -> alt.Chart:
    quiet = {"domain": False}
    place = dict(
        x=alt.X(
            "place:O",
            title=None,
            axis=alt.Axis(labelAngle=-45, labelOverlap=False, labelLimit=92, ticks=False, **quiet),
        ),
        y=alt.Y(
            "value:Q",
            title=None,
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(tickCount=4, gridColor=palette.MUTED, gridOpacity=ZERO_LINE, **quiet),
        ),
        color=alt.Color("row:N", legend=alt.Legend(orient="top", title=None)),
        **({"xOffset": alt.XOffset("row:N", sort=None)} if n_rows == 2 else {}),
    )
    place["tooltip"] = tips(("name:N", "token"), ("row:N", " "), ("value:Q", None, ".4f"))
    return blank().mark_bar(cornerRadiusEnd=2).encode(**place).properties(height=150)
