"""What runs along while flash attention is played: a number or a vector for each query, at the
height of its row of the table of weights.
"""

from collections.abc import Sequence

from ..picture import palette
from .tiles_axes import SMALLEST_LABELLED, along, only, title
from .tiles_played import OUTPUT, STATE, State, TilesPlayed

NUMBER_WIDTH, WIDEST_OUTPUT = 66, 216


def _now(kind: int, *more: str) -> list[dict]:
    return only(kind, "datum.start <= at", "at < datum.end", *more)


def _rows(played: TilesPlayed, cell: int) -> dict:
    return {**along(len(played.tokens), "y", cell, False), "field": "row"}


def numbers(field: str, called: str, played: TilesPlayed, cell: int) -> dict:
    """One number a query: its maximum, its sum, or how much shrank. That of the block of queries
    that goes on is bright; where a maximum has risen, what shrinks is marked. Where a row is too
    low to be read, it has a shade.
    """
    return {
        "name": field,
        "width": NUMBER_WIDTH,
        "height": cell * len(played.tokens),
        "view": {"stroke": None},
        "title": title(called, 11),
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


def outputs(played: TilesPlayed, cell: int, n_columns: int) -> dict:
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
        "title": title("output O", 11),
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
