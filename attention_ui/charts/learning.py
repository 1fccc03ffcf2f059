"""Heads that learn, to be watched: losses, scores and the weights of all heads at a moment that one
slider of the chart's own moves, without the server.

A cell is one row of the table. Its weights at all moments are one text, three digits each: 81
columns of numbers took the browser as long as 80,000 more cells.
"""

from collections.abc import Sequence

import pyarrow as pa
import torch
from torch import Tensor

from ..picture import palette
from .chart import Chart
from .learning_run import LearningRun, Level, Panel

CURVE_WIDTH = 172
HEAD_WIDTH, LARGEST_CELL = 160, 10
CURVES = -1
"""What stands for the curves in the column that names a cell's head."""
MOVE = "Move through the training "
COLOURS = (palette.FED, palette.POSITIVE)
"""Of the words about the first and the second layer."""
FULL = 999
"""How a weight of 1 is written, in three digits."""
APART = {"resolve": {"scale": dict.fromkeys(("x", "y", "color"), "independent")}}
QUIET = {"gridColor": palette.MUTED, "gridOpacity": 0.2, "domain": False, "ticks": False}


def watch_heads(run: LearningRun) -> Chart:
    """The chart of a run."""
    slider = {"input": "range", "min": 0, "max": len(run.steps) - 1, "step": 1, "name": MOVE}
    params = {
        "steps": list(run.steps),
        "tokens": list(run.tokens),
        "appeared": -1 if run.appeared is None else run.appeared,
        "curve_labels": {
            f"{panel.name}_{at}": curve.label
            for panel in run.panels
            for at, curve in enumerate(panel.curves)
        },
        **{f"{panel.name}_title": _at_each(panel.title, run) for panel in run.panels},
        "heads": [list(each) for layer in run.layers for each in layer.heads],
        "below": [list(each) for layer in run.layers for each in layer.below],
    }
    n_heads = run.weights.shape[2]
    scores = [panel.title for panel in run.panels if isinstance(panel.title, str)]
    return Chart(
        pa.concat_tables([_curves_table(run), _cells_table(run)], promote_options="default"),
        {
            "hconcat": [
                {"vconcat": [_panel(panel, run) for panel in run.panels], "spacing": 14, **APART},
                {
                    "vconcat": [
                        _layer(at, n_heads, layer.title, run) for at, layer in enumerate(run.layers)
                    ],
                    "spacing": 14,
                },
            ],
            "spacing": 16,
            "params": [
                {"name": "at", "value": len(run.steps) - 1, "bind": slider},
                *({"name": name, "value": value} for name, value in params.items()),
            ],
            **APART,
            "autosize": {"type": "pad"},
            "padding": {"left": 2, "top": 2, "right": 6, "bottom": 2},
            "usermeta": {"embedOptions": {"renderer": "svg"}},
        },
        f"Over {run.steps[-1]:,} steps of training: the loss; {'; '.join(scores)}; and the weights "
        f"of {n_heads * len(run.layers)} heads on {len(run.tokens)} tokens at the recorded step of "
        "the slider.",
    )


def _at_each(title: str | Sequence[str], run: LearningRun) -> list[str]:
    return [title] * len(run.steps) if isinstance(title, str) else list(title)


def _curves_table(run: LearningRun) -> pa.Table:
    """A row for each moment, with a column for each curve: `loss_0`, `previous_token_5` …"""
    columns = {
        f"{panel.name}_{at}": pa.array(list(curve.values), pa.float32())
        for panel in run.panels
        for at, curve in enumerate(panel.curves)
    }
    return pa.table(
        {
            "of_head": pa.array([CURVES] * len(run.steps), pa.int8()),
            "row": pa.array(range(len(run.steps)), pa.int16()),
            "step": pa.array(list(run.steps), pa.int32()),
            **columns,
        }
    )


