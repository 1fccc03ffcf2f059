"""Heads that learn, to be watched: the loss, the scores of all heads and their weights at a moment
that one slider of the chart's own moves, without the server.

A cell is one row of the table. Its weights at all moments are one text, three digits each: 81
columns of numbers took the browser as long as 80,000 more cells.
"""

from collections.abc import Sequence

import pyarrow as pa
import torch
from torch import Tensor

from attention_core.small_models.induction import IS_INDUCTION, Record, appearance

from . import palette
from .chart import Chart

CURVE_WIDTH, CURVE_HEIGHT = 172, 96
CELL = 10
CURVES = -1
"""What stands for the curves in the column that names a cell's head."""
MOVE = "Move through the training "
LOSSES = ("loss_repeated", "loss_first")
SCORES = {
    "previous_token": "previous-token score",
    "prefix_matching": "prefix-matching score",
}
LOSS_TITLE = "'step ' + steps[at] + ': loss ' + format(loss_repeated[at], '.3f')"
LAYERS = (
    "First layer. Outlined: the token before",
    "Second layer. Outlined: the token that came after this one, the first time",
)
COLOURS = (palette.FED, palette.POSITIVE)
"""Of the curves of the heads of each layer."""
FULL = 999
"""How a weight of 1 is written, in three digits."""
APART = {"resolve": {"scale": dict.fromkeys(("x", "y", "color"), "independent")}}
QUIET = {"gridColor": palette.MUTED, "gridOpacity": 0.2, "domain": False, "ticks": False}


def watch_heads(records: Sequence[Record], tokens: Sequence[str], targets: Tensor) -> Chart:
    """The chart of a run. `targets` (layer, query, key) is True for the cells to outline: where the
    heads of each layer are expected to look.
    """
    n_layers, n_heads = records[0].previous_token.shape
    steps = [record.step for record in records]
    appeared = appearance(records)
    slider = {"input": "range", "min": 0, "max": len(records) - 1, "step": 1, "name": MOVE}
    params = {
        "steps": steps,
        "tokens": list(tokens),
        "appeared": -1 if appeared is None else steps[appeared],
        **{name: [getattr(each, name) for each in records] for name in LOSSES},
        **{name: [getattr(each, name).flatten().tolist() for each in records] for name in SCORES},
    }
    panels = [_panel("loss", LOSS_TITLE, [0, 4], len(LOSSES))]
    panels += [
        _panel(name, f"'{title}'", [0, 1], n_layers * n_heads) for name, title in SCORES.items()
    ]
    return Chart(
        pa.concat_tables(
            [_curves_table(records), _cells_table(records, targets)], promote_options="default"
        ),
        {
            "hconcat": [
                {"vconcat": panels, "spacing": 14, **APART},
                {
                    "vconcat": [_layer(at, n_heads, title) for at, title in enumerate(LAYERS)],
                    "spacing": 14,
                },
            ],
            "spacing": 22,
            "params": [
                {"name": "at", "value": len(records) - 1, "bind": slider},
                *({"name": name, "value": value} for name, value in params.items()),
            ],
            **APART,
            "autosize": {"type": "pad"},
            "padding": {"left": 2, "top": 2, "right": 6, "bottom": 2},
            "usermeta": {"embedOptions": {"renderer": "svg"}},
        },
        f"The loss, and the previous-token and prefix-matching scores of {n_layers * n_heads} "
        f"heads, over {steps[-1]:,} steps of training; and the weights of every head on "
        f"{len(tokens)} tokens at the recorded step of the slider.",
    )


def _curves_table(records: Sequence[Record]) -> pa.Table:
    """A row for each record, with a column for each curve: `loss_0`, `previous_token_5` …"""
    columns = {f"loss_{at}": [getattr(r, name) for r in records] for at, name in enumerate(LOSSES)}
    for name in SCORES:
        each = torch.stack([getattr(record, name).flatten() for record in records])
        columns |= {f"{name}_{at}": curve.tolist() for at, curve in enumerate(each.T)}
    return pa.table(
        {
            "of_head": pa.array([CURVES] * len(records), pa.int8()),
            "row": pa.array(range(len(records)), pa.int16()),
            "step": pa.array([record.step for record in records], pa.int32()),
            **{name: pa.array(values, pa.float32()) for name, values in columns.items()},
        }
    )


