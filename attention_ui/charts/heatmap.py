"""A tensor as a heatmap: rows, columns, a number in every cell while it can be read.

The chart is authored in Altair and compiled once (template.py); a rerun fills in data, labels and
sizes. That costs a tenth of building it anew (see NOTES.md, "Charts").
"""

import math
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache

import pandas as pd
import pyarrow as pa
import torch
from torch import Tensor

from attention_core.tokenizers import visible
from attention_core.trace import Step, Trace

from .. import palette
from .head_marks import FAR, Marks, mark_heads
from .sizes import (
    BAR_WIDTH,
    BELOW,
    OPERATOR_ROOM,
    CellSize,
    cell_size,
    column_room,
    is_slanted,
    label_room,
    labelled_every,
)
from .template import template

HIDDEN, HIDDEN_STRENGTH = "·", 0.45
JOINED = ("d_queries", "d_concat")
"""Axes along which heads stand side by side."""
NUMBERED = [f"d{place}" for place in range(1, 65)]
"""The labels of an axis whose places have no names of their own."""
ON_ONE_LINE = 2
"""So many heads of a step must fit on one line."""
LONG_VECTOR = 12
"""A longer vector keeps its numbers only where the matrices beside it have theirs."""


@dataclass(frozen=True)
class Chart:
    """What `st.vega_lite_chart` needs: data, a compiled specification, and words for it."""

    frame: pd.DataFrame | pa.Table
    spec: dict
    alt: str


@dataclass(frozen=True)
class Matrix:
    """Which part of a step to draw, and how.

    `transposed` draws columns as rows; `rows` picks some rows; `title` replaces the step's name;
    `lit` are cells to outline, in the step's own indices, and `chosen` is one more strongly so.
    """

    step: Step
    transposed: bool = False
    rows: tuple[int, ...] | None = None
    title: str | None = None
    lit: frozenset[tuple[int, ...]] = field(default_factory=frozenset)
    chosen: tuple[int, ...] | None = None
    faint: frozenset[int] = frozenset()
    """Rows drawn faintly: not reached yet, or not used."""
    row_labels: bool = True
    as_bars: bool = False
    """A column of weights drawn as bars, from 0 to 1."""
    mask: Step | None = None
    """A mask, True where a query may look: a 0 where it may not is drawn as hidden."""
    lead: tuple[int, ...] = ()
    """The places of the axes before the last two: `(1,)` draws the second head."""

    @property
    def key(self) -> str:
        """Tells this drawing of the step from its others on the page."""
        return ".".join(["t" if self.transposed else "n", *map(str, self.lead)])

    @property
    def name(self) -> str:
        """What stands above it: its title, or the step's name and which part of it."""
        part = ", ".join(map(str, self.lead))
        return self.title or (f"{self.step.name}[{part}]" if part else self.step.name)

    @property
    def values(self) -> Tensor:
        """What is drawn of the step, (rows, columns) or (rows,), before any transposing."""
        return self.step.value[self.lead]

    @property
    def axes(self) -> tuple[str, str]:
        """The axis along the rows and the one along the columns; '' where there is none."""
        axes = (*self.step.axes[len(self.lead) :], "")[:2]
        return axes[::-1] if self.transposed else axes

    @property
    def sizes(self) -> tuple[int, int]:
        """How many rows and columns are drawn."""
        n_rows, n_columns = (*self.values.shape, 1)[:2]
        n_rows = n_rows if self.rows is None else len(self.rows)
        return (n_columns, n_rows) if self.transposed else (n_rows, n_columns)


def names_of(trace: Trace, axis: str) -> list[str]:
    """The labels of an axis as they are written on screen."""
    return [visible(name) for name in trace.labels(axis)] if axis else [""]


def heatmap(
    trace: Trace,
    matrix: Matrix,
    size: CellSize,
    operator: str = "",
    band: int | None = None,
) -> Chart:
    """Draw one matrix; `operator` stands before it, `band` is the room above its cells.

    Matrices that stand in one row are given the same `band`, so that their cells are centred on
    one line and the operators with them.
    """
    size = _fitting(matrix, size)
    row_names, column_names = _names(trace, matrix)
    heads = heads_of(trace, matrix)
    spec = _filled(
        tuple(row_names),
        tuple(column_names),
        matrix.axes,
        matrix.name + ("ᵀ" if matrix.transposed else ""),
        matrix.row_labels,
        matrix.as_bars,
        size,
        operator,
        band if band is not None else band_above(trace, matrix, size),
        (bool(heads[0]), bool(heads[1])),
    )
    return Chart(_frame(matrix, size.font > 0, heads), spec, describe(matrix))


