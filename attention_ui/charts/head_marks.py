"""Thin coloured bands that say which head the rows and columns of a matrix belong to."""

from functools import lru_cache

import altair as alt

from ..picture import palette

NEAR, FAR = 2, 6
"""How far a band is from the cells, in pixels, on its near and on its far side."""


def mark_heads(spec: dict, rows: bool, columns: bool) -> None:
    """Add the bands of rows, of columns or of both to a compiled heatmap, before its operator.

    A cell's data says which heads its row (`row_head`) and its column (`column_head`) belong to.
    The labels of that side move away to make room for the band.
    """
    for marked, side in ((rows, "y"), (columns, "x")):
        if not marked:
            continue
        spec["encoding"][side]["axis"]["labelPadding"] += FAR
        spec["layer"].insert(-1, _template(across=side == "x"))


@lru_cache(maxsize=2)
def _template(across: bool) -> dict:
    """A band above the columns, or left of the rows.

    Its colour is a `fill`: as `color` it would get into the scale of the cells.
    """
    along, other = ("column", "row") if across else ("row", "column")
    place = (alt.X if across else alt.Y)(f"{along}:O")
    near, far = (alt.value(-NEAR), alt.value(-FAR))
    sides = {"x": place, "y": far, "y2": near} if across else {"y": place, "x": far, "x2": near}
    chart = (
        alt.Chart(alt.Data(values=[]))
        .transform_filter(f"datum.{other} === 0")
        .transform_calculate(colour=f"{palette.HEADS}[datum.{along}_head % {len(palette.HEADS)}]")
        .mark_rect(aria=False)
        .encode(**sides, fill=alt.Fill("colour:N", scale=None))
    )
    return {name: chart.to_dict()[name] for name in ("transform", "mark", "encoding")}
