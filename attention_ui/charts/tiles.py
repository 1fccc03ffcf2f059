"""Flash attention, played: the table as a grid of tiles, and what runs along beside it. One slider
of the chart's own moves it, without the server.

What runs along stands in a row for each query, at the height of its row of the table.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from torch import Tensor

from attention_core.mechanism.tiling import Tile

from . import palette
from .chart import Chart

TABLE, LARGEST_CELL, SMALLEST_LABELLED = 276, 34, 9
WORD = 44
"""The width of the word that stands in a tile that is skipped."""
NUMBER_WIDTH, MOST_COLUMNS, WIDEST_OUTPUT = 66, 12, 216
MOVE = "Move through the tiles "
EVER = 10_000
"""More than there are moments."""
CELL, TILE, STATE, OUTPUT = range(4)
"""What a row of the chart's data is about."""


@dataclass(frozen=True, eq=False)
class State:
    """What runs along for one query from the moment `start` on, up to, not including, `end`."""

    query: int
    start: int
    end: int
    largest: float
    shrink: float | None
    """None before the first tile, when there is nothing to shrink, and when all is done."""
    total: float
    output: Sequence[float]
    is_done: bool = False


@dataclass(frozen=True, eq=False)
class TilesPlayed:
    """Everything that is drawn of flash attention on one sentence."""

    tokens: Sequence[str]
    tiles: Sequence[Tile]
    """All of them; those that are not hidden are the moments, in this order."""
    titles: Sequence[str]
    """What stands above at each moment."""
    weights: Tensor
    """(query, key), of the plain way."""
    states: Sequence[State]


