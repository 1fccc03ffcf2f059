"""A whole layer on one screen: all its matrices, folded to colours, laid out as numbers flow.

On the left what all heads share, in the middle a line for each head, on the right how the heads
are joined.
"""

from collections.abc import Sequence

from attention_core.trace import Step, Trace

from ..picture.matrix import Matrix
from .fit import width_of
from .placed import Placed
from .sizes import BETWEEN, ROW_ROOM, CellSize

OF_ALL = ("embeddings", "W_query", "W_key", "W_value")
OF_A_HEAD = (
    "head_queries",
    "head_keys",
    "head_scores",
    "head_scaled_scores",
    "head_tempered_scores",
    "head_masked_scores",
    "head_weights",
    "head_dropped_weights",
    "head_values",
    "head_context_vectors",
)
OUTPUTS = ("concat", "W_output", "output")
HEIGHT = 400
"""What the heads may be high, so that a window of 900 pixels has room for all matrices."""
LINE_ROOM = 52
"""What a line of matrices takes beside its cells: titles, labels, the gap to the next one."""
TALLEST_ROW, LOWEST_ROW = 20, 9
WIDEST_CELL, NARROWEST_CELL = 26, 4
WITH_NUMBERS = CellSize(26, 20, 10)
MOST_CELLS = 24_000
"""Of all matrices together; with more, heads are left out, to keep the page quick."""


def matrices(trace: Trace) -> list[list[list[Matrix]]]:
    """The matrices, in columns of lines."""

    def of_head(name: str, head: int) -> Matrix:
        return Matrix(
            trace[name],
            lead=(head,),
            title=short(trace[name]),
            row_labels=name == OF_A_HEAD[0],
            column_labels=False,
        )

    def shared(names: Sequence[str]) -> list[list[Matrix]]:
        return [
            [Matrix(trace[name], row_labels=name == "embeddings", column_labels=False)]
            for name in names
        ]

    heads = [[of_head(name, head) for name in _of_a_head(trace)] for head in range(n_drawn(trace))]
    return [shared(OF_ALL), heads, shared(OUTPUTS)]


def n_drawn(trace: Trace) -> int:
    """How many heads are drawn: all, or as many as there is room for, and at least one."""
    shared = sum(trace[name].value.numel() for name in (*OF_ALL, *OUTPUTS))
    of_one = sum(trace[name].value[0].numel() for name in _of_a_head(trace))
    return max(1, min(trace.size("head"), (MOST_CELLS - shared) // of_one))


def _of_a_head(trace: Trace) -> list[str]:
    return [name for name in OF_A_HEAD if name in trace]


def short(step: Step) -> str:
    """A step's name without what the place it stands in says already."""
    return step.name.removeprefix("head_").split("_")[0]


def layer(trace: Trace) -> list[list[list[Placed]]]:
    """The matrices with the largest cells that fit on one screen."""
    drawn = matrices(trace)
    height = max(LOWEST_ROW, min(TALLEST_ROW, _row_height(drawn[1])))
    for width in range(WIDEST_CELL, NARROWEST_CELL - 1, -1):
        font = WITH_NUMBERS.font if (width, height) >= (26, 20) else 0
        columns = [
            [
                [Placed("", each, CellSize(width, height, font), compact=True) for each in line]
                for line in lines
            ]
            for lines in drawn
        ]
        if sum(_width(trace, lines) for lines in columns) <= ROW_ROOM:
            break
    return columns


def _row_height(lines: list[list[Matrix]]) -> int:
    """How high a row may be for the heads to fit. Other columns have rows as high, so that a wider
    vector does not move all that is drawn.
    """
    n_rows = sum(max(matrix.sizes[0] for matrix in line) for line in lines)
    return (HEIGHT - LINE_ROOM * len(lines)) // n_rows


def _width(trace: Trace, lines: list[list[Placed]]) -> int:
    """About how wide a column is: its widest line, with titles that may be wider than cells."""
    widths = [sum(width_of(trace, each) + BETWEEN for each in line) for line in lines]
    return max(widths) + BETWEEN
