"""What each part of a network brought to a number: bars from sum to sum, last the number."""

from collections.abc import Sequence
from itertools import accumulate

import altair as alt
import pandas as pd

from ...charts.chart import Chart
from ...charts.template import QUIET, blank, template, tips
from ...picture import palette
from ...words import percent, signed

STEP = 19
LOST = 0.5
"""A part without which less than so much of the chance is left is marked."""
ROOM = 1.45
"""So much of the longest bar the chart is wide: what stands behind a bar has room."""


def brought(
    names: Sequence[str],
    amounts: Sequence[float],
    without: Sequence[float | None],
    chance: float,
    total: str,
    words: str,
) -> Chart:
    """A bar a part, from sum to sum, the `total` last; beside it the `chance` left without it."""
    ends = list(accumulate(amounts))
    rows = [
        {"place": place, "name": name, "amount": amount, "from": end - amount, "to": end}
        for place, (name, amount, end) in enumerate(zip(names, amounts, ends, strict=True))
    ]
    whole = {"name": total, "amount": ends[-1], "from": 0.0, "to": ends[-1]}
    frame = pd.DataFrame([*rows, {"place": len(rows), **whole}])
    frame["is_sum"] = frame["place"] == len(rows)
    frame["without"] = [*without, None]
    left = frame["without"].astype(float)
    frame["is_needed"] = left < LOST * chance
    told = ["" if pd.isna(each) else f" · {percent(each)}" for each in left]
    frame["text"] = [signed(one) + more for one, more in zip(frame["amount"], told, strict=True)]
    frame["right"] = frame[["from", "to"]].max(axis=1)
    spec = _template()
    spec["params"] = [{"name": "part_names", "value": [*names, total]}]
    low, high = float(frame[["from", "to"]].min().min()), float(frame["right"].max())
    for layer in spec["layer"]:
        layer["encoding"]["x"]["scale"] = {"domain": [min(low, 0.0), max(high, 0.1) * ROOM]}
    return Chart(frame, spec, words)


@template("fit-x")
def _template() -> alt.LayerChart:
    named = alt.Axis(
        # On a phone a head has no room for its name: the numbers would be cut.
        labelExpr="replace(part_names[datum.value],"
        " containerSize()[0] < 500 ? /^(head [0-9.]+) .*/ : /()/, '$1')",
        labelLimit=330,
        labelFlush=False,
        labelPadding=8,
        **QUIET,
    )
    base = blank().encode(
        y=alt.Y("place:O", title=None, axis=named, scale=alt.Scale(paddingInner=0.25))
    )
    grid = alt.Axis(
        tickCount=5,
        gridColor=palette.MUTED,
        gridOpacity={"condition": {"test": "datum.value === 0", "value": 0.9}, "value": 0.2},
        **QUIET,
    )
    # The sum is what the network says: the blue that it has above the other words too.
    colour = alt.when("datum.is_sum").then(alt.value(palette.BAR))
    # Not red: what lowers this word a little may be what the sentence cannot do without.
    colour = colour.when("datum.amount < 0").then(alt.value(palette.GREY))
    bars = base.mark_bar(aria=False, cornerRadius=2).encode(
        x=alt.X("from:Q", title=None, axis=grid),
        x2="to:Q",
        color=colour.otherwise(alt.value(palette.POSITIVE)),
        tooltip=tips(("name:N", " "), ("amount:Q", None, "+.4f")),
    )
    numbers = base.mark_text(align="left", dx=6, fontSize=12, aria=False).encode(
        x="right:Q",
        text="text:N",
        color=alt.when("datum.is_needed")
        .then(alt.value(palette.CHOSEN))
        .otherwise(alt.value(palette.INK)),
    )
    return alt.layer(bars, numbers).properties(width="container", height=alt.Step(STEP))