def play_tiles(played: TilesPlayed, first: int) -> Chart:
    """The chart, which begins at the moment `first`."""
    n_tokens = len(played.tokens)
    cell = min(LARGEST_CELL, max(4, TABLE // n_tokens))
    n_columns = min(MOST_COLUMNS, len(played.states[0].output))
    n_moments = len(played.titles)
    slider = {"input": "range", "min": 0, "max": n_moments - 1, "step": 1, "name": MOVE}
    columns = [
        _numbers("largest", "maximum m", played, cell),
        _numbers("shrink", "shrinks by", played, cell),
        _numbers("total", "sum ℓ", played, cell),
        _outputs(played, cell, n_columns),
    ]
    width = len(played.states[0].output)
    cut = f" The output's first {n_columns} of {width} columns are drawn." * (width > n_columns)
    return Chart(
        _table(played, n_columns),
        {
            "hconcat": [_grid(played, cell), *columns],
            "spacing": 14,
            "params": [
                {"name": "at", "value": first, "bind": slider},
                {"name": "tokens", "value": list(played.tokens)},
                {"name": "titles", "value": list(played.titles)},
            ],
            "resolve": {"scale": dict.fromkeys(("x", "color"), "independent")},
            "autosize": {"type": "pad"},
            "padding": {"left": 2, "top": 2, "right": 6, "bottom": 2},
            "usermeta": {"embedOptions": {"renderer": "svg"}},
        },
        f"The table of weights of {n_tokens} tokens as a grid of {len(played.tiles)} tiles, "
        f"{n_moments} of which are computed, and at the tile of the slider the running maximum, "
        f"sum and output of its queries.{cut}",
    )


def _table(played: TilesPlayed, n_columns: int) -> pa.Table:
    """A row for each cell, tile, state of a query, and entry of its output."""
    visited = [tile for tile in played.tiles if not tile.is_hidden]
    moment = {id(tile): at for at, tile in enumerate(visited)}
    weights = played.weights.tolist()
    rows: list[dict] = []
    for tile in played.tiles:
        when = moment.get(id(tile), EVER)
        ends = {"row2": tile.queries.stop, "column2": tile.keys.stop}
        corner = {"row": tile.queries.start, "column": tile.keys.start}
        rows.append({"kind": TILE, **corner, **ends, "start": when, "is_done": when == EVER})
        rows += [
            {
                "kind": CELL,
                "row": row,
                "column": column,
                "start": when,
                "number": weights[row][column],
            }
            for row in tile.queries
            for column in tile.keys
        ]
    limit = max((abs(x) for state in played.states for x in state.output[:n_columns]), default=1)
    for state in played.states:
        here = {"row": state.query, "start": state.start, "end": state.end}
        here["is_done"] = state.is_done
        own = {"largest": state.largest, "shrink": state.shrink, "total": state.total}
        rows.append({"kind": STATE, **here, **own})
        rows += [
            {
                **{"kind": OUTPUT, **here, "column": column, "number": value},
                "shade": abs(value) / (limit or 1),
            }
            for column, value in enumerate(state.output[:n_columns])
        ]
    names = ("kind", "row", "column", "row2", "column2", "start", "end")
    floats = ("number", "shade", "largest", "shrink", "total")
    fields = [*((name, pa.int16()) for name in names), *((name, pa.float32()) for name in floats)]
    return pa.Table.from_pylist(rows, pa.schema([*fields, ("is_done", pa.bool_())]))


def _along(n_tokens: int, side: str, cell: int, is_labelled: bool) -> dict:
    """The axis of the tokens: a cell for each, from its place to the next."""
    axis = {
        "title": {"x": "keys", "y": "queries"}[side] if is_labelled else None,
        "titleFontWeight": "normal",
        "titleFontSize": 11,
        "titlePadding": 5,
        "titleColor": palette.MUTED,
        "orient": {"x": "top", "y": "left"}[side],
        "values": [place + 0.5 for place in range(n_tokens)],
        "labelExpr": "tokens[floor(datum.value)]",
        "labels": is_labelled and cell >= SMALLEST_LABELLED,
        "labelOverlap": False,
        "labelLimit": 84,
        "labelFontSize": min(11, cell),
        "labelAngle": -45 if side == "x" else 0,
        **({"labelAlign": "left"} if side == "x" else {}),
        "domain": False,
        "ticks": False,
        "grid": False,
    }
    return {
        "type": "quantitative",
        "scale": {"domain": [0, n_tokens], "nice": False, "zero": False, "reverse": side == "y"},
        "axis": axis,
    }


def _title(text: object, size: int = 12) -> dict:
    return {"text": text, "anchor": "start", "frame": "group", "fontSize": size, "offset": 6}


def _only(kind: int, *more: str) -> list[dict]:
    return [{"filter": " && ".join([f"datum.kind === {kind}", *more])}]


def _grid(played: TilesPlayed, cell: int) -> dict:
    """The table: tiles that were gone through in the shades of their weights, the others empty."""
    n_tokens = len(played.tokens)
    x, y = (_along(n_tokens, side, cell, True) for side in "xy")
    x |= {"field": "column"}
    y |= {"field": "row"}
    where = "tokens[{0}] + ' (place ' + {0} + ')'"
    rect = {"type": "rect", "aria": False}
    ends = {"x2": {"field": "column2"}, "y2": {"field": "row2"}}
    inset = {"x2Offset": -1, "y2Offset": -1} if cell > 6 else {}
    return {
        "name": "tiles",
        "width": cell * n_tokens,
        "height": cell * n_tokens,
        "view": {"stroke": None},
        "title": _title({"expr": "titles[at]"}, 13),
        "encoding": {"x": x, "y": y},
        "layer": [
            {
                "name": "weights",
                "transform": [
                    *_only(CELL),
                    {"calculate": "datum.row + 1", "as": "row2"},
                    {"calculate": "datum.column + 1", "as": "column2"},
                    {"calculate": where.format("datum.row"), "as": "query"},
                    {"calculate": where.format("datum.column"), "as": "key"},
                    {"calculate": "datum.start <= at ? sqrt(datum.number) : 0", "as": "seen"},
                ],
                "mark": {**rect, "fill": palette.POSITIVE, **inset},
                "encoding": {
                    **ends,
                    "fillOpacity": {
                        "field": "seen",
                        "type": "quantitative",
                        "scale": {"domain": [0, 1], "range": [palette.FAINT, palette.FULL]},
                        "legend": None,
                    },
                    "tooltip": [
                        {"field": "query", "type": "nominal"},
                        {"field": "key", "type": "nominal"},
                        {
                            "field": "number",
                            "type": "quantitative",
                            "format": ".4f",
                            "title": "weight",
                        },
                    ],
                },
            },
            {
                "name": "edges",
                "transform": _only(TILE, "!datum.is_done"),
                "mark": {**rect, "filled": False, "stroke": palette.MUTED, "strokeWidth": 0.7},
                "encoding": {**ends, "tooltip": {"value": None}},
            },
            {
                "name": "skipped",
                "transform": [
                    *_only(TILE, "datum.is_done"),
                    {
                        "calculate": f"(datum.column2 - datum.column) * {cell} < {WORD}"
                        " ? '×' : 'skipped'",
                        "as": "word",
                    },
                    {"calculate": "(datum.row + datum.row2) / 2", "as": "row"},
                    {"calculate": "(datum.column + datum.column2) / 2", "as": "column"},
                ],
                "mark": {
                    **{"type": "text", "fontSize": 10, "aria": False, "tooltip": None},
                    "color": palette.MUTED,
                },
                "encoding": {"text": {"field": "word", "type": "nominal"}},
            },
            {
                "name": "current",
                "transform": _only(TILE, "datum.start === at"),
                "mark": {
                    **{**rect, "filled": False, "stroke": palette.CHOSEN, "strokeWidth": 3},
                    **{"cornerRadius": 2, "tooltip": None},
                },
                "encoding": ends,
            },
        ],
    }


def _now(kind: int, *more: str) -> list[dict]:
    return _only(kind, "datum.start <= at", "at < datum.end", *more)


def _rows(played: TilesPlayed, cell: int) -> dict:
    return {**_along(len(played.tokens), "y", cell, False), "field": "row"}


def _numbers(field: str, title: str, played: TilesPlayed, cell: int) -> dict:
    """One number a query: its maximum, its sum, or how much shrank. That of the block of queries
    that goes on is bright; where a maximum has risen, what shrinks is marked. Where a row is too
    low to be read, it has a shade.
    """
    return {
        "name": field,
        "width": NUMBER_WIDTH,
        "height": cell * len(played.tokens),
        "view": {"stroke": None},
        "title": _title(title, 11),
        "encoding": {"y": _rows(played, cell)},
        "layer": [
            _written(field, cell) if cell >= SMALLEST_LABELLED else _shaded(field, played.states)
        ],
    }


def _written(field: str, cell: int) -> dict:
    value = f"datum.{field}"
    written = f"format({value}, abs({value}) < 1000 ? '.2f' : '.1e')"
    shown = f"isValid({value}) ? replace({written}, '-', '−') : ''"
    falls = f"{value} !== null && {value} < 1" if field == "shrink" else "false"
    return {
        "transform": [
            *_now(STATE),
            {"calculate": "datum.row + 0.5", "as": "row"},
            {"calculate": shown, "as": "text"},
        ],
        "mark": {"type": "text", "fontSize": min(12, cell - 1), "aria": False},
        "encoding": {
            "x": {"value": NUMBER_WIDTH / 2},
            "text": {"field": "text", "type": "nominal"},
            "opacity": {"condition": {"test": "datum.is_done", "value": 0.45}, "value": 1},
            "color": {
                "condition": {"test": falls, "value": palette.CHOSEN},
                "value": palette.INK,
            },
            "tooltip": {"field": field, "type": "quantitative", "format": ".4f"},
        },
    }


def _shaded(field: str, states: Sequence[State]) -> dict:
    numbers = [getattr(state, field) for state in states]
    limit = max((abs(each) for each in numbers if each is not None), default=1) or 1
    share = f"abs(datum.{field}) / {limit}"
    depth = f"{palette.FAINT} + {palette.FULL - palette.FAINT} * {share}"
    return {
        "transform": [
            *_now(STATE, f"isValid(datum.{field})"),
            {"calculate": "datum.row + 1", "as": "row2"},
            {"calculate": depth, "as": "depth"},
        ],
        "mark": {"type": "rect", "aria": False},
        "encoding": {
            "x": {"value": 0},
            "x2": {"value": NUMBER_WIDTH / 2},
            "y2": {"field": "row2"},
            "color": {
                "condition": {"test": f"datum.{field} < 0", "value": palette.NEGATIVE},
                "value": palette.POSITIVE,
            },
            "fillOpacity": {"field": "depth", "type": "quantitative", "scale": None},
            "tooltip": {"field": field, "type": "quantitative", "format": ".4f"},
        },
    }


def _outputs(played: TilesPlayed, cell: int, n_columns: int) -> dict:
    """The running output of each query; of blocks that are done, the context vectors."""
    wide = min(max(cell, 16), WIDEST_OUTPUT // n_columns)
    rect = {"type": "rect", "aria": False}
    inset = {"x2Offset": -1, "y2Offset": -1} if cell > 6 else {}
    x = {
        "field": "column",
        "type": "quantitative",
        "scale": {"domain": [0, n_columns], "nice": False},
        "axis": None,
    }
    return {
        "name": "output",
        "width": wide * n_columns,
        "height": cell * len(played.tokens),
        "view": {"stroke": None},
        "title": _title("output O", 11),
        "encoding": {"y": _rows(played, cell), "x": x},
        "layer": [
            {
                "transform": [
                    *_now(OUTPUT),
                    {"calculate": "datum.row + 1", "as": "row2"},
                    {"calculate": "datum.column + 1", "as": "column2"},
                    {
                        "calculate": "datum.is_done ? 'divided by its sum' : 'not yet divided'",
                        "as": "state",
                    },
                ],
                "mark": {**rect, **inset},
                "encoding": {
                    "x2": {"field": "column2"},
                    "y2": {"field": "row2"},
                    "color": {
                        "condition": {"test": "datum.number < 0", "value": palette.NEGATIVE},
                        "value": palette.POSITIVE,
                    },
                    "fillOpacity": {
                        "field": "shade",
                        "type": "quantitative",
                        "scale": {"domain": [0, 1], "range": [palette.FAINT, palette.FULL]},
                        "legend": None,
                    },
                    "tooltip": [
                        {
                            "field": "number",
                            "type": "quantitative",
                            "format": ".4f",
                            "title": "output",
                        },
                        {"field": "state", "type": "nominal"},
                    ],
                },
            }
        ],
    }
