"""A few amounts as bars that lie, each with its name before it and its size in words behind it."""

from collections.abc import Sequence
from copy import deepcopy
from functools import lru_cache

import altair as alt
import pandas as pd

from ...charts.chart import Chart, without_data
from ...picture import palette

STEP = 30


def amounts(
    names: Sequence[str], sizes: Sequence[float], texts: Sequence[str], chosen: int, title: str
) -> Chart:
    """A bar for each amount, on one scale from 0 to the largest; that at the place `chosen` in
    colour. `texts` say each in words, with its unit.
    """
    most = max(*sizes, 0) or 1.0
    frame = pd.DataFrame(
        {
            "place": range(len(names)),
            "name": list(names),
            "share": [size / most for size in sizes],
            "text": list(texts),
            "chosen": [place == chosen for place in range(len(names))],
        }
    )
    spec = deepcopy(_template())
    spec["params"] = [{"name": "amount_names", "value": list(names)}]
    told = "; ".join(f"{name}: {text}" for name, text in zip(names, texts, strict=True))
    return Chart(frame, spec, f"{title}. {told}.")


@lru_cache(maxsize=1)
def _template() -> dict:
    quiet = {"domain": False, "ticks": False, "labelFontSize": 12}
    named = alt.Axis(labelExpr="amount_names[datum.value]", labelLimit=230, labelPadding=8, **quiet)
    base = alt.Chart(alt.Data(values=[])).encode(
        y=alt.Y("place:O", title=None, axis=named, scale=alt.Scale(paddingInner=0.3)),
        # Room for the words behind the longest bar, also on a narrow page.
        x=alt.X("share:Q", title=None, axis=None, scale=alt.Scale(domain=[0, 1.45])),
    )
    colour = alt.when("datum.chosen").then(alt.value(palette.BAR))
    bars = base.mark_bar(aria=False, cornerRadiusEnd=2, minBandSize=3).encode(
        color=colour.otherwise(alt.value(palette.GREY))
    )
    words = base.mark_text(align="left", dx=6, fontSize=12, aria=False, color=palette.INK)
    chart = alt.layer(bars, words.encode(text="text:N")).properties(
        width="container", height=alt.Step(STEP)
    )
    return without_data(chart.to_dict()) | {"autosize": {"type": "fit-x", "contains": "padding"}}
