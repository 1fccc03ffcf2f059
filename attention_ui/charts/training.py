"""A training that can be watched: the loss, and matrices before and at a step, moved by one slider
of the chart's own, without the server.

A cell is one row of the table and each recorded step a column of it (`v0`, `v1` …), so that moving
the slider reads another column and nothing is filtered.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import torch
from torch import Tensor

from ..picture import palette
from .chart import Chart
from .live import MOST_MARKS

MOST_FRAMES = 40
MOST_NUMBERS = 160_000
"""At most so many numbers are sent: 640 kB. Fewer steps of large matrices are."""
ROOM, LARGEST, LEAST, HEIGHT = 330, 34, 4, 22
WRITTEN = 30
"""A cell this wide has its number."""
CURVE_HEIGHT = 96


@dataclass(frozen=True)
class Watched:
    """A matrix at each step: values (step, row, column), the names of its rows and columns, none
    for numbered ones, the cells to outline, and those that a mask hides.
    """

    name: str
    values: Tensor
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    outlined: frozenset[tuple[int, int]] = frozenset()
    hidden: frozenset[tuple[int, int]] = frozenset()
    is_shares: bool = False


def frames_of(n_records: int, n_cells: int) -> list[int]:
    """Which records are shown: the first, the last, and as many between as there is room for."""
    n_frames = min(n_records, MOST_FRAMES, max(2, MOST_NUMBERS // max(n_cells, 1)))
    if n_frames < 2:
        return list(range(n_frames))
    return [round(at * (n_records - 1) / (n_frames - 1)) for at in range(n_frames)]


def watch_training(steps: Sequence[int], losses: Sequence[float], each: Sequence[Watched]) -> Chart:
    """The chart: `steps` and `losses` of the frames, and the matrices that move with them."""
    last = len(steps) - 1
    tables = [_curve_table(steps, losses)]
    tables += [_table(at, matrix) for at, matrix in enumerate(each)]
    marks = 2 * sum(table.num_rows for table in tables)
    names = []
    for at, matrix in enumerate(each):
        names += [
            {"name": f"rows_{at}", "value": list(matrix.rows)},
            {"name": f"columns_{at}", "value": list(matrix.columns)},
        ]
    slider = {
        "input": "range",
        "min": 0,
        "max": last,
        "step": 1,
        "name": "Move through the training ",
    }
    return Chart(
        pa.concat_tables(tables, promote_options="default"),
        {
            "vconcat": [
                _curve(steps, losses),
                *(
                    {
                        "hconcat": [_matrix(at, matrix, now) for now in (False, True)],
                        "spacing": 18,
                    }
                    for at, matrix in enumerate(each)
                ),
            ],
            "spacing": 12,
            "params": [
                {"name": "at", "value": last, "bind": slider},
                {"name": "steps", "value": list(steps)},
                {"name": "losses", "value": list(losses)},
                *names,
            ],
            "resolve": {"scale": {"x": "independent", "y": "independent"}},
            "autosize": {"type": "pad"},
            "padding": {"left": 2, "top": 2, "right": 6, "bottom": 2},
            "usermeta": {"embedOptions": {"renderer": "svg" if marks <= MOST_MARKS else "canvas"}},
        },
        f"The loss over {steps[-1]:,} steps, and {', '.join(m.name for m in each)} before training "
        "and at the recorded step of the slider.",
    )


def _curve_table(steps: Sequence[int], losses: Sequence[float]) -> pa.Table:
    return pa.table(
        {
            "matrix": pa.array([-1] * len(steps), pa.int8()),
            "row": pa.array(range(len(steps)), pa.int16()),
            "step": pa.array(list(steps), pa.int32()),
            "loss": pa.array(list(losses), pa.float64()),
        }
    )


def _table(at: int, matrix: Watched) -> pa.Table:
    """A row for each cell: where it is, how it is marked, and its value at each step."""
    _, n_rows, n_columns = matrix.values.shape
    places = [(row, column) for row in range(n_rows) for column in range(n_columns)]
    limit = 1.0 if matrix.is_shares else matrix.values.abs().max().item() or 1.0
    table = {
        "matrix": pa.array([at] * len(places), pa.int8()),
        "row": pa.array([row for row, _ in places], pa.int16()),
        "column": pa.array([column for _, column in places], pa.int16()),
        "outlined": pa.array([place in matrix.outlined for place in places]),
        "hidden": pa.array([place in matrix.hidden for place in places]),
        "limit": pa.array([limit] * len(places), pa.float32()),
    }
    values = matrix.values.to(torch.float32).flatten(1)
    table |= {f"v{frame}": pa.array(numbers.numpy()) for frame, numbers in enumerate(values)}
    return pa.table(table)


def _curve(steps: Sequence[int], losses: Sequence[float]) -> dict:
    drawn = [loss for loss in losses if loss > 0] or [0.1, 1.0]
    ends = [min(drawn), max(drawn)] if min(drawn) < max(drawn) else [drawn[0] / 2, drawn[0] * 2]
    powers = [10.0**power for power in range(-9, 10) if ends[0] <= 10.0**power <= ends[1]]
    quiet = {"gridColor": palette.MUTED, "gridOpacity": 0.2, "domain": False, "ticks": False}
    x = {
        "field": "step",
        "type": "quantitative",
        "scale": {"domain": [0, max(*steps, 1)]},
        "axis": {"title": None, "tickCount": 5, "format": ",d", **quiet},
    }
    y = {
        "field": "loss",
        "type": "quantitative",
        "scale": {"type": "log", "domain": ends},
        "axis": {"title": "loss", "values": powers, "format": "~g", **quiet},
    }
    here = "'step ' + format(steps[at], ',') + ', loss ' + format(losses[at], '.4~f')"
    return {
        "name": "loss",
        "width": 2 * ROOM,
        "height": CURVE_HEIGHT,
        "title": {"text": {"expr": here}, "anchor": "start", "fontSize": 14},
        "transform": [{"filter": "datum.matrix === -1 && datum.loss > 0"}],
        "encoding": {"x": x, "y": y},
        "layer": [
            {"mark": {"type": "line", "color": palette.BAR, "strokeWidth": 2, "aria": False}},
            {
                "transform": [{"filter": "datum.row === at"}],
                "mark": {
                    "type": "point",
                    "filled": True,
                    "size": 120,
                    "opacity": 1,
                    "color": palette.CHOSEN,
                    "aria": False,
                },
            },
        ],
    }


def _matrix(at: int, matrix: Watched, now: bool) -> dict:
    """One matrix, before training or at the step of the slider."""
    _, n_rows, n_columns = matrix.values.shape
    width = max(LEAST, min(LARGEST, ROOM // n_columns))
    height = max(LEAST, min(HEIGHT, 2 * ROOM // (3 * n_rows)))
    frame = "at" if now else "0"
    when = "'at step ' + format(steps[at], ',')" if now else "'before training'"
    shade = "datum.value / datum.limit"
    if matrix.is_shares:
        shade = f"sqrt({shade})"

    def axis(side: str, size: int, names: Sequence[str]) -> dict:
        label = f"{side}_{at}[datum.value]" if names else "'d' + datum.value"
        return {
            "title": None,
            "labelExpr": label,
            "labels": size > 11 and (side == "columns" or not now),
            "labelOverlap": not names,
            "labelLimit": 92,
            **({} if side == "columns" else {"labelBaseline": "middle"}),
            "labelAngle": -45 if side == "columns" and names else 0,
            "domain": False,
            "ticks": False,
            "grid": False,
            "orient": "top" if side == "columns" else "left",
        }

    rows, columns = axis("rows", height, matrix.rows), axis("columns", width, matrix.columns)
    if columns["labelAngle"]:
        columns["labelAlign"] = "left"
    gap = {"paddingInner": 0.04, "paddingOuter": 0}
    ends = {"domain": [-1, 0, 1], "range": [palette.FULL, palette.FAINT, palette.FULL]}

    def place_of(names: str, place: str) -> str:
        return f"isValid({names}[{place}]) ? {names}[{place}] : 'd' + {place}"

    text = f"datum.hidden ? '·' : replace(format(datum.value, '.2f'), '-', '{chr(0x2212)}')"
    layers = [
        {
            "name": f"{'now' if now else 'before'}_{at}",
            "mark": {"type": "rect", "cornerRadius": 2, "aria": False},
            "encoding": {
                "fill": {
                    "condition": {"test": "datum.shade < 0", "value": palette.NEGATIVE},
                    "value": palette.POSITIVE,
                },
                "fillOpacity": {
                    "field": "shade",
                    "type": "quantitative",
                    "scale": ends,
                    "legend": None,
                },
                "tooltip": [
                    {"field": "row_name", "type": "nominal", "title": "row"},
                    {"field": "column_name", "type": "nominal", "title": "column"},
                    {"field": "v0", "type": "quantitative", "title": "before", "format": ".4~f"},
                    {"field": "now", "type": "quantitative", "title": "now", "format": ".4~f"},
                ],
            },
        }
    ]
    if width >= WRITTEN:
        layers.append(
            {
                "transform": [{"calculate": text, "as": "text"}],
                "mark": {"type": "text", "fontSize": 11, "aria": False, "color": palette.INK},
                "encoding": {"text": {"field": "text", "type": "nominal"}},
            }
        )
    if matrix.outlined:
        layers.append(
            {
                "name": f"targets_{'now' if now else 'before'}_{at}",
                "transform": [{"filter": "datum.outlined"}],
                "mark": {
                    "type": "rect",
                    "filled": False,
                    "aria": False,
                    "cornerRadius": 2,
                    "stroke": palette.CHOSEN,
                    "strokeWidth": 2,
                    "tooltip": None,
                },
            }
        )
    return {
        "width": {"step": width},
        "height": {"step": height},
        "view": {"stroke": None},
        "title": {
            "text": matrix.name,
            "subtitle": {"expr": when},
            "anchor": "start",
            "frame": "group",
            "fontSize": 12,
            "subtitleColor": palette.MUTED,
        },
        "transform": [
            {"filter": f"datum.matrix === {at}"},
            {"calculate": f"datum['v' + {frame}]", "as": "value"},
            {"calculate": "datum['v' + at]", "as": "now"},
            {"calculate": shade, "as": "shade"},
            {"calculate": place_of(f"rows_{at}", "datum.row"), "as": "row_name"},
            {"calculate": place_of(f"columns_{at}", "datum.column"), "as": "column_name"},
        ],
        "encoding": {
            "x": {"field": "column", "type": "ordinal", "axis": columns, "scale": gap},
            "y": {"field": "row", "type": "ordinal", "axis": rows, "scale": gap},
        },
        "layer": layers,
    }
