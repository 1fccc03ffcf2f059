"""A tensor as a heatmap: rows, columns, a number in every cell while it can be read.

The chart is authored in Altair and compiled once; a rerun fills in data, labels and sizes. That
costs a tenth of building it anew (see NOTES.md, "Charts").
"""

import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache

import altair as alt
import pandas as pd

from attention_core.tokenizers import visible
from attention_core.trace import Step, Trace

from .. import palette

OPERATOR_ROOM = 34
LABEL_ROOM = 92
BELOW = 8


@dataclass(frozen=True)
class Chart:
    """What `st.vega_lite_chart` needs: data, a compiled specification, and words for it."""

    frame: pd.DataFrame
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
    dim_after: int | None = None
    """Rows from here on are drawn faintly: they have not been reached."""
    row_labels: bool = True

    @property
    def key(self) -> str:
        """Tells this drawing of the step from its others on the page."""
        return "t" if self.transposed else "n"

    @property
    def axes(self) -> tuple[str, str]:
        """The axis along the rows and the one along the columns; '' where there is none."""
        axes = self.step.axes if self.step.value.ndim == 2 else (self.step.axes[0], "")
        return axes[::-1] if self.transposed else axes

    @property
    def sizes(self) -> tuple[int, int]:
        """How many rows and columns are drawn."""
        n_rows, n_columns = (*self.step.value.shape, 1)[:2]
        n_rows = n_rows if self.rows is None else len(self.rows)
        return (n_columns, n_rows) if self.transposed else (n_rows, n_columns)


@dataclass(frozen=True)
class CellSize:
    """Width and height of a cell in pixels, and the size of the number in it (0 for none)."""

    width: int
    height: int
    font: int


def cell_size(longest_axis: int) -> CellSize:
    """One size for all matrices of a page, from the longest axis among them."""
    for limit, size in (
        (8, CellSize(42, 30, 12)),
        (12, CellSize(36, 27, 11)),
        (17, CellSize(33, 25, 10)),
        (24, CellSize(24, 20, 0)),
        (36, CellSize(18, 16, 0)),
    ):
        if longest_axis <= limit:
            return size
    return CellSize(11, 10, 0)


def label_room(names: Sequence[str]) -> int:
    """Pixels that the longest of these labels takes, up to a limit."""
    return min(LABEL_ROOM, max((text_width(name) for name in names), default=0))


def text_width(text: str) -> int:
    """About how wide a label is in pixels; characters beyond Latin are taken as wide ones."""
    return round(sum(6.4 if ord(character) < 0x1100 else 13 for character in text))


def names_of(trace: Trace, axis: str) -> list[str]:
    """The labels of an axis as they are written on screen."""
    return [visible(name) for name in trace.labels(axis)] if axis else [""]


def column_room(names: Sequence[str], size: CellSize) -> int:
    """Height of the labels above the columns: one line, or slanted where they are wide."""
    room = label_room(names)
    return 16 if room <= size.width else round(room * math.sin(math.radians(45))) + 14


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
    row_axis, column_axis = matrix.axes
    row_names, column_names = _names(trace, matrix)
    n_rows, n_columns = matrix.sizes
    step = matrix.step
    above = band if band is not None else band_above(trace, matrix, size)
    left = label_room(row_names) + (OPERATOR_ROOM if operator else 0)
    if matrix.row_labels:
        left += 8 + (16 if _axis_title(row_axis) else 0)

    spec = deepcopy(_template(size.font > 0))
    spec |= {
        "width": {"step": size.width},
        "height": {"step": size.height},
        "autosize": {"type": "pad"},
        "padding": {"left": 2, "top": 2, "right": 6, "bottom": BELOW},
        "title": _title(matrix),
    }
    for parameter in spec["params"]:
        if parameter["name"] == "row_names":
            parameter["value"] = row_names
        elif parameter["name"] == "column_names":
            parameter["value"] = column_names
    slanted = label_room(column_names) > size.width
    cells = spec["layer"][0]["encoding"]
    for layer in spec["layer"]:
        encoding = layer["encoding"]
        if "column" in str(encoding["x"]):
            encoding["x"]["axis"] |= {
                "title": _axis_title(column_axis) or " ",
                "labelAngle": 0,
                "minExtent": above,
                "maxExtent": above,
            }
            if slanted:
                encoding["x"]["axis"] |= {"labelAngle": -45, "labelAlign": "left"}
            encoding["y"]["axis"]["title"] = _axis_title(row_axis) if matrix.row_labels else None
        else:
            layer["mark"]["text"] = operator
            encoding["x"]["value"] = OPERATOR_ROOM // 2 - left
            encoding["y"]["value"] = n_rows * size.height / 2
    for tip, axis in zip(cells["tooltip"], (row_axis, column_axis), strict=False):
        tip["title"] = axis or step.name
    return Chart(_frame(matrix), spec, describe(trace, matrix))


