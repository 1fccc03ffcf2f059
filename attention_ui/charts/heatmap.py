"""A tensor as a heatmap: rows, columns, a number in every cell while it can be read.

The chart is authored in Altair and compiled once (template.py); a rerun fills in data, labels and
sizes. That costs a tenth of building it anew (see NOTES.md, "Charts").
"""

from copy import deepcopy
from functools import lru_cache

from attention_core.trace import Trace

from ..picture import palette
from ..picture.forbidden import forbidden, leak_limit
from ..picture.matrix import Matrix, heads_of, names_along
from ..picture.scale import Scale, limit
from .cells import cells
from .chart import Chart
from .fit import TITLED, band_above, fitting, room_before
from .head_marks import mark_heads
from .sizes import (
    BAR_WIDTH,
    BELOW,
    OPERATOR_FONTS,
    OPERATOR_ROOM,
    CellSize,
    is_slanted,
    labelled_every,
)
from .template import name_of, template

NUMBERED = [f"d{place}" for place in range(64)]
"""The labels of an axis whose places have no names of their own."""
ONE = ("row", "one")
"""The axes of a row's one number, which needs no label."""


def heatmap(
    trace: Trace,
    matrix: Matrix,
    size: CellSize,
    operator: str = "",
    band: int | None = None,
    scale: Scale | None = None,
) -> Chart:
    """Draw one matrix; `operator` stands before it, `band` is the room above its cells, `scale` is
    that of its equation.

    Matrices that stand in one row are given the same `band`, so that their cells are centred on
    one line and the operators with them.
    """
    size = fitting(matrix, size)
    row_names, column_names = names_along(trace, matrix)
    heads = heads_of(trace, matrix)
    spec = _filled(
        tuple(row_names),
        tuple(column_names),
        matrix.axes,
        matrix.name + ("ᵀ" if matrix.transposed else ""),
        matrix.row_labels,
        matrix.column_labels,
        matrix.as_bars,
        size,
        operator,
        band if band is not None else band_above(trace, matrix, size),
        (bool(heads[0]), bool(heads[1])),
        forbidden(matrix) is not None,
    )
    scale = scale or Scale(limit(matrix), leak_limit([matrix]))
    return Chart(cells(matrix, size.font > 0, heads, scale, size), spec, describe(matrix))


@lru_cache(maxsize=128)
def _filled(
    row_names: tuple[str, ...],
    column_names: tuple[str, ...],
    axes: tuple[str, str],
    title: str,
    row_labels: bool,
    column_labels: bool,
    as_bars: bool,
    size: CellSize,
    operator: str,
    band: int,
    has_heads: tuple[bool, bool],
    is_masked: bool,
) -> dict:
    """The template with labels, titles and sizes. Kept, since a slider rarely changes them."""
    row_axis, column_axis = axes
    n_rows, n_columns = len(row_names), len(column_names)
    left = OPERATOR_ROOM if operator else 0
    if row_labels:
        left += room_before(row_names, row_axis)
    spec = deepcopy(template(size.font > 0, as_bars))
    spec |= {
        "width": BAR_WIDTH if as_bars else {"step": size.width},
        "height": {"step": size.height},
        "autosize": {"type": "pad"},
        "padding": {"left": 2, "top": 2, "right": 6, "bottom": BELOW},
        "title": _title(title, _shape(axes)),
    }
    values = {"row_names": _given(row_names), "column_names": _given(column_names)}
    for parameter in spec["params"]:
        if parameter["name"] in values:
            parameter["value"] = values[parameter["name"]]
    *layers, operator_layer = spec["layer"]
    every = labelled_every(column_axis, n_columns, size)
    slant = (
        {"labelAngle": -45, "labelAlign": "left"} if is_slanted(column_names, size, every) else {}
    )
    if every > 1:
        slant["labelExpr"] = f"datum.value % {every} == 0 ? {name_of('column')} : ''"
    across, down = (spec["encoding"][side]["axis"] for side in "xy")
    across |= {
        "title": (_axis_title(column_axis) or " ") if column_labels else None,
        "labelAngle": 0,
        "minExtent": band,
        "maxExtent": band,
        **slant,
        **({"labels": False} if as_bars or not column_labels or column_axis in ONE else {}),
    }
    down |= {
        "title": _axis_title(row_axis) if row_labels else None,
        "labels": row_labels,
        "labelFontSize": min(12, size.height * (every := labelled_every(row_axis, n_rows, size))),
    }
    if every > 1:
        down["labelExpr"] = f"datum.value % {every} == 0 ? {name_of('row')} : ''"
    if size.font:
        layers[-2]["mark"]["fontSize"] = size.font  # the last one draws the outlines
    operator_layer["mark"] |= {"text": operator, "fontSize": OPERATOR_FONTS.get(operator, 26)}
    operator_layer["encoding"]["x"]["value"] = OPERATOR_ROOM // 2 - left
    for tip, axis in zip(layers[0]["encoding"]["tooltip"], axes, strict=False):
        tip["title"] = axis or title
    mark_heads(spec, *has_heads)
    if is_masked:
        mark_forbidden(spec)
    return spec


