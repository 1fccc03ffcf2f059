"""What came of each notebook's numbers: a bar a notebook, as wide for few numbers as for many."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import lru_cache

import altair as alt
import pandas as pd

from ...charts.chart import Chart, without_data
from ...picture import palette

STEP, BELOW = 34, 62
"""Pixels of a bar with its title, and of the legend."""
COLOURS = {
    "print": palette.BAR,
    "slack": palette.GONE,
    "older": palette.FED,
    "never": palette.GREY,
    "differs": palette.NEGATIVE,
    "pending": "#7F858D40",
}
MATCHING = ("print", "slack", "older")


def by_verdict(
    titles: Sequence[str], counts: Sequence[Mapping[str, int]], legend: Mapping[str, str]
) -> Chart:
    """A bar for each notebook, with the shares of its numbers of which each verdict is true, and
    how many match beside it. `legend` are the words for the verdicts; those that no number has
    are left out.
    """
    rows, told = [], []
    for place, (title, each) in enumerate(zip(titles, counts, strict=True)):
        total, end = sum(each.values()), 0
        matching = sum(each.get(name, 0) for name in MATCHING)
        text = f"{matching:,} of {total:,}"
        told.append(f"{title}: {text}")
        for name, words in legend.items():
            if count := each.get(name, 0):
                ends = {"from": end / total, "to": (end + count) / total}
                end += count
                row = {"place": place, "title": title, "verdict": words, "count": count, **ends}
                rows.append({**row, "text": text, "is_first": end == count})
    spec = deepcopy(_template()) | {"height": STEP * len(titles) + BELOW}
    used = {row["verdict"] for row in rows}
    known = {words: COLOURS[name] for name, words in legend.items() if words in used}
    for layer in spec["layer"]:
        if "color" in layer["encoding"] and "field" in layer["encoding"]["color"]:
            layer["encoding"]["color"]["scale"] = {"domain": [*known], "range": [*known.values()]}
    words = "Published numbers that come out again, by notebook. " + "; ".join(told) + "."
    return Chart(pd.DataFrame(rows), spec, words)


@lru_cache(maxsize=1)
def _template() -> dict:
    base = alt.Chart(alt.Data(values=[])).encode(
        y=alt.Y("place:O", axis=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))
    )
    below = {"yOffset": 7}
    legend = alt.Legend(orient="bottom", title=None, columns=3, labelLimit=160, symbolType="square")
    bars = base.mark_bar(size=14, aria=False, **below).encode(
        x=alt.X("from:Q", axis=None, scale=alt.Scale(domain=[0, 1])),
        x2="to:Q",
        color=alt.Color("verdict:N", legend=legend),
        tooltip=[
            alt.Tooltip("title:N", title=" "),
            alt.Tooltip("verdict:N", title=" "),
            alt.Tooltip("count:Q", title="numbers", format=","),
        ],
    )
    written = {"baseline": "middle", "dy": -8, "fontSize": 12, "aria": False}
    first = base.transform_filter("datum.is_first")
    title = first.mark_text(align="left", limit=290, color=palette.INK, **written)
    count = first.mark_text(align="right", color=palette.INK, **written)
    chart = alt.layer(
        bars,
        title.encode(x=alt.value(0), text="title:N"),
        count.encode(x=alt.value("width"), text="text:N"),
    )
    return without_data(chart.to_dict())
