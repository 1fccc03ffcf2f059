"""A table gone through tile by tile: one held, others forgotten, what is kept beside it."""

from collections.abc import Sequence
from dataclasses import replace

from attention_core.mechanism.tiling import Tile
from attention_core.trace import Trace

from .equation_parts import UNNAMED
from .layout import (
    BELOW,
    NARROW,
    TALL,
    Arrangement,
    Layout,
    Mark,
    Path,
    Word,
    equation,
    in_a_row,
    put_below,
    titled,
)
from .matrix import Matrix

WORD = 44
"""The width of a word in a tile."""
DONE = 0.16


def tiles(
    trace: Trace,
    matrices: Sequence[Matrix],
    cut: Sequence[Tile],
    held: int,
    title: str,
    tall: float,
) -> Layout:
    """The first of the `matrices` (query, key) cut into tiles, of which the one at the place `held`
    is there, beside the others. Everything stands where it stands at every other place.
    """
    layout = equation(trace, *matrices, tall=tall)
    layout.narrow = _for_a_phone(trace, layout.matrices)
    for arrangement in (layout.wide, titled(layout, title).narrow):
        for at, tile in enumerate(cut):
            _add_tile(arrangement, tile, at - held)
    return layout


def _for_a_phone(trace: Trace, matrices: Sequence[Matrix]) -> Arrangement:
    """The table above, and below it side by side as much of the others as has room."""
    made = Arrangement(width=NARROW)
    lines: list[list[Matrix]] = [[matrices[0]]]
    for matrix in matrices[1:]:
        if matrix.axes[1] in UNNAMED and len(lines) > 1:
            lines[-1].append(matrix)
        else:
            lines.append([replace(matrix, row_labels=True)])
    for line in lines:
        put_below(made, in_a_row(trace, [("", each) for each in line], NARROW, TALL))
    made.height += BELOW
    return made


def _add_tile(arrangement: Arrangement, tile: Tile, away: int) -> None:
    """A tile's edge: loud where held, grey where it was; `away`: how many tiles later."""
    box = arrangement.boxes[0]
    x, y = box.x + tile.keys[0] * box.width, box.y + tile.queries[0] * box.height
    width, height = len(tile.keys) * box.width, len(tile.queries) * box.height
    edge = f"M0,0h{width:.1f}v{height:.1f}h-{width:.1f}Z"
    middle = (x + width / 2 - 1, y + height / 2)
    arrangement.paths.append(Path(x - 1, y - 1, edge, "muted", 0.35))
    if tile.is_hidden:
        arrangement.words.append(Word("skipped" if width >= WORD else "×", *middle, "share"))
        return
    done = DONE if away < 0 else 0.0
    arrangement.marks.append(Mark(x, y, width - 2, height - 2, "muted", done, is_under=True))
    arrangement.words.append(Word("done" if away < 0 and width >= WORD else "", *middle, "share"))
    arrangement.paths.append(Path(x - 1, y - 1, edge, "loud", 1.0 if not away else 0.0))
