"""What each part of a network brought to a number: bars that begin where the one before ended, and
last the number itself.
"""

from collections.abc import Sequence
from copy import deepcopy
from functools import lru_cache
from itertools import accumulate

import altair as alt
import pandas as pd

from ..picture import palette
from .chart import Chart
from .template import without_data

STEP = 24


def brought(names: Sequence[str], amounts: Sequence[float], total: str, words: str) -> Chart:
    """A bar a part, from where the parts above it end to where they end with it, and at the bottom
    their sum, called `total`.
    """
    ends = list(accumulate(amounts))
    rows = [
        {"place": place, "name": name, "amount": amount, "from": end - amount, "to": end}
        for place, (name, amount, end) in enumerate(zip(names, amounts, ends, strict=True))
    ]
    whole = {"name": total, "amount": ends[-1], "from": 0.0, "to": ends[-1]}
    frame = pd.DataFrame([*rows, {"place": len(rows), **whole}])
    frame["is_sum"] = frame["place"] == len(rows)
    frame["text"] = [f"{amount:+.2f}".replace("-", "−") for amount in frame["amount"]]
    frame["right"] = frame[["from", "to"]].max(axis=1)
    spec = deepcopy(_template())
    spec["params"] = [{"name": "part_names", "value": [*names, total]}]
    return Chart(frame, spec, words)


@lru_cache(maxsize=1)
def _template() -> dict:
    quiet = {"domain": False, "ticks": False, "labelFontSize": 12}
    named = alt.Axis(
        labelExpr="part_names[datum.value]",
        labelLimit=330,
        labelFlush=False,
        labelPadding=8,
        **quiet,
    )
    base = alt.Chart(alt.Data(values=[])).encode(
        y=alt.Y("place:O", title=None, axis=named, scale=alt.Scale(paddingInner=0.25)),
    )
    grid = alt.Axis(
        tickCount=5,
        gridColor=palette.MUTED,
        gridOpacity={"condition": {"test": "datum.value === 0", "value": 0.9}, "value": 0.2},
        **quiet,
    )
    colour = alt.when("datum.is_sum").then(alt.value(palette.CHOSEN))
    colour = colour.when("datum.amount < 0").then(alt.value(palette.NEGATIVE))
    bars = base.mark_bar(aria=False, cornerRadius=2).encode(
        x=alt.X("from:Q", title=None, axis=grid),
        x2="to:Q",
        color=colour.otherwise(alt.value(palette.POSITIVE)),
        tooltip=[alt.Tooltip("name:N", title=" "), alt.Tooltip("amount:Q", format="+.4f")],
    )
    numbers = base.mark_text(align="left", dx=6, fontSize=12, aria=False, color=palette.INK)
    chart = alt.layer(bars, numbers.encode(x="right:Q", text="text:N")).properties(
        width="container", height=alt.Step(STEP)
    )
    return without_data(chart.to_dict()) | {"autosize": {"type": "fit-x", "contains": "padding"}}
