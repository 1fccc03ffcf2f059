"""What the colours of an equation mean: one thin line below it, from its matrices.

Its numbers are data, so that the chart is kept when they change.
"""

from collections.abc import Sequence

import pyarrow as pa

from ..picture import palette
from ..picture.forbidden import leak_limit
from ..picture.matrix import Matrix
from ..picture.numbers import text_width
from ..picture.scale import is_shares, is_signed

NUMBER = -1
"""What stands for the number of a matrix in the rows of the legend."""
BAR, SLICE, HEIGHT, GAP, BETWEEN = 72, 3, 8, 5, 28
PLACE = {"type": "quantitative", "scale": None, "axis": None}
WORDS, SIGNED, SHARES, LEAKS = range(4)
"""What a row of the legend is: words, or a bar of one of three scales."""


def is_coloured(matrix: Matrix) -> bool:
    """Whether its colours mean a number."""
    means_else = matrix.as_bars or matrix.covered
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
    bars = [
        _bar(kind, *colours)
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
            "x": {"field": "column", **PLACE},
            "y": {"value": HEIGHT / 2},
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


def _bar(kind: int, *ends: str) -> dict:
    """A bar from 0 to the strongest colour, or from one strongest colour through 0 to the other.

    Of slices, not a rectangle with a gradient: the browser finds a gradient by the page's address,
    and would lose it with every setting that the address takes up.
    """
    share = f"(datum.slice + 0.5) / {BAR // SLICE}"
    if len(ends) > 1:
        share = f"2 * {share} - 1"
    return {
        "transform": [
            {"filter": f"datum.row === {kind}"},
            {"calculate": f"sequence({BAR // SLICE})", "as": "slice"},
            {"flatten": ["slice"]},
            {"calculate": "datum.id + datum.slice / 100", "as": "id"},
            {"calculate": f"datum.column + {SLICE} * datum.slice", "as": "left"},
            {"calculate": f"datum.left + {SLICE}", "as": "right"},
            {"calculate": share, "as": "share"},
            {
                "calculate": f"{palette.FAINT} + {palette.FULL - palette.FAINT} * abs(datum.share)",
                "as": "opacity",
            },
        ],
        "mark": {"type": "rect", "aria": False},
        "encoding": {
            "x": {"field": "left", **PLACE},
            "x2": {"field": "right"},
            "y": {"value": 0},
            "y2": {"value": HEIGHT},
            "color": {
                "condition": {"test": "datum.share < 0", "value": ends[0]},
                "value": ends[-1],
            },
            "opacity": {"field": "opacity", "type": "quantitative", "scale": None, "legend": None},
        },
    }
