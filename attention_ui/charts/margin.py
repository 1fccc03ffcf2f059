"""Σ in the margin of a matrix of weights: what each row sums to, loud where it is not 1."""

from torch import Tensor

from ..picture import palette
from ..picture.matrix import Matrix
from .sizes import CellSize

NEAR_1 = 1e-3


def is_shares(matrix: Matrix) -> bool:
    """Whether it is a matrix of weights: a row a query, one number a key."""
    return _is_weights(matrix) and matrix.axes == ("query", "key")


def is_one_row(matrix: Matrix) -> bool:
    """Whether it is the weights of one query, drawn upright: one number a key."""
    return _is_weights(matrix) and matrix.axes == ("key", "")


def _is_weights(matrix: Matrix) -> bool:
    return matrix.step.name.endswith("weights") and matrix.step.value.is_floating_point()


def has_sums(matrix: Matrix) -> bool:
    """Whether the sums of its rows, or of its only one, stand beside it."""
    return (is_shares(matrix) or is_one_row(matrix)) and not matrix.covered


def sums(matrix: Matrix) -> Tensor:
    """The sum of the weights of each cell's query, in the order of the cells."""
    drawn = matrix.drawn
    if drawn.ndim == 1:
        return drawn.sum().expand(len(drawn))
    return drawn.sum(dim=1).repeat_interleave(drawn.shape[1])


def add_sums(view: dict, matrix: Matrix, size: CellSize) -> None:
    """Write the sums behind the rows of a heatmap, before its operator; behind all cells of a row
    that is drawn upright.
    """
    end = {"value": {"expr": f"{view['name']}_width"}}
    first_column = {"filter": "datum.column === 0"}
    loud = f"!(abs(datum.row_sum - 1) <= {NEAR_1})"  # also where it is no number
    font = max(9, size.font or min(11, size.height))
    text = {"type": "text", "aria": False, "align": "left", "dx": 8, "fontSize": font}
    colour = {"condition": {"test": loud, "value": palette.CHOSEN}, "value": palette.MUTED}
    weight = {"fontWeight": {"expr": f"{loud} ? 'bold' : 'normal'"}}
    if is_one_row(matrix):
        view["layer"][-1:-1] = [
            {
                "transform": [
                    {"filter": "datum.row === 0"},
                    {"calculate": "'Σ ' + format(datum.row_sum, '.2f')", "as": "told_sum"},
                ],
                "mark": text | weight,
                "encoding": {
                    "x": end,
                    "y": {"value": {"expr": f"{view['name']}_height / 2"}},
                    "text": {"field": "told_sum", "type": "nominal"},
                    "color": colour,
                },
            }
        ]
        return
    view["layer"][-1:-1] = [
        {
            "transform": [first_column],
            "mark": text | weight,
            "encoding": {
                "x": end,
                "text": {"field": "row_sum", "type": "quantitative", "format": ".2f"},
                "color": colour,
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
