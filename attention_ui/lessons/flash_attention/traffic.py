"""How many bytes two ways move, as bars: what they are, and how much of it each way moves."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from ...charts.chart import Chart
from ...picture import palette

BAR = 30
ROOM = 1.35
"""So much of the longest bar the chart is wide: its size stands behind it, also on a phone."""
COLOURS = (palette.POSITIVE, palette.NEGATIVE, palette.FED)


def traffic(
    ways: Mapping[str, Sequence[float]], kinds: Sequence[str], written: Callable[[float], str]
) -> Chart:
    """A bar for each way, in pieces: how many bytes of each of the `kinds` it moves, and the words
    in which a number of bytes is `written`.
    """
    frame = pd.DataFrame(
        [
            {
                **{"way": way, "kind": kind, "order": order, "amount": amount},
                **{"total": sum(amounts), "size": written(amount)},
            }
            for way, amounts in ways.items()
            for order, (kind, amount) in enumerate(zip(kinds, amounts, strict=True))
        ]
    )
    frame["written"] = [written(total) for total in frame["total"]]
    y = {
        "field": "way",
        "type": "nominal",
        "sort": None,
        "axis": {"title": None, "domain": False, "ticks": False, "labelFontSize": 13},
        "scale": {"paddingInner": 0.3},
    }
    longest = float(frame["total"].max())
    return Chart(
        frame,
        {
            "height": {"step": BAR},
            "view": {"stroke": None},
            "encoding": {"y": y},
            "layer": [
                {
                    "mark": {"type": "bar", "aria": False},
                    "encoding": {
                        "x": {
                            "field": "amount",
                            "type": "quantitative",
                            "stack": "zero",
                            "scale": {"domain": [0, longest * ROOM], "nice": False},
                            "axis": None,
                        },
                        "order": {"field": "order", "type": "quantitative"},
                        "color": {
                            "field": "kind",
                            "type": "nominal",
                            "scale": {"domain": list(kinds), "range": list(COLOURS)},
                            "legend": {
                                **{"orient": "bottom", "title": None, "labelLimit": 320},
                                **{
                                    "direction": "vertical",
                                    "columns": 1,
                                    "offset": 4,
                                    "padding": 0,
                                },
                            },
                        },
                        "tooltip": [
                            {"field": "kind", "type": "nominal", "title": " "},
                            {"field": "size", "type": "nominal", "title": "moved"},
                        ],
                    },
                },
                {
                    "transform": [{"filter": "datum.order === 0"}],
                    "mark": {
                        **{"type": "text", "align": "left", "dx": 6, "fontSize": 13},
                        **{"color": palette.INK, "aria": False},
                    },
                    "encoding": {
                        "x": {"field": "total", "type": "quantitative"},
                        "text": {"field": "written", "type": "nominal"},
                    },
                },
            ],
            "autosize": {"type": "fit-x", "contains": "padding"},
            "usermeta": {"embedOptions": {"renderer": "svg"}},
        },
        "Moved between the memories: "
        + "; ".join(f"{way} {written(sum(amounts))}" for way, amounts in ways.items())
        + ".",
    )