def _cells_table(records: Sequence[Record], targets: Tensor) -> pa.Table:
    """A row for each cell that the mask leaves: which head it is of, where, and its weights."""
    weights = torch.stack([record.weights for record in records], dim=-1)
    n_layers, n_heads, n_tokens, _, n_records = weights.shape
    rows, columns = torch.tril_indices(n_tokens, n_tokens)
    n_cells = len(rows)
    outlined = targets[:, None, rows, columns].expand(n_layers, n_heads, n_cells)
    heads = torch.arange(n_layers * n_heads).repeat_interleave(n_cells)
    return pa.table(
        {
            "of_head": pa.array(heads.tolist(), pa.int8()),
            "row": pa.array(rows.repeat(n_layers * n_heads).tolist(), pa.int16()),
            "column": pa.array(columns.repeat(n_layers * n_heads).tolist(), pa.int16()),
            "outlined": pa.array(outlined.flatten().tolist()),
            "each": pa.array(_written(weights[..., rows, columns, :].reshape(-1, n_records))),
        }
    )


def _written(weights: Tensor) -> list[str]:
    """Each row of weights as one text: three digits a weight, of which 999 is a weight of 1."""
    shares = (weights.clamp(0, 1) * FULL).round().int()
    digits = torch.stack([shares // 100, shares // 10 % 10, shares % 10], dim=-1) + ord("0")
    return [bytes(row).decode() for row in digits.flatten(1).to(torch.uint8).tolist()]


def _panel(name: str, title: str, ends: list[float], n_curves: int) -> dict:
    """Curves over the steps, with a line at the moment and one where an induction head appears."""
    x = {
        "field": "step",
        "type": "quantitative",
        "scale": {"domain": {"expr": "[0, steps[steps.length - 1]]"}, "nice": False},
        "axis": {"title": None, "tickCount": 4, "format": ",d", **QUIET, "grid": False},
    }
    y = {
        "field": "value",
        "type": "quantitative",
        "scale": {"domain": ends},
        "axis": {"title": None, "tickCount": 4, **QUIET},
    }
    curves = [f"{name}_{at}" for at in range(n_curves)]
    colour = {
        "field": "curve",
        "type": "nominal",
        "scale": {"domain": curves, "range": _colours(n_curves)},
        "legend": None,
    }
    rule = {"type": "rule", "aria": False, "strokeWidth": 1.5}
    return {
        "name": name,
        "width": CURVE_WIDTH,
        "height": CURVE_HEIGHT,
        "title": {
            "text": {"expr": title},
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
            {
                "transform": [{"fold": curves, "as": ["curve", "value"]}],
                "mark": {"type": "line", "strokeWidth": 1.8, "aria": False},
                "encoding": {"y": y, "color": colour},
            },
        ],
    }


def _colours(n_curves: int) -> list[str]:
    if n_curves == len(LOSSES):
        return [palette.NEGATIVE, palette.MUTED]
    return [colour for colour in COLOURS for _ in range(n_curves // len(COLOURS))]


def _layer(layer: int, n_heads: int, title: str) -> dict:
    """The heads of a layer, side by side."""
    heads = range(layer * n_heads, (layer + 1) * n_heads)
    return {
        "title": {
            "text": title,
            "anchor": "start",
            "fontSize": 12,
            "offset": 2,
            "color": COLOURS[layer],
        },
        "hconcat": [_head(at, layer, at % n_heads) for at in heads],
        "spacing": 14,
    }


def _head(at: int, layer: int, head: int) -> dict:
    """The weights of one head at the moment."""

    def axis(side: str, is_shown: bool) -> dict:
        return {
            "title": None,
            "labelExpr": "tokens[datum.value]",
            "labels": is_shown,
            "labelOverlap": False,
            "labelAngle": 0,
            "labelFontSize": 9,
            **({"labelBaseline": "middle"} if side == "left" else {}),
            "labelPadding": 2,
            "domain": False,
            "ticks": False,
            "grid": False,
            "orient": side,
        }

    score, words = list(SCORES.items())[layer]
    found = f"prefix_matching[at][{at}] > {IS_INDUCTION} ? ': induction head' : ''"
    place = {"type": "ordinal", "scale": {"paddingInner": 0.06, "paddingOuter": 0}}
    where = "tokens[{0}] + ' (place ' + {0} + ')'"
    rect = {"type": "rect", "cornerRadius": 1, "aria": False}
    return {
        "width": {"step": CELL},
        "height": {"step": CELL},
        "view": {"stroke": None},
        "title": {
            "text": {"expr": f"'head {head}' + ({found})"},
            "subtitle": {"expr": f"'{words} ' + format({score}[at][{at}], '.2f')"},
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
            "y": {"field": "row", **place, "axis": axis("left", head == 0)},
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
