"""The compiled specification of a residual stream, authored in Altair."""

import altair as alt

from ...charts.template import blank, template, tips
from ...picture import palette

WIDE, HEAD = 800, 50
"""The length of the stream, and the room of the words above it."""
NARROW = "width < 560"
"""Where only the short names have room, and no number."""


@template("fit")
def stream_template() -> alt.LayerChart:
    """Ribbons, bands, strips of cells, words above, and what the pointer finds."""
    base = blank()
    axis = alt.Axis(
        labelExpr="lane_names[floor(datum.value)]",
        domain=False,
        ticks=False,
        grid=False,
        labelFontSize=12,
        labelPadding=8,
        labelLimit=92,
        labelOverlap=False,
        title=None,
    )
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, WIDE], nice=False, zero=False), axis=None)
    y = alt.Y(
        "y:Q", scale=alt.Scale(domain=[1, 0], nice=False, zero=False, reverse=True), axis=axis
    )
    over = alt.selection_point(
        name="over", fields=["lane"], on="pointerover", clear="pointerout", empty=True
    )
    sign = alt.when("datum.amount < 0").then(alt.value(palette.NEGATIVE))
    colour = sign.otherwise(alt.value(palette.POSITIVE))
    bright = alt.when(over)

    def of(kind: str) -> alt.Chart:
        return base.transform_filter(f"datum.kind === '{kind}'")

    bands = of("band").mark_rect(
        aria=False, cornerRadius=5, filled=False, stroke=palette.MUTED, strokeOpacity=0.6
    )
    ribbons = of("ribbon").mark_area(aria=False, interpolate="monotone", orient="vertical")
    cells = (
        of("cell")
        .transform_calculate(
            top="datum.y + min(0.06, 1 / lane_height)",
            bottom="datum.y2 - min(0.06, 1 / lane_height)",
        )
        .mark_rect(aria=False, cornerRadius=alt.expr("lane_height < 12 ? 1 : 3"))
    )
    numbers = (
        of("cell")
        .transform_filter("datum.text")
        .transform_calculate(middle="datum.lane + 0.5", centre="(datum.x + datum.x2) / 2")
    )
    ends = alt.Scale(domain=[-1, 0, 1], range=[palette.FULL, palette.FAINT, palette.FULL])
    places = {"x": alt.X("x:Q"), "x2": "x2:Q", "y": alt.Y("y:Q"), "y2": "y2:Q"}
    text = {"aria": False, "fontSize": 12}
    said = {"calculate": f"{NARROW} ? datum.short : datum.text"}
    labels = {
        "station": (HEAD - 10, {"color": palette.MUTED}),
        "part": (9, {"fontWeight": "bold"}),
        "told": (24, {"color": palette.MUTED}),
    }
    chart = alt.layer(
        ribbons.encode(
            x=alt.X("x:Q"),
            y=alt.Y("y:Q"),
            y2="y2:Q",
            detail=["group:N", "lane:O"],
            color=colour,
            opacity=bright.then(alt.value(0.5)).otherwise(alt.value(0.14)),
        ),
        bands.encode(**places),
        cells.encode(
            x=alt.X("x:Q"),
            x2="x2:Q",
            y=alt.Y("top:Q"),
            y2="bottom:Q",
            color=colour,
            fillOpacity=alt.FillOpacity("amount:Q", scale=ends, legend=None),
            opacity=bright.then(alt.value(1)).otherwise(alt.value(0.35)),
        ),
        numbers.mark_text(
            aria=False, fontSize=11, color=palette.INK, opacity=alt.expr(f"{NARROW} ? 0 : 1")
        ).encode(x=alt.X("centre:Q"), y=alt.Y("middle:Q"), text="text:N"),
        *(
            of(kind)
            .transform_calculate(said=said["calculate"])
            .mark_text(**{**text, "color": palette.INK, **look})
            .encode(x=alt.X("x:Q"), y=alt.value(top), text="said:N")
            for kind, (top, look) in labels.items()
        ),
        of("lane")
        .mark_rect(aria=False, fillOpacity=0)
        .encode(**places, color=alt.value(palette.MUTED), tooltip=tips(("text:N", " ")))
        .add_params(over),
    )
    chart = chart.encode(x=x, y=y).properties(width="container", height=100)
    names = [alt.param(name="lane_names", value=[]), alt.param(name="lane_height", value=1)]
    return chart.add_params(*names)