def band_above(trace: Trace, matrix: Matrix, size: CellSize) -> int:
    """The room that the labels of a matrix need above its cells."""
    column_axis = matrix.axes[1]
    return column_room(_names(trace, matrix)[1], size) if column_axis else 4


def describe(trace: Trace, matrix: Matrix) -> str:
    """A sentence for those who cannot see the chart."""
    step, values = matrix.step, matrix.step.value.float()
    rows, columns = matrix.axes
    where = f"rows are {rows or 'entries'}" + (f", columns are {columns}" if columns else "")
    size = f"{matrix.sizes[0]} by {matrix.sizes[1]}"
    finite = values[values.isfinite()]
    span = f"from {finite.min():.4g} to {finite.max():.4g}" if len(finite) else "none finite"
    return f"Heatmap of {matrix.title or step.name}, {size}: {where}. Values {span}."


def written(value: float, whole: bool = False) -> str:
    """A number as it stands in a cell: two decimals, fewer where it is large."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    if whole:
        return str(int(value))
    text = f"{value:.2f}" if abs(value) < 99.95 else f"{value:.0f}"
    return text.replace("-", "" if float(text) == 0 else "−")


def _names(trace: Trace, matrix: Matrix) -> tuple[list[str], list[str]]:
    axes = matrix.axes[::-1] if matrix.transposed else matrix.axes
    first = names_of(trace, axes[0])
    if matrix.rows is not None:
        first = [first[row] for row in matrix.rows]
    second = names_of(trace, axes[1])
    rows, columns = (second, first) if matrix.transposed else (first, second)
    return (rows if matrix.row_labels else [""] * len(rows)), columns


def _axis_title(axis: str) -> str | None:
    return axis if axis in {"query", "key", "token", "vocabulary", "head"} else None


def _title(matrix: Matrix) -> dict:
    name = (matrix.title or matrix.step.name) + ("ᵀ" if matrix.transposed else "")
    return {
        "text": name,
        "subtitle": " × ".join(map(str, matrix.sizes)),
        "anchor": "start",
        "frame": "group",
        "offset": 6,
        "fontSize": 13,
        "fontWeight": 600,
        "subtitleFontSize": 11,
        "subtitleColor": palette.MUTED,
        "subtitlePadding": 1,
    }


def _frame(matrix: Matrix) -> pd.DataFrame:
    """One row a cell: place, value, shade (-1 to 1), the number as written, outline, strength."""
    step = matrix.step
    values = step.value if step.value.ndim == 2 else step.value[:, None]
    limit = _limit(step)
    drawn = range(values.shape[0]) if matrix.rows is None else matrix.rows
    picked = values if matrix.rows is None else values[list(drawn)]
    whole = not step.value.is_floating_point()
    n_columns = values.shape[1]
    flat = picked.flatten().tolist()
    places = [(at, row, column) for at, row in enumerate(drawn) for column in range(n_columns)]
    frame = pd.DataFrame(
        {
            "row": pd.array([at for at, _, _ in places], dtype="int16"),
            "column": pd.array([column for _, _, column in places], dtype="int16"),
            "value": pd.array(flat, dtype="float32"),
            "shade": pd.array([_shade(value, limit) for value in flat], dtype="float32"),
            "text": [written(value, whole) for value in flat],
            "outline": pd.array(
                [_outline(matrix, (row, column)) for _, row, column in places], dtype="float32"
            ),
            "strength": pd.array(
                [_strength(matrix, row) for _, row, _ in places], dtype="float32"
            ),
        }
    )
    return frame.rename(columns={"row": "column", "column": "row"}) if matrix.transposed else frame


def _shade(value: float, limit: float) -> float:
    return max(-1.0, min(1.0, value / limit)) if limit and math.isfinite(value) else 0.0


def _limit(step: Step) -> float:
    """The value of the strongest colour: 1 for weights, else the largest magnitude. Ids are names,
    not amounts, and get no colour.
    """
    if not step.value.is_floating_point():
        return math.inf
    if step.name.endswith("weights") or step.name == "one_hot":
        return 1.0
    finite = step.value[step.value.isfinite()]
    return float(finite.abs().max()) if len(finite) else 1.0


def _outline(matrix: Matrix, index: tuple[int, int]) -> float:
    own = index[: matrix.step.value.ndim]
    return 3.0 if own == matrix.chosen else 2.0 if own in matrix.lit else 0.0


def _strength(matrix: Matrix, row: int) -> float:
    return 1.0 if matrix.dim_after is None or row < matrix.dim_after else 0.15


@lru_cache(maxsize=2)
def _template(numbers: bool) -> dict:
    """The compiled specification: cells, numbers, outlines, and the operator before them."""
    quiet = {
        "labelOverlap": False,
        "labelColor": palette.MUTED,
        "titleColor": palette.MUTED,
        "titleFontWeight": "normal",
        "titleFontSize": 12,
        "labelFontSize": 12,
        "labelLimit": LABEL_ROOM,
        "domain": False,
        "ticks": False,
        "grid": False,
    }
    columns = alt.Axis(
        orient="top",
        labelExpr="column_names[datum.value]",
        titlePadding=2,
        labelPadding=4,
        **quiet,
    )
    rows = alt.Axis(
        labelExpr="row_names[datum.value]", labelBaseline="middle", labelPadding=6, **quiet
    )
    place = {
        "x": alt.X("column:O", axis=columns, scale=alt.Scale(paddingInner=0.04, paddingOuter=0)),
        "y": alt.Y("row:O", axis=rows, scale=alt.Scale(paddingInner=0.04, paddingOuter=0)),
    }
    names = [alt.param(name="row_names", value=[]), alt.param(name="column_names", value=[])]
    chosen = alt.selection_point(
        name="cell", fields=["row", "column"], toggle=False, on="click", clear=False, empty=False
    )
    strength = alt.Opacity("strength:Q", scale=None)
    base = alt.Chart(alt.Data(values=[]))
    cells = (
        base.transform_calculate(
            row_name="row_names[datum.row]", column_name="column_names[datum.column]"
        )
        .mark_rect(cornerRadius=3, cursor="pointer", stroke="transparent", strokeWidth=1)
        .encode(
            **place,
            color=alt.Color(
                "shade:Q",
                scale=alt.Scale(domain=[-1, -0.5, 0, 0.5, 1], range=palette.DIVERGING, interpolate="rgb"),
                legend=None,
            ),
            opacity=strength,
            tooltip=[
                alt.Tooltip("row_name:N"),
                alt.Tooltip("column_name:N"),
                alt.Tooltip("value:Q", title="value", format=".6~f"),
            ],
        )
        .add_params(chosen)
    )
    layers = [cells]
    if numbers:
        ink = alt.when(palette.ON_STRONG).then(alt.value(palette.PAPER))
        layers.append(
            base.mark_text(cursor="pointer", fontSize=12).encode(
                **place,
                text="text:N",
                color=ink.otherwise(alt.value(palette.INK)),
                opacity=strength,
            )
        )
    layers.append(
        base.transform_filter("datum.outline > 0")
        .mark_rect(filled=False, cornerRadius=3, stroke=palette.CHOSEN)
        .encode(**place, strokeWidth=alt.StrokeWidth("outline:Q", scale=None))
    )
    operator = (
        alt.Chart(alt.Data(values=[{}]))
        .mark_text(fontSize=26, text="")
        .encode(x=alt.value(0), y=alt.value(0))
    )
    spec = alt.layer(*layers, operator).add_params(*names).to_dict()
    return without_data(spec)


def without_data(spec: dict) -> dict:
    """Drop the empty data that a template was authored with: Streamlit sends the real one apart."""
    spec.pop("datasets", None)
    spec.pop("data", None)
    for layer in spec.get("layer", []):
        if layer.get("data", {}).get("values") == []:
            del layer["data"]
    return spec