@lru_cache(maxsize=256)
def _filled(
    row_names: tuple[str, ...],
    column_names: tuple[str, ...],
    axes: tuple[str, str],
    title: str,
    row_labels: bool,
    as_bars: bool,
    size: CellSize,
    operator: str,
    band: int,
    has_heads: tuple[bool, bool],
) -> dict:
    """The template with labels, titles and sizes. Kept, since a slider rarely changes them."""
    row_axis, column_axis = axes
    n_rows, n_columns = len(row_names), len(column_names)
    left = OPERATOR_ROOM if operator else 0
    if row_labels:
        left += _room_before(row_names, row_axis)
    spec = deepcopy(template(size.font > 0, as_bars))
    spec |= {
        "width": BAR_WIDTH if as_bars else {"step": size.width},
        "height": {"step": size.height},
        "autosize": {"type": "pad"},
        "padding": {"left": 2, "top": 2, "right": 6, "bottom": BELOW},
        "title": _title(title, _shape(axes)),
    }
    values = {"row_names": _with_room(row_names), "column_names": _with_room(column_names)}
    for parameter in spec["params"]:
        if parameter["name"] in values:
            parameter["value"] = values[parameter["name"]]
    *cells, operator_layer = spec["layer"]
    every = labelled_every(column_axis, n_columns, size)
    slant = (
        {"labelAngle": -45, "labelAlign": "left"} if is_slanted(column_names, size, every) else {}
    )
    if every > 1:
        slant["labelExpr"] = f"datum.value % {every} == 0 ? column_names[datum.value] : ''"
    for layer in cells:
        layer["encoding"]["x"]["axis"] |= {
            "title": _axis_title(column_axis) or " ",
            "labelAngle": 0,
            "minExtent": band,
            "maxExtent": band,
            **slant,
            **({"labels": False} if as_bars else {}),
        }
        layer["encoding"]["y"]["axis"] |= {
            "title": _axis_title(row_axis) if row_labels else None,
            "labels": row_labels,
            "labelFontSize": min(12, size.height),
        }
        every = labelled_every(row_axis, n_rows, size)
        if every > 1:
            name = f"datum.value % {every} == 0 ? row_names[datum.value] : ''"
            layer["encoding"]["y"]["axis"]["labelExpr"] = name
    if size.font:
        cells[1]["mark"]["fontSize"] = size.font
    operator_layer["mark"] |= {"text": operator, "fontSize": 44 if operator == "·" else 26}
    operator_layer["encoding"]["x"]["value"] = OPERATOR_ROOM // 2 - left
    for tip, axis in zip(cells[0]["encoding"]["tooltip"], axes, strict=False):
        tip["title"] = axis or title
    mark_heads(spec, *has_heads)
    return spec


def heads_of(trace: Trace, matrix: Matrix) -> tuple[Marks, Marks]:
    """Which head each row and each column belongs to; () where they belong to none."""
    if matrix.lead and matrix.step.axes[0] == "head":
        across: Marks = (matrix.lead[0],) * matrix.sizes[1]
        return (), across
    rows, columns = (_heads_along(trace, axis) for axis in matrix.axes)
    return rows, columns