def _cells_table(run: LearningRun) -> pa.Table:
    """A row for each cell that the mask leaves: which head it is of, where, and its weights."""
    weights = run.weights.movedim(0, -1)
    n_layers, n_heads, n_tokens, _, n_moments = weights.shape
    rows, columns = torch.tril_indices(n_tokens, n_tokens)
    n_cells = len(rows)
    outlined = run.targets[..., rows, columns].expand(n_layers, n_heads, n_cells)
    heads = torch.arange(n_layers * n_heads).repeat_interleave(n_cells)
    return pa.table(
        {
            "of_head": pa.array(heads.tolist(), pa.int8()),
            "row": pa.array(rows.repeat(n_layers * n_heads).tolist(), pa.int16()),
            "column": pa.array(columns.repeat(n_layers * n_heads).tolist(), pa.int16()),
            "outlined": pa.array(outlined.flatten().tolist()),
            "each": pa.array(_written(weights[..., rows, columns, :].reshape(-1, n_moments))),
        }
    )


def _written(weights: Tensor) -> list[str]:
    """Each row of weights as one text: three digits a weight, of which 999 is a weight of 1."""
    shares = (weights.clamp(0, 1) * FULL).round().int()
    digits = torch.stack([shares // 100, shares // 10 % 10, shares % 10], dim=-1) + ord("0")
    return [bytes(row).decode() for row in digits.flatten(1).to(torch.uint8).tolist()]


def _panel(panel: Panel, run: LearningRun) -> dict:
    """Curves over the steps, with a line at the moment and one at the step that is marked."""
    scale = {} if run.crowded is None else {"type": "symlog", "constant": run.crowded}
    ticks = {"values": list(run.ticks)} if run.ticks else {"tickCount": 4}
    x = {
        "field": "step",
        "type": "quantitative",
        "scale": {"domain": {"expr": "[0, steps[steps.length - 1]]"}, "nice": False, **scale},
        "axis": {"title": None, "format": ",d", **ticks, **QUIET, "grid": False},
    }
    y = {
        "field": "value",
        "type": "quantitative",
        "scale": {"domain": list(panel.ends)},
        "axis": {"title": None, "tickCount": 4, **QUIET},
    }
    curves = [f"{panel.name}_{at}" for at in range(len(panel.curves))]
    legend = {
        "orient": "bottom",
        "direction": "vertical",
        "title": None,
        "labelExpr": "curve_labels[datum.value]",
        "labelFontSize": 11,
        "labelLimit": CURVE_WIDTH,
        "symbolType": "stroke",
        "symbolStrokeWidth": 3,
        "symbolSize": 120,
        "rowPadding": 1,
        "offset": 2,
    }
    colour = {
        "field": "curve",
        "type": "nominal",
        "scale": {"domain": curves, "range": [curve.colour for curve in panel.curves]},
        "legend": legend if any(curve.label for curve in panel.curves) else None,
    }
    rule = {"type": "rule", "aria": False, "strokeWidth": 1.5}
    return {
        "name": panel.name,
        "width": CURVE_WIDTH,
        "height": panel.height,
        "title": {
            "text": {"expr": f"{panel.name}_title[at]"},
            "anchor": "start",
            "frame": "group",
            "fontSize": 12,
            "offset": 6,
        },
        "transform": [{"filter": f"datum.of_head === {CURVES}"}],
        "encoding": {"x": x},
        "layer": [
            {
                "transform": [{"filter": "datum.step === appeared"}],
                "mark": {**rule, "color": palette.CHOSEN, "strokeDash": [3, 3]},
            },
            {"transform": [{"filter": "datum.row === at"}], "mark": {**rule, "color": palette.INK}},
            *(part for level in panel.levels for part in _level(level, y)),
            {
                "transform": [{"fold": curves, "as": ["curve", "value"]}],
                "mark": {"type": "line", "strokeWidth": 1.8, "aria": False},
                "encoding": {"y": y, "color": colour},
            },
        ],
    }


def _level(level: Level, y: dict) -> list[dict]:
    """A line from side to side, and its words at the right."""
    once = [{"filter": "datum.row === 0"}]
    y = {"datum": level.value} | {name: of for name, of in y.items() if name != "field"}
    quiet = {"aria": False, "tooltip": None}
    text = {"type": "text", "align": "right", "fontSize": 10, "color": palette.MUTED, **quiet}
    text |= {"baseline": "top", "dy": 3} if level.is_under else {"baseline": "bottom", "dy": -2}
    ends = {"x": {"value": 0}, "x2": {"value": CURVE_WIDTH}}
    return [
        {
            "transform": once,
            "mark": {"type": "rule", "color": palette.MUTED, **quiet},
            "encoding": {**ends, "y": y},
        },
        {
            "transform": once,
            "mark": {**text, "text": level.label},
            "encoding": {"x": {"value": CURVE_WIDTH}, "y": y},
        },
    ]


def _layer(layer: int, n_heads: int, title: str, run: LearningRun) -> dict:
    """The heads of a layer, side by side."""
    return {
        "title": {
            "text": title,
            "anchor": "start",
            "fontSize": 12,
            "offset": 2,
            "color": COLOURS[layer],
        },
        "hconcat": [
            _head(layer * n_heads + head, head == 0, run.tokens) for head in range(n_heads)
        ],
        "spacing": 8,
    }


def _head(at: int, is_first: bool, tokens: Sequence[str]) -> dict:
    """The weights of one head at the moment; the first of a layer has the names of the rows."""
    cell = min(LARGEST_CELL, HEAD_WIDTH // len(tokens))
    stands_up = all(len(token) < 2 for token in tokens)

    def axis(side: str, is_shown: bool) -> dict:
        turned = side == "top" and not stands_up
        return {
            "title": None,
            "labelExpr": "tokens[datum.value]",
            "labels": is_shown,
            "labelOverlap": False,
            "labelAngle": -90 if turned else 0,
            "labelFontSize": 9 if stands_up else cell,
            **({"labelBaseline": "middle"} if side == "left" or turned else {}),
            **({"labelAlign": "left"} if turned else {}),
            "labelPadding": 2,
            "domain": False,
            "ticks": False,
            "grid": False,
            "orient": side,
        }

    place = {"type": "ordinal", "scale": {"paddingInner": 0.06, "paddingOuter": 0}}
    where = "tokens[{0}] + ' (place ' + {0} + ')'"
    rect = {"type": "rect", "cornerRadius": 1, "aria": False}
    return {
        "width": {"step": cell},
        "height": {"step": cell},
        "view": {"stroke": None},
        "title": {
            "text": {"expr": f"heads[{at}][at]"},
            "subtitle": {"expr": f"below[{at}][at]"},
            "anchor": "start",
            "frame": "group",
            "fontSize": 11,
            "subtitleFontSize": 10,
            "subtitleColor": palette.MUTED,
            "offset": 4,
        },
        "transform": [
            {"filter": f"datum.of_head === {at}"},
            {
                "calculate": f"toNumber(substring(datum.each, 3 * at, 3 * at + 3)) / {FULL}",
                "as": "weight",
            },
            {"calculate": "sqrt(datum.weight)", "as": "shade"},
            {"calculate": where.format("datum.row"), "as": "query"},
            {"calculate": where.format("datum.column"), "as": "key"},
        ],
        "encoding": {
            "x": {"field": "column", **place, "axis": axis("top", True)},
            "y": {"field": "row", **place, "axis": axis("left", is_first)},
        },
        "layer": [
            {
                "name": f"head_{at}",
                "mark": {**rect, "fill": palette.POSITIVE},
                "encoding": {
                    "fillOpacity": {
                        "field": "shade",
                        "type": "quantitative",
                        "scale": {"domain": [0, 1], "range": [palette.FAINT, palette.FULL]},
                        "legend": None,
                    },
                    "tooltip": [
                        {"field": "query", "type": "nominal"},
                        {"field": "key", "type": "nominal"},
                        {"field": "weight", "type": "quantitative", "format": ".2f"},
                    ],
                },
            },
            {
                "name": f"targets_{at}",
                "transform": [{"filter": "datum.outlined"}],
                "mark": {
                    **rect,
                    "filled": False,
                    "stroke": palette.CHOSEN,
                    "strokeWidth": 1,
                    "tooltip": None,
                },
            },
        ],
    }
