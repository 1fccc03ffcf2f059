"""Of each cell that was moved there: the head and the token that its number came from.

Worked out by the operation itself, which is given the places of cells instead of their numbers.
"""

import torch
from torch import Tensor

from ..picture import palette
from ..picture.matrix import Matrix
from .sizes import CellSize

TAG = 12
STRENGTH = 0.4


def origins(matrix: Matrix) -> tuple[Tensor, Tensor]:
    """The token and the head, (rows, columns) each, of a step that deals a (token, columns) matrix
    out to heads.
    """
    step = matrix.step
    (joined,) = step.inputs
    n_columns = joined.value.shape[-1]
    places = torch.arange(joined.value.numel()).reshape(joined.value.shape)
    moved = step.operation.value(places)[matrix.lead]
    return moved // n_columns, moved % n_columns // (n_columns // len(step.value))


def mark_origins(spec: dict, size: CellSize) -> None:
    """Colour the cells of a compiled heatmap by the head that their numbers came from, and name the
    token, in a frame where it is in another token's row or in another head.
    """
    cells, *others, operator = spec["layer"]
    colour = f"{palette.HEADS}[datum.origin_head % {len(palette.HEADS)}]"
    words = "'head ' + datum.origin_head + ', ' + row_names[datum.origin]"
    cells["transform"] += [
        {"calculate": colour, "as": "head_colour"},
        {"calculate": words, "as": "came_from"},
    ]
    cells["encoding"] |= {
        "color": {"field": "head_colour", "type": "nominal", "scale": None},
        "fillOpacity": {"value": STRENGTH},
    }
    cells["encoding"]["tooltip"].append(
        {"field": "came_from", "type": "nominal", "title": "came from"}
    )
    height = TAG if size.font else max(3, size.height // 3)
    low = size.height / 2 - height / 2 - 2
    frame = {
        "transform": [{"filter": "datum.is_foreign"}],
        "mark": {
            "type": "rect",
            "aria": False,
            "height": height,
            "yOffset": low,
            "cornerRadius": 2,
            "filled": False,
            "stroke": palette.CHOSEN,
            "strokeWidth": 1.5,
        },
        "encoding": {},
    }
    added = [frame]
    if size.font:
        others[0]["mark"]["dy"] = -6
        added.append(
            {
                "transform": [{"calculate": "row_names[datum.origin]", "as": "token"}],
                "mark": {
                    "type": "text",
                    "aria": False,
                    "fontSize": 9,
                    "dy": low,
                    "limit": size.width - 4,
                    "color": palette.INK,
                },
                "encoding": {"text": {"field": "token", "type": "nominal"}},
            }
        )
    spec["layer"] = [cells, *others, *added, operator]
