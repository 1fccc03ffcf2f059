"""The cells of a heatmap as a table: place, number, colour, outline."""

import pyarrow as pa
import torch
from torch import Tensor

from ..picture.forbidden import SEEN_ON, forbidden, leaks, outline
from ..picture.matrix import Marks, Matrix
from ..picture.numbers import decimals_of, written
from ..picture.scale import Scale, shades
from .sizes import CellSize

HIDDEN, HIDDEN_STRENGTH = "·", 0.45
COVERED = "?"


def cells(
    matrix: Matrix, numbers: bool, heads: tuple[Marks, Marks], scale: Scale, size: CellSize
) -> pa.Table:
    """One row a cell: place, value, shade (-1 to 1), outline, strength, the head of its row and
    of its column where there are any, the number as written; where a mask forbids some, which of
    them leak, and in the first row the edge of their region; where its number came from, if the
    matrix tells that.

    An Arrow table, as Streamlit sends it: building a data frame first would take ten times longer.
    """
    values = matrix.values if matrix.values.ndim == 2 else matrix.values[:, None]
    drawn = torch.arange(len(values)) if matrix.rows is None else torch.tensor(matrix.rows)
    picked = values[drawn].float()
    n_rows, n_columns = picked.shape
    at = torch.arange(n_rows).repeat_interleave(n_columns)
    column = torch.arange(n_columns).repeat(n_rows)
    strength = torch.tensor([0.2 if row in matrix.faint else 1.0 for row in drawn.tolist()])
    hidden = _hidden(matrix)[drawn].flatten()
    table = {
        "row": at.short(),
        "column": column.short(),
        "value": picked.flatten(),
        "shade": shades(matrix, picked, scale.most).flatten(),
        "outline": _outlines(matrix, drawn, n_columns).flatten(),
        "strength": torch.where(hidden, HIDDEN_STRENGTH, strength.repeat_interleave(n_columns)),
    }
    leaking = leaks(matrix)
    if leaking is not None:
        loud = SEEN_ON * (picked.abs() / (scale.leaks or 1.0)).clamp(max=1).sqrt()
        table["loud"] = leaking.flatten()
        table["shade"] = torch.where(table["loud"], loud.flatten(), table["shade"])
    if matrix.transposed:
        table["row"], table["column"] = table["column"], table["row"]
    for side, marks in zip(("row", "column"), heads, strict=True):
        if marks:
            table[f"{side}_head"] = torch.tensor(marks)[table[side].int()].short()
    arrays = {name: pa.array(entries.numpy()) for name, entries in table.items()}
    if matrix.covered:  # nothing of the numbers reaches the browser
        arrays |= {
            "value": pa.nulls(len(at), pa.float32()),
            "shade": pa.array(torch.zeros(len(at)).numpy()),
            "strength": pa.array(torch.ones(len(at)).numpy()),
            "text": pa.array([COVERED] * len(at)),
        }
    elif numbers:
        decimals = decimals_of(picked)
        texts = [written(value, decimals) for value in table["value"].tolist()]
        if values.dtype == torch.bool:
            texts = ["✓" if value else HIDDEN for value in picked.flatten().tolist()]
        elif matrix.mask is not None:
            texts = [
                HIDDEN if out and text != "−∞" else text
                for text, out in zip(texts, hidden.tolist(), strict=True)
            ]
        arrays["text"] = pa.array(texts)
    region = forbidden(matrix)
    if region is not None:
        path = outline(region.T if matrix.transposed else region, size.width, size.height)
        arrays["region"] = pa.array([path or None, *[None] * (len(at) - 1)], pa.string())
    return pa.table(arrays)


def _hidden(matrix: Matrix) -> Tensor:
    """Which cells are hidden: a query may not look there. (rows, columns) as the step has them."""
    values = matrix.values if matrix.values.ndim == 2 else matrix.values[:, None]
    if values.dtype == torch.bool:
        return ~values
    if matrix.mask is not None:
        return ~matrix.mask.value & ((values == 0) | values.isneginf())
    return values.isneginf() if values.is_floating_point() else torch.zeros_like(values).bool()


def _outlines(matrix: Matrix, drawn: Tensor, n_columns: int) -> Tensor:
    """The width of each cell's outline: 3 for the chosen cell, 2 for those it was made of."""
    outlines = torch.zeros(len(drawn), n_columns, dtype=torch.int16)
    place = {row: at for at, row in enumerate(drawn.tolist())}
    n_lead = len(matrix.lead)
    wide = [(cell, 2) for cell in matrix.highlighted] + [(matrix.chosen, 3)] * bool(matrix.chosen)
    for cell, width in wide:
        row, *column = cell[n_lead:]
        if cell[:n_lead] == matrix.lead and row in place:
            outlines[place[row], column[0] if column else 0] = width
    return outlines
