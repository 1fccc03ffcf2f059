"""How many bytes two ways move, as bars: what they are, and how much of it each way moves."""

from collections.abc import Mapping, Sequence

import pandas as pd

from . import palette
from .chart import Chart

WIDTH, BAR = 520, 44
COLOURS = (palette.POSITIVE, palette.NEGATIVE, palette.FED)


def traffic(ways: Mapping[str, Sequence[float]], kinds: Sequence[str], unit: str) -> Chart:
    """A bar for each way, in pieces: how much of each of the `kinds` it moves, in this unit."""
    frame = pd.DataFrame(
        [
            {"way": way, "kind": kind, "order": order, "amount": amount, "total": sum(amounts)}
            for way, amounts in ways.items()
            for order, (kind, amount) in enumerate(zip(kinds, amounts, strict=True))
        ]
    )
    frame["written"] = [f"{total:,.3g} {unit}" for total in frame["total"]]
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
            "width": WIDTH,
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
                            "scale": {"domain": [0, longest * 1.18], "nice": False},
                            "axis": None,
                        },
                        "order": {"field": "order", "type": "quantitative"},
                        "color": {
                            "field": "kind",
                            "type": "nominal",
                            "scale": {"domain": list(kinds), "range": list(COLOURS)},
                            "legend": {
                                **{"orient": "bottom", "title": None, "labelLimit": 320},
                                **{"direction": "horizontal", "columns": 2},
                            },
                        },
                        "tooltip": [
                            {"field": "kind", "type": "nominal", "title": " "},
                            {
                                **{"field": "amount", "type": "quantitative", "format": ",.3~g"},
                                "title": unit,
                            },
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
            "autosize": {"type": "pad"},
            "usermeta": {"embedOptions": {"renderer": "svg"}},
        },
        f"Moved between the memories, in {unit}: "
        + "; ".join(f"{way} {sum(amounts):,.3g}" for way, amounts in ways.items())
        + ".",
    )
