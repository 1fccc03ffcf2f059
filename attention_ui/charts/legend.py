"""What the colours of an equation mean: one thin line below it, from its matrices.

Its numbers are data, so that the chart is kept when they change.
"""

from collections.abc import Sequence

import pyarrow as pa

from . import palette
from .forbidden import leak_limit
from .matrix import Matrix
from .scale import is_shares, is_signed
from .sizes import text_width

NUMBER = -1
"""What stands for the number of a matrix in the rows of the legend."""
BAR, HEIGHT, GAP, BETWEEN = 72, 8, 5, 28
WORDS, SIGNED, SHARES, LEAKS = range(4)
"""What a row of the legend is: words, or a bar of one of three scales."""


def is_coloured(matrix: Matrix) -> bool:
    """Whether its colours mean a number."""
    means_else = matrix.as_bars or matrix.covered or matrix.tells_origins
    return matrix.step.value.is_floating_point() and not means_else


def entries(matrices: Sequence[Matrix], limits: Sequence[float]) -> list[tuple[int, str, str]]:
    """Each scale in use: its kind, what stands before its bar, and what stands after it."""
    drawn = [
        (matrix, limit)
        for matrix, limit in zip(matrices, limits, strict=True)
        if is_coloured(matrix)
    ]
    found = []
    signed = sorted({limit for matrix, limit in drawn if is_signed(matrix) and limit})
    if len(signed) == 1:
        end = written(signed[0])
        found.append((SIGNED, f"−{end}", end))
    elif signed:
        found.append((SIGNED, "−max", "max, each matrix its own"))
    if any(is_shares(matrix.step) for matrix, _ in drawn):
        found.append((SHARES, "0", "1, small shares made easier to see"))
    if most := leak_limit([matrix for matrix, _ in drawn]):
        found.append((LEAKS, "0", f"{written(most)} where it must be 0"))
    return found


def written(value: float) -> str:
    """The end of a scale, in three digits."""
    return f"{value:.3g}".replace("-", "−")


def table(matrices: Sequence[Matrix], limits: Sequence[float]) -> pa.Table:
    """A row for each bar, and one for each word, with its place in pixels."""
    rows, left = [], 0
    for kind, before, after in entries(matrices, limits):
        rows.append((WORDS, before, left))
        left += round(text_width(before) * 0.88) + GAP
        rows.append((kind, None, left))
        left += BAR + GAP
        rows.append((WORDS, after, left))
        left += round(text_width(after) * 0.88) + BETWEEN
    kinds, texts, lefts = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "matrix": pa.array([NUMBER] * len(rows), pa.int16()),
            "row": pa.array(kinds, pa.int16()),
            "text": pa.array(texts, pa.string()),
            "column": pa.array(lefts, pa.int16()),
        }
    )


def legend() -> dict:
    """The view: a bar for each kind of scale that the table has, and the words beside it."""
    left = {"field": "column", "type": "quantitative", "scale": None, "axis": None}
    right = {"field": "right"}
    middle = HEIGHT / 2
    bars = [
        {
            "transform": [
                {"filter": f"datum.row === {kind}"},
                {"calculate": f"datum.column + {BAR}", "as": "right"},
            ],
            "mark": {
                "type": "rect",
                "aria": False,
                "cornerRadius": 2,
                "color": _gradient(*colours),
            },
            "encoding": {"x": left, "x2": right, "y": {"value": 0}, "y2": {"value": HEIGHT}},
        }
        for kind, colours in (
            (SIGNED, (palette.NEGATIVE, palette.POSITIVE)),
            (SHARES, (palette.POSITIVE,)),
            (LEAKS, (palette.CHOSEN,)),
        )
    ]
    words = {
        "transform": [{"filter": f"datum.row === {WORDS}"}],
        "mark": {
            "type": "text",
            "aria": False,
            "align": "left",
            "baseline": "middle",
            "fontSize": 11,
            "color": palette.MUTED,
        },
        "encoding": {
            "x": left,
            "y": {"value": middle},
            "text": {"field": "text", "type": "nominal"},
        },
    }
    return {
        "name": "legend",
        "width": BAR,
        "height": HEIGHT,
        "view": {"stroke": None},
        "transform": [{"filter": f"datum.matrix === {NUMBER}"}],
        "layer": [*bars, words],
    }


def _gradient(*ends: str) -> dict:
    """From 0 to the strongest colour, or from one strongest colour through 0 to the other."""
    stops = [(colour, palette.FULL) for colour in ends]
    stops.insert(len(ends) - 1, (ends[-1], palette.FAINT))
    return {
        "x1": 0,
        "x2": 1,
        "y1": 0,
        "y2": 0,
        "gradient": "linear",
        "stops": [
            {"offset": at / (len(stops) - 1), "color": palette.with_opacity(colour, opacity)}
            for at, (colour, opacity) in enumerate(stops)
        ],
    }