def describe(matrix: Matrix) -> str:
    """A sentence for those who cannot see the chart.

    No number stands in it: the browser builds a chart anew where its words change, which takes
    twice as long as drawing other cells. *Tensors as tables* reads the numbers out.
    """
    rows, columns = matrix.axes
    where = f"rows are {rows or 'entries'}" + (f", columns are {columns}" if columns else "")
    if matrix.axes == ("", ""):
        where = "its shape is asked for"
    turned = ", transposed" if matrix.transposed else ""
    covered = " Its numbers are covered by a question." if matrix.covered else ""
    return f"Heatmap of {matrix.name}{turned}: {where}.{covered}"


def _axis_title(axis: str) -> str | None:
    return _said(axis).strip() if axis in TITLED else None


def _said(axis: str) -> str:
    """What an axis is called in a picture, with a blank behind it; '' for that of one number."""
    called = {"one": "", "other_key": "source "}
    return called.get(axis, f"{axis} ")


def _given(names: tuple[str, ...]) -> list[str]:
    """The labels; none for numbered ones, which the chart counts, so that a width can grow."""
    return [] if names == tuple(NUMBERED[: len(names)]) else list(names)


def _shape(axes: tuple[str, str]) -> str:
    """The shape in words, `query 6 × key 6` or `token 6`, as an expression: it counts the cells
    that are drawn, so that another width does not make another specification.
    """
    named = [
        f"'{_said(axis)}' + domain('{side}').length"
        for axis, side in zip(axes, "yx", strict=True)
        if axis
    ]
    return " + ' × ' + ".join(named) or "'shape: ?'"


def _title(name: str, shape: str) -> dict:
    # Vega-Lite hands an expression on for any part of a title, though its schema names `text` only.
    return {
        "text": name,
        "subtitle": {"expr": shape},
        "anchor": "start",
        "frame": "group",
        "limit": 480,  # else it is cut to the width of the first picture, also when that grows
        "offset": 6,
        "fontSize": 12,
        "fontWeight": 600,
        "subtitleFontSize": 11,
        "subtitleColor": palette.MUTED,
        "subtitlePadding": 1,
    }


def mark_forbidden(spec: dict) -> None:
    """Add the outline of the forbidden region to a compiled heatmap, before its operator."""
    spec["layer"].insert(
        -1,
        {
            "transform": [{"filter": "datum.region"}],
            "mark": {
                "type": "point",
                "filled": False,
                "size": 4,  # draws the path in pixels, as it is written
                "aria": False,
                "stroke": palette.FORBIDDEN,
                "strokeWidth": 1.6,
                "strokeCap": "round",
            },
            "encoding": {
                "x": {"value": -0.5},
                "y": {"value": -0.5},
                "shape": {"field": "region", "type": "nominal", "scale": None},
            },
        },
    )