def _heads_along(trace: Trace, axis: str) -> Marks:
    if axis not in JOINED:
        return ()
    per_head = trace.size(axis) // trace.size("head")
    return tuple(column // per_head for column in range(trace.size(axis)))


def size_for(trace: Trace, matrices: Sequence[Matrix]) -> CellSize:
    """One size of cells for the matrices of an equation.

    Many heads side by side may take several lines: not all of them have to fit on one.
    """
    n_columns, beside, digits = 0, 0, 0
    counted = Counter()
    for matrix in matrices:
        counted[matrix.step.name] += 1
        if counted[matrix.step.name] > ON_ONE_LINE:
            continue
        beside += OPERATOR_ROOM + 8
        if matrix.row_labels:
            beside += _room_before(_names(trace, matrix)[0], matrix.axes[0])
        if matrix.as_bars:
            beside += BAR_WIDTH
        elif matrix.values.ndim == 1 and len(matrix.values) <= LONG_VECTOR:
            width = _digits(matrix.values) * 6 + 5
            beside += width * matrix.sizes[1]
        else:
            n_columns += matrix.sizes[1]
        if matrix.values.ndim > 1 or len(matrix.values) > LONG_VECTOR:
            digits = max(digits, _digits(matrix.values))
    n_rows, widest = (max(matrix.sizes[side] for matrix in matrices) for side in (0, 1))
    return cell_size(n_rows, n_columns, beside - OPERATOR_ROOM, digits, widest)


def _room_before(row_names: Sequence[str], row_axis: str) -> int:
    """The room that the labels of rows and the title of their axis take."""
    return label_room(row_names) + 8 + (16 if _axis_title(row_axis) else 0)


def _digits(values: Tensor) -> int:
    """The length of the longest number as it is written in a cell."""
    if values.dtype == torch.bool:
        return 1
    whole = bool((values == values.round()).all())
    finite = values[values.isfinite()]
    ends = [*finite.aminmax()] if len(finite) else []
    return max((len(written(end.item(), whole)) for end in ends), default=2)


def _fitting(matrix: Matrix, size: CellSize) -> CellSize:
    """The equation's cell size; a short single row or column has room for its numbers anyway."""
    if matrix.values.ndim > 1 or len(matrix.values) > LONG_VECTOR:
        return size
    height = max(size.height, 24) if matrix.transposed else size.height
    font = size.font or (11 if height > 13 else 0)
    return CellSize(max(size.width, round(_digits(matrix.values) * font * 0.5) + 5), height, font)


def band_above(trace: Trace, matrix: Matrix, size: CellSize) -> int:
    """The room that the labels of a matrix need above its cells."""
    size = _fitting(matrix, size)
    column_axis = matrix.axes[1]
    if not column_axis:
        return 4
    names = _names(trace, matrix)[1]
    room = column_room(names, size, labelled_every(column_axis, len(names), size))
    return room + (FAR if heads_of(trace, matrix)[1] else 0)


def describe(matrix: Matrix) -> str:
    """A sentence for those who cannot see the chart.

    No number stands in it: the browser builds a chart anew where its words change, which takes
    twice as long as drawing other cells. *Tensors as tables* reads the numbers out.
    """
    rows, columns = matrix.axes
    where = f"rows are {rows or 'entries'}" + (f", columns are {columns}" if columns else "")
    turned = ", transposed" if matrix.transposed else ""
    return f"Heatmap of {matrix.name}{turned}: {where}."


def written(value: float, whole: bool = False) -> str:
    """A number as it stands in a cell: two decimals, fewer where it is large."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    if whole:
        return str(int(value)).replace("-", "−")
    text = f"{value:.2f}" if abs(value) < 99.95 else f"{value:.0f}"
    return text.replace("-", "" if float(text) == 0 else "−")


def _names(trace: Trace, matrix: Matrix) -> tuple[list[str], list[str]]:
    axes = matrix.axes[::-1] if matrix.transposed else matrix.axes
    first = names_of(trace, axes[0])
    if matrix.rows is not None:
        first = [first[row] for row in matrix.rows]
    second = names_of(trace, axes[1])
    return (second, first) if matrix.transposed else (first, second)


def _axis_title(axis: str) -> str | None:
    return axis if axis in {"query", "key", "token", "vocabulary", "head", "score"} else None


def _with_room(names: tuple[str, ...]) -> list[str]:
    """The labels; numbered ones go on up to the widest matrix, so that a width can grow."""
    return NUMBERED if names == tuple(NUMBERED[: len(names)]) else list(names)


def _shape(axes: tuple[str, str]) -> str:
    """The shape in words, `query 6 × key 6` or `token 6`, as an expression: it counts the cells
    that are drawn, so that another width does not make another specification.
    """
    named = [
        f"'{axis} ' + domain('{side}').length"
        for axis, side in zip(axes, "yx", strict=True)
        if axis
    ]
    return " + ' × ' + ".join(named)


def _title(name: str, shape: str) -> dict:
    # Vega-Lite hands an expression on for any part of a title, though its schema names `text` only.
    return {
        "text": name,
        "subtitle": {"expr": shape},
        "anchor": "start",
        "frame": "group",
        "offset": 6,
        "fontSize": 12,
        "fontWeight": 600,
        "subtitleFontSize": 11,
        "subtitleColor": palette.MUTED,
        "subtitlePadding": 1,
    }


def _frame(matrix: Matrix, numbers: bool, heads: tuple[Marks, Marks]) -> pa.Table:
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
        "shade": _shade(picked, _limit(step, step.value if matrix.lead else picked)).flatten(),
        "outline": _outlines(matrix, drawn, n_columns).flatten(),
        "strength": torch.where(hidden, HIDDEN_STRENGTH, strength.repeat_interleave(n_columns)),
    }
    if matrix.transposed:
        table["row"], table["column"] = table["column"], table["row"]
    for side, marks in zip(("row", "column"), heads, strict=True):
        if marks:
            table[f"{side}_head"] = torch.tensor(marks)[table[side].int()].short()
    arrays = {name: pa.array(entries.numpy()) for name, entries in table.items()}
    if numbers:
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


def _shade(values: Tensor, limit: float) -> Tensor:
    """Values from -1 to 1 for the colours; what is not finite gets none."""
    if not limit or math.isinf(limit):
        return torch.zeros_like(values)
    return torch.where(values.isfinite(), (values / limit).clamp(-1, 1), 0.0)


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
    if step.name.endswith("weights") or step.name == "one_hot":
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
    wide = [(cell, 2.0) for cell in matrix.lit] + [(matrix.chosen, 3.0)] * bool(matrix.chosen)
    for cell, width in wide:
        row, *column = cell[n_lead:]
        if cell[:n_lead] == matrix.lead and row in place:
            outlines[place[row], column[0] if column else 0] = width
    return outlines
