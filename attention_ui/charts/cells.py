"""The cells of a heatmap as a table: place, number, colour, outline."""

import math

import pyarrow as pa
import torch
from torch import Tensor

from attention_core.trace import Step

from .head_marks import Marks
from .matrix import Matrix

HIDDEN, HIDDEN_STRENGTH = "·", 0.45
COVERED = "?"


def cells(matrix: Matrix, numbers: bool, heads: tuple[Marks, Marks]) -> pa.Table:
    """One row a cell: place, value, shade (-1 to 1), outline, strength, the head of its row and
    of its column where there are any, the number as written.

    An Arrow table, as Streamlit sends it: building a data frame first would take ten times longer.
    """
    step = matrix.step
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
        "shade": _shade(step, picked, step.value if matrix.lead else picked).flatten(),
        "outline": _outlines(matrix, drawn, n_columns).flatten(),
        "strength": torch.where(hidden, HIDDEN_STRENGTH, strength.repeat_interleave(n_columns)),
    }
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
        whole = bool((picked == picked.round()).all())
        texts = [written(value, whole) for value in table["value"].tolist()]
        if values.dtype == torch.bool:
            texts = ["✓" if value else HIDDEN for value in picked.flatten().tolist()]
        elif matrix.mask is not None:
            texts = [
                HIDDEN if out and text != "−∞" else text
                for text, out in zip(texts, hidden.tolist(), strict=True)
            ]
        arrays["text"] = pa.array(texts)
    return pa.table(arrays)


def _hidden(matrix: Matrix) -> Tensor:
    """Which cells are hidden: a query may not look there. (rows, columns) as the step has them."""
    values = matrix.values if matrix.values.ndim == 2 else matrix.values[:, None]
    if values.dtype == torch.bool:
        return ~values
    if matrix.mask is not None:
        return ~matrix.mask.value & ((values == 0) | values.isneginf())
    return values.isneginf() if values.is_floating_point() else torch.zeros_like(values).bool()


def _shade(step: Step, values: Tensor, drawn: Tensor) -> Tensor:
    """Values from -1 to 1 for the colours; what is not finite gets none. The shares of a row get
    the square root, so that a tenth is seen too.
    """
    limit = _limit(step, drawn)
    if not limit or math.isinf(limit):
        return torch.zeros_like(values)
    shade = torch.where(values.isfinite(), (values / limit).clamp(-1, 1), 0.0)
    return shade.sign() * shade.abs().sqrt() if is_shares(step) else shade


def is_shares(step: Step) -> bool:
    """Whether its numbers are shares of 1: weights."""
    return step.name.endswith("weights") and step.value.is_floating_point()


def _limit(step: Step, drawn: Tensor) -> float:
    """The value of the strongest colour: 1 for weights, 1/4 for their derivatives, which go no
    further, else the largest magnitude of `drawn`, in which the heads of a step are taken
    together: their colours mean the same.
    Ids are names, not amounts, and get no colour.
    """
    if step.value.dtype == torch.bool:
        return 3.0  # a light shade for True
    if not step.value.is_floating_point():
        return math.inf
    if is_shares(step) or step.name == "one_hot":
        return 1.0
    if step.name == "jacobian":
        return 0.25
    finite = drawn[drawn.isfinite()]
    return float(finite.abs().max()) if len(finite) else 1.0


def _outlines(matrix: Matrix, drawn: Tensor, n_columns: int) -> Tensor:
    """The width of each cell's outline: 3 for the chosen cell, 2 for those it was made of."""
    outlines = torch.zeros(len(drawn), n_columns)
    place = {row: at for at, row in enumerate(drawn.tolist())}
    n_lead = len(matrix.lead)
    wide = [(cell, 2.0) for cell in matrix.highlighted] + [(matrix.chosen, 3.0)] * bool(
        matrix.chosen
    )
    for cell, width in wide:
        row, *column = cell[n_lead:]
        if cell[:n_lead] == matrix.lead and row in place:
            outlines[place[row], column[0] if column else 0] = width
    return outlines


def written(value: float, whole: bool = False) -> str:
    """A number as it stands in a cell: two decimals, fewer where it is large."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    if whole:
        return str(int(value)).replace("-", "−")
    text = f"{value:.2f}" if abs(value) < 99.95 else f"{value:.0f}"
    return text.replace("-", "" if float(text) == 0 else "−")
