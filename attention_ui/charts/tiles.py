"""Flash attention, played: the table as a grid of tiles, and what runs along beside it. One slider
of the chart's own moves it, without the server.
"""

from ..picture import palette
from .chart import Chart
from .tiles_axes import LARGEST_CELL, TABLE, along, only, title
from .tiles_played import CELL, TILE, TilesPlayed, table_of
from .tiles_running import numbers, outputs

MOST_COLUMNS = 12
"""Of a wider output, the first columns are drawn."""
WORD = 44
"""The width of the word that stands in a tile that is skipped or done."""
MOVE = "Move through the tiles "


def play_tiles(played: TilesPlayed, first: int) -> Chart:
    """The chart, which begins at the moment `first`."""
    n_tokens = len(played.tokens)
    cell = min(LARGEST_CELL, max(4, TABLE // n_tokens))
    n_columns = min(MOST_COLUMNS, len(played.states[0].output))
    n_moments = len(played.titles)
    slider = {"input": "range", "min": 1, "max": n_moments, "step": 1, "name": MOVE}
    columns = [
        numbers("largest", "maximum m", played, cell),
        numbers("shrink", "old ones ×", played, cell),
        numbers("total", "sum ℓ", played, cell),
        outputs(played, cell, n_columns),
    ]
    width = len(played.states[0].output)
    cut = f" The output's first {n_columns} of {width} columns are drawn." * (width > n_columns)
    return Chart(
        table_of(played, n_columns),
        {
            "hconcat": [_grid(played, cell), *columns],
            "spacing": 14,
            "params": [
                {"name": "tile_shown", "value": first + 1, "bind": slider},
                {"name": "at", "expr": "tile_shown - 1"},
                {"name": "tokens", "value": list(played.tokens)},
                {"name": "titles", "value": list(played.titles)},
            ],
            "resolve": {"scale": dict.fromkeys(("x", "color"), "independent")},
            "autosize": {"type": "pad"},
            "padding": {"left": 2, "top": 2, "right": 6, "bottom": 2},
            "usermeta": {"embedOptions": {"renderer": "svg"}},
        },
        f"The table of {n_tokens} queries and keys as a grid of {len(played.tiles)} tiles, "
        f"{n_moments} of which are computed. At the tile of the slider: its exponentials, and the "
        f"running maximum, sum and output of each query so far.{cut}",
    )


def _grid(played: TilesPlayed, cell: int) -> dict:
    """The table: the tile that is held in the shades of its exponentials, those that are done grey,
    the others empty.
    """
    n_tokens = len(played.tokens)
    x, y = (along(n_tokens, side, cell, True) for side in "xy")
    x |= {"field": "column"}
    y |= {"field": "row"}
    where = "tokens[{0}] + ' (place ' + {0} + ')'"
    rect = {"type": "rect", "aria": False}
    ends = {"x2": {"field": "column2"}, "y2": {"field": "row2"}}
    inset = {"x2Offset": -1, "y2Offset": -1} if cell > 6 else {}
    middle = [
        {"calculate": "(datum.row + datum.row2) / 2", "as": "row"},
        {"calculate": "(datum.column + datum.column2) / 2", "as": "column"},
    ]
    fits = f"(datum.column2 - datum.column) * {cell} >= {WORD}"
    said = {"type": "text", "fontSize": 10, "aria": False, "tooltip": None, "color": palette.MUTED}
    return {
        "name": "tiles",
        "width": cell * n_tokens,
        "height": cell * n_tokens,
        "view": {"stroke": None},
        "title": title({"expr": "titles[at]"}, 13),
        "encoding": {"x": x, "y": y},
        "layer": [
            {
                "name": "done",
                "transform": only(TILE, "datum.start < at"),
                "mark": {**rect, "fill": palette.MUTED, "fillOpacity": 0.16, "tooltip": None},
                "encoding": ends,
            },
            {
                "name": "held",
                "transform": [
                    *only(CELL, "datum.start === at"),
                    {"calculate": "datum.row + 1", "as": "row2"},
                    {"calculate": "datum.column + 1", "as": "column2"},
                    {"calculate": where.format("datum.row"), "as": "query"},
                    {"calculate": where.format("datum.column"), "as": "key"},
                ],
                "mark": {**rect, "fill": palette.POSITIVE, **inset},
                "encoding": {
                    **ends,
                    "fillOpacity": {
                        "field": "number",
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
                            "title": "e^(score − m)",
                        },
                    ],
                },
            },
            {
                "name": "edges",
                "transform": only(TILE, "!datum.is_done"),
                "mark": {**rect, "filled": False, "stroke": palette.MUTED, "strokeWidth": 0.7},
                "encoding": {**ends, "tooltip": {"value": None}},
            },
            {
                "name": "skipped",
                "transform": [
                    *only(TILE, "datum.is_done"),
                    {"calculate": f"{fits} ? 'skipped' : '×'", "as": "word"},
                    *middle,
                ],
                "mark": said,
                "encoding": {"text": {"field": "word", "type": "nominal"}},
            },
            {
                "name": "forgotten",
                "transform": [
                    *only(TILE, "!datum.is_done", fits),
                    *middle,
                    {"calculate": "datum.start < at ? 'done' : ''", "as": "word"},
                ],
                "mark": said,
                "encoding": {"text": {"field": "word", "type": "nominal"}},
            },
            {
                "name": "current",
                "transform": only(TILE, "datum.start === at"),
                "mark": {
                    **{**rect, "filled": False, "stroke": palette.CHOSEN, "strokeWidth": 3},
                    **{"cornerRadius": 2, "tooltip": None},
                },
                "encoding": ends,
            },
        ],
    }
