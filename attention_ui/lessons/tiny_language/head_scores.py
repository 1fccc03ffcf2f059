"""What each head does: its score for each kind."""

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from ...charts.chart import Chart
from ...charts.template import blank, template, tips
from ...picture import palette

STEP = 23


def head_scores(
    heads: Sequence[str],
    scores: Mapping[str, Sequence[float]],
    before: Mapping[str, Sequence[float]],
    bar: float,
) -> Chart:
    """A row a head, a column a kind; outlined from the `bar` on, `before` under the pointer."""
    rows = [
        {
            "row": row,
            "head": head,
            "kind": kind,
            "score": score,
            "shade": score**0.5 * palette.FULL,
            "before": before[kind][row],
            "is_named": score >= bar,
        }
        for kind, each in scores.items()
        for row, (head, score) in enumerate(zip(heads, each, strict=True))
    ]
    spec = _scores()
    spec["params"] = [{"name": "head_names", "value": list(heads)}]
    return Chart(pd.DataFrame(rows), spec, f"Scores of {len(heads)} heads for {len(scores)} kinds.")


@template("pad")
def _scores() -> alt.LayerChart:
    quiet = {"domain": False, "ticks": False, "labelFontSize": 12, "labelPadding": 6}
    quiet |= {"labelOverlap": False, "labelFlush": False}
    side = alt.Axis(
        labelExpr="head_names[datum.value]", labelBaseline="middle", labelLimit=330, **quiet
    )
    above = alt.Axis(orient="top", labelAngle=-45, labelLimit=160, **quiet)
    gaps = alt.Scale(paddingInner=0.06, paddingOuter=0)
    base = blank().encode(
        y=alt.Y("row:O", title=None, axis=side, scale=gaps),
        x=alt.X("kind:N", title=None, sort=None, axis=above, scale=gaps),
    )
    outline = alt.when("datum.is_named").then(alt.value(palette.CHOSEN))
    cells = base.mark_rect(cornerRadius=3, aria=False, strokeWidth=2).encode(
        color=alt.value(palette.POSITIVE),
        fillOpacity=alt.FillOpacity("shade:Q", scale=None),
        stroke=outline.otherwise(alt.value("transparent")),
        tooltip=tips(
            ("head:N",),
            ("kind:N", "looks for"),
            ("score:Q", "share of its weight", ".2f"),
            ("before:Q", "before training", ".2f"),
        ),
    )
    numbers = base.mark_text(fontSize=12, aria=False, color=palette.INK).encode(
        text=alt.Text("score:Q", format=".2f")
    )
    chart = alt.layer(cells, numbers).properties(width=alt.Step(48), height=alt.Step(STEP))
    return chart
