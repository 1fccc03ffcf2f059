"""A layer above its gradients: numbers flow right; below, what the loss asks, from the right."""

from collections.abc import Callable, Sequence

from attention_core.gradients import PREFIX
from attention_core.trace import Step, Trace

from ...picture.forbidden import with_masks
from ...picture.layout import (
    GAP,
    NARROW,
    WIDE,
    Arrangement,
    Footprint,
    Layout,
    Word,
    between,
    put,
    take,
    widest,
    with_legend,
)
from ...picture.matrix import Matrix

CELL, ROW = (3.5, 34.0), (3.5, 22.0)
LEFT, TALL, LEGEND, BETWEEN = 74, 330, 28, 20
MOST_ROWS = 12
"""A matrix with more rows than columns lies down above so many."""
NAMES = (
    "W_query", "W_key", "W_value", "queries", "keys", "values", "scaled_scores", "weights",
    "context_vectors", "W_output", "logits",
)  # fmt: skip


SHORT = {"scaled_scores": "scaled", "context_vectors": "context"}


def flow(trace: Trace, seen: Callable[[Matrix], Matrix] = lambda each: each) -> Layout:
    """The layout of all steps that have a gradient, each above it, as they may be `seen`."""
    names = [name for name in NAMES if f"{PREFIX}{name}" in trace]
    above = with_masks([seen(_matrix(trace, name)) for name in names])
    below = with_masks([seen(_matrix(trace, f"{PREFIX}{name}")) for name in names])
    matrices = (*above, *below)
    each = [
        (Footprint(trace, "", one, compact=True), Footprint(trace, "", other, True, False))
        for one, other in zip(above, below, strict=True)
    ]
    wide, narrow = _side_by_side(each), _pair_by_pair(each)
    for arrangement in (wide, narrow):
        for box, matrix in zip(arrangement.boxes, matrices, strict=True):
            if matrix.covered:  # its cells are too small for a question mark each
                n_rows, n_columns = matrix.sizes
                middle = box.x + n_columns * box.width / 2, box.y + n_rows * box.height / 2
                arrangement.words.append(Word("?", *middle, "sign"))
    return with_legend(trace, matrices, ("",) * len(matrices), wide, narrow, LEGEND)


def _matrix(trace: Trace, name: str) -> Matrix:
    labelled = trace[name].axes[0] == "query" and name.endswith("queries")
    return lying(trace[name], SHORT.get(name, name), row_labels=labelled, column_labels=False)


def lying(step: Step, title: str, **look: bool) -> Matrix:
    """A matrix that is taller than it is wide and would not fit a card lies down."""
    n_rows, n_columns = step.value.shape
    transposed = n_rows > max(MOST_ROWS, n_columns)
    return Matrix(step, title=title, transposed=transposed, **look)


def _side_by_side(each: Sequence[tuple[Footprint, Footprint]]) -> Arrangement:
    room = WIDE - LEFT + GAP

    def width(cell: float) -> float:
        return sum(one.beside + one.width(cell) + GAP for one, _ in each)

    low = widest(width, room, *CELL)
    most = max(one.n_rows for one, _ in each)
    above = max(one.above(low) for one, _ in each)
    under = max(other.above(low) for _, other in each)
    row = between((TALL - above - under - BETWEEN) / (2 * most), *ROW)
    row = min(row, low + 4)
    made, x = Arrangement(), float(LEFT)
    second = above + most * row + BETWEEN
    tops, bottoms = Arrangement(), Arrangement()
    for one, other in each:
        down = (most - one.n_rows) * row / 2
        end = put(tops, one, x, above - one.above(low) + down, low, row)
        put(bottoms, other, x, second + under - other.above(low) + down, low, row)
        x = end
    take(made, tops, bottoms)
    made.words.append(Word("forward →", 0.0, above + most * row / 2, "title"))
    made.words.append(Word("← gradients", 0.0, second + under + most * row / 2, "title"))
    made.width, made.height = x - GAP, second + under + most * row
    return made


def _pair_by_pair(each: Sequence[tuple[Footprint, Footprint]]) -> Arrangement:
    """On a phone: each matrix with its gradient at its right."""
    made, tops, bottoms = Arrangement(width=NARROW), Arrangement(), Arrangement()
    y = 0.0
    for one, other in each:
        made.lines.append(y)
        room = NARROW - one.beside - other.beside - 2 * GAP
        cell = between(room / (2 * one.n_columns), *CELL)
        row = between(cell * 0.8, ROW[0], 18.0)
        end = put(tops, one, 0.0, y, cell, row)
        put(
            bottoms, other, max(end, NARROW / 2), y + one.above(cell) - other.above(cell), cell, row
        )
        bottoms.words.append(Word("its gradient", max(end, NARROW / 2), y + 8, "title"))
        y += one.above(cell) + one.n_rows * row + 12
    take(made, tops, bottoms)
    made.height = y - 12
    return made
