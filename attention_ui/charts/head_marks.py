"""Thin coloured bands that say which head the rows and columns of a matrix belong to."""

from functools import lru_cache

import altair as alt

from .. import palette

Marks = tuple[int, ...]
"""The head of each row, or of each column; () for none."""
NEAR, FAR = 2, 6
"""How far a band is from the cells, in pixels, on its near and on its far side."""


def mark_heads(spec: dict, rows: Marks, columns: Marks) -> None:
    """Add the bands to a compiled heatmap, behind its cells and before its operator.

    The labels of that side move away to make room for them.
    """
    for heads, across in ((rows, False), (columns, True)):
        if not heads:
            continue
        layer = dict(_template(across))
        layer["data"] = {
            "values": [
                {"place": place, "colour": palette.HEADS[head % len(palette.HEADS)]}
                for place, head in enumerate(heads)
            ]
        }
        side = "x" if across else "y"
        for cells in spec["layer"][:-1]:
            axis = cells["encoding"][side]["axis"]
            cells["encoding"][side] = {
                **cells["encoding"][side],
                "axis": {**axis, "labelPadding": axis["labelPadding"] + FAR},
            }
        spec["layer"].insert(-1, layer)


@lru_cache(maxsize=2)
def _template(across: bool) -> dict:
    """A band above the columns, or left of the rows.

    Its colour is a `fill`: as `color` it would get into the scale of the cells.
    """
    place = (alt.X if across else alt.Y)("place:O")
    near, far = (alt.value(-NEAR), alt.value(-FAR))
    sides = {"x": place, "y": far, "y2": near} if across else {"y": place, "x": far, "x2": near}
    chart = (
        alt.Chart(alt.Data(values=[]))
        .mark_rect(aria=False)
        .encode(**sides, fill=alt.Fill("colour:N", scale=None))
    )
    compiled = chart.to_dict()
    return {"mark": compiled["mark"], "encoding": compiled["encoding"]}
