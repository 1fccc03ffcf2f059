"""Amounts as bars that lie: each with its name above it, its size at its end, and in pieces."""

from collections.abc import Callable, Mapping, Sequence

import altair as alt
import pandas as pd

from ..picture import palette
from .chart import Chart
from .template import blank, template, tips

STEP = 34
"""Pixels of a bar with its name."""


def amounts(
    names: Sequence[str],
    pieces: Sequence[Mapping[str, float]],
    texts: Sequence[str],
    colours: Mapping[str, str],
    title: str,
    written: Callable[[float], str] = "{:,}".format,
) -> Chart:
    """A bar a name, of its `pieces` by kind on one scale; `texts` and `written` say sizes."""
    most = max(sum(each.values()) for each in pieces) or 1.0
    rows = []
    for place, (name, each, text) in enumerate(zip(names, pieces, texts, strict=True)):
        end = 0.0
        for kind in colours:
            if each.get(kind):
                begin, end = end, end + each[kind] / most
                told = {"place": place, "name": name, "text": text, "kind": kind}
                ends = {"from": begin, "to": end, "is_first": not begin}
                rows.append(told | ends | {"size": f"{kind}: {written(each[kind])}"})
    frame = pd.DataFrame(rows)
    spec = _template() | {"height": STEP * len(names)}
    used = {kind: colour for kind, colour in colours.items() if kind in {*frame["kind"]}}
    spec["layer"][0]["encoding"]["color"]["scale"] = {"domain": [*used], "range": [*used.values()]}
    told = "; ".join(f"{name}: {text}" for name, text in zip(names, texts, strict=True))
    return Chart(frame, spec, f"{title}. {told}.")


@template("fit-x")
def _template() -> alt.LayerChart:
    base = blank().encode(
        y=alt.Y("place:O", axis=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))
    )
    look = {"orient": "bottom", "title": None, "labelLimit": 280, "symbolType": "square"}
    legend = alt.Legend(columns=alt.expr("width < 560 ? 1 : 3"), **look)
    bars = base.mark_bar(size=14, aria=False, yOffset=7).encode(
        x=alt.X("from:Q", axis=None, scale=alt.Scale(domain=[0, 1])),
        x2="to:Q",
        color=alt.Color("kind:N", legend=legend),
        # Of lines of one title only the first would be shown.
        tooltip=tips(("name:N", "title"), ("size:N", " ")),
    )
    written = {"baseline": "middle", "dy": -8, "fontSize": 12, "aria": False}
    first = base.transform_filter("datum.is_first")
    name = first.mark_text(align="left", limit=290, color=palette.INK, **written)
    size = first.mark_text(align="right", color=palette.INK, **written)
    return alt.layer(
        bars,
        name.encode(x=alt.value(0), text="name:N"),
        size.encode(x=alt.value("width"), text="text:N"),
    )
