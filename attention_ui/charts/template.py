"""The compiled specifications of heatmaps and of bars in their rows, authored in Altair."""

from functools import lru_cache

import altair as alt

from ..picture import palette
from .sizes import BAR_WIDTH, LABEL_ROOM

QUIET = {
    "labelOverlap": False,
    "labelFlush": False,
    "titleFontWeight": "normal",
    "titleFontSize": 12,
    "labelFontSize": 12,
    "labelLimit": LABEL_ROOM,
    "domain": False,
    "ticks": False,
    "grid": False,
}


def name_of(side: str, place: str = "datum.value") -> str:
    """The expression for a label of the rows or columns ("row", "column"): its name, or `d0`,
    `d1` ... where the places of the axis have none, so that a width can grow.
    """
    name = f"{side}_names[{place}]"
    return f"isValid({name}) ? {name} : 'd' + {place}"


ROWS = alt.Y(
    "row:O",
    axis=alt.Axis(labelExpr=name_of("row"), labelBaseline="middle", labelPadding=6, **QUIET),
    scale=alt.Scale(paddingInner=0.04, paddingOuter=0),
)


@lru_cache
def template(numbers: bool, bars: bool) -> dict:
    """Cells or bars, with numbers or without, outlines, and last the operator before them.

    The labels of rows and columns are parameters of the specification, never part of an
    expression: they may hold a person's text.
    """
    columns = alt.Axis(
        orient="top",
        labelExpr=name_of("column"),
        titlePadding=2,
        labelPadding=4,
        **QUIET,
    )
    cell = {
        "x": alt.X("column:O", axis=columns, scale=alt.Scale(paddingInner=0.04, paddingOuter=0)),
        "y": ROWS,
    }
    length = {
        "x": alt.X("value:Q", axis=columns, scale=alt.Scale(domain=[0, 1], range=[0, BAR_WIDTH])),
        "y": ROWS,
    }
    place = length if bars else cell
    names = [alt.param(name="row_names", value=[]), alt.param(name="column_names", value=[])]
    chosen = alt.selection_point(
        name="cell", fields=["row", "column"], toggle=False, on="click", clear=False, empty=False
    )
    strength = alt.Opacity("strength:Q", scale=None)
    base = alt.Chart(alt.Data(values=[]))
    named = base.transform_calculate(
        row_name=name_of("row", "datum.row"), column_name=name_of("column", "datum.column")
    )
    loud = alt.when("datum.loud").then(alt.value(palette.CHOSEN))
    sign = loud.when("datum.shade < 0").then(alt.value(palette.NEGATIVE))
    ends = alt.Scale(domain=[-1, 0, 1], range=[palette.FULL, palette.FAINT, palette.FULL])
    depth = alt.FillOpacity("shade:Q", scale=ends, legend=None)
    look = {"cornerRadius": 3, "cursor": "pointer", "aria": False}
    # A bar can be too short to be pointed at, so its cell is the whole of its row.
    whole_row = {"x": alt.value(0), "x2": alt.value(BAR_WIDTH)} if bars else {}
    cells = (
        named.mark_rect(**look)
        .encode(
            **whole_row,
            color=sign.otherwise(alt.value(palette.POSITIVE)),
            fillOpacity=alt.value(0) if bars else depth,
            opacity=strength,
            tooltip=[
                alt.Tooltip("row_name:N"),
                alt.Tooltip("column_name:N"),
                alt.Tooltip("value:Q", title="number", format=".6~f"),
            ],
        )
        .add_params(chosen)
    )
    layers = [cells]
    if bars:
        layers.append(
            base.mark_bar(cornerRadius=3, aria=False).encode(
                color=alt.value(palette.BAR), opacity=strength
            )
        )
    if numbers:
        ink = alt.value(palette.MUTED if bars else palette.INK)
        after = {"align": "left", "dx": 5} if bars else {}
        layers.append(
            base.mark_text(cursor="pointer", aria=False, **after).encode(
                text="text:N", color=ink, opacity=strength
            )
        )
    outlined = base.transform_filter("datum.outline > 0")
    outline = {"cornerRadius": 3, "stroke": palette.CHOSEN, "aria": False, "filled": False}
    layers.append(
        (outlined.mark_bar(**outline) if bars else outlined.mark_rect(**outline)).encode(
            strokeWidth=alt.StrokeWidth("outline:Q", scale=None)
        )
    )
    operator = (
        alt.Chart(alt.Data(values=[{}]))
        .mark_text(fontSize=26, text="", aria=False, color=palette.MUTED)
        .encode(x=alt.value(0), y=alt.value(alt.expr("height / 2")))
    )
    chart = alt.layer(*layers, operator).encode(**place)  # said once, for all layers
    return without_data(chart.add_params(*names).to_dict())


def without_data(spec: dict) -> dict:
    """Drop the empty data that a template was authored with: Streamlit sends the real one apart."""
    spec.pop("datasets", None)
    spec.pop("data", None)
    for layer in spec.get("layer", []):
        if layer.get("data", {}).get("values") == []:
            del layer["data"]
    return spec
