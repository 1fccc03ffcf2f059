"""Σ in the margin of a matrix of weights: what each row sums to, loud where it is not 1."""

from torch import Tensor

from . import palette
from .matrix import Matrix
from .sizes import CellSize

NEAR_1 = 1e-3


def is_shares(matrix: Matrix) -> bool:
    """Whether it is a matrix of weights: a row a query, one number a key."""
    is_weights = matrix.step.name.endswith("weights") and matrix.step.value.is_floating_point()
    return is_weights and matrix.axes == ("query", "key")


def has_sums(matrix: Matrix) -> bool:
    """Whether the sums of its rows stand beside it."""
    return is_shares(matrix) and not matrix.covered


def sums(matrix: Matrix) -> Tensor:
    """The sum of the row that each cell stands in, in the order of the cells."""
    drawn = matrix.drawn
    return drawn.sum(dim=1).repeat_interleave(drawn.shape[1])


def add_sums(view: dict, size: CellSize) -> None:
    """Write the sums behind the rows of a heatmap, before its operator."""
    end = {"value": {"expr": f"{view['name']}_width"}}
    first_column = {"filter": "datum.column === 0"}
    loud = f"abs(datum.row_sum - 1) > {NEAR_1}"
    font = max(9, size.font or min(11, size.height))
    text = {"type": "text", "aria": False, "align": "left", "dx": 8, "fontSize": font}
    view["layer"][-1:-1] = [
        {
            "transform": [first_column],
            "mark": text | {"fontWeight": {"expr": f"{loud} ? 'bold' : 'normal'"}},
            "encoding": {
                "x": end,
                "text": {"field": "row_sum", "type": "quantitative", "format": ".2f"},
                "color": {
                    "condition": {"test": loud, "value": palette.CHOSEN},
                    "value": palette.MUTED,
                },
            },
        },
        {
            "transform": [first_column, {"filter": "datum.row === 0"}],
            "mark": text | {"text": "Σ", "baseline": "bottom", "fontSize": 11},
            "encoding": {
                "x": end,
                "y": {"value": -1},
                "color": {"value": palette.MUTED},
            },
        },
    ]
