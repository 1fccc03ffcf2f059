"""An equation as one chart, alive under the pointer without the server.

Its matrices are views of one table of cells. Each view is the heatmap that stands alone elsewhere;
what is added here are the rules of pointing, the sums in the margin, and the arithmetic in words.
"""

import json
from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import torch

from attention_core.trace import Trace

from ..picture import palette
from ..picture.forbidden import leak_limit, with_masks
from ..picture.matrix import Matrix
from ..picture.numbers import text_width
from ..picture.scale import Scale, limits
from . import legend, sentence, two_sentences
from .chart import Chart
from .fit import band_above
from .heatmap import heatmap
from .margin import add_sums, has_sums, is_one_row, is_shares, sums
from .placed import Placed
from .pointing import column_of, fields, is_bright, is_fed, is_lit, n_slots, packed, parameters
from .reach import Reach, places, reaches
from .sizes import BETWEEN
from .tooltip import arithmetics

SIDES = ("row", "column")
DIM = 0.3
BETWEEN_LINES = 14
MOST_POINTED, MOST_OF_A_LAYER = 10_000, 15_000
MOST_PLACES = 4_096
"""More than a matrix that is drawn has rows or columns."""
MOST_MARKS = 6_000
"""A chart of more marks is drawn on a canvas: many elements are slow, and few would read them."""


MEANING = (
    "'“' + datum.row_name + '” takes in ' + format(datum.value, '.0%') + ' of “' + "
    "datum.column_name + '”'"
)
"""What a weight does, in words."""
Lines = Sequence[Sequence[Placed]]


def live(trace: Trace, lines: Lines, first_query: int | None = None) -> Chart:
    """All matrices of an equation, line by line. Where `first_query` is given and there are weights
    among them, the sentence stands above, as that query sees it until another is pointed at.
    """
    return live_columns(trace, [lines], first_query)


def live_columns(trace: Trace, columns: Sequence[Lines], first_query: int | None = None) -> Chart:
    """The same for lines in several columns, from left to right."""
    lines = [line for column in columns for line in column]
    placed = [each for line in lines for each in line]
    matrices = with_masks([each.matrix for each in placed])
    ends = limits(matrices, [each.operator for each in placed])
    leaks = leak_limit(matrices)
    # Of so many cells none could be aimed at, and their rectangles would be most of the page.
    # A whole layer is the only chart of its page, so it may have more.
    most = MOST_POINTED if len(columns) == 1 else MOST_OF_A_LAYER
    is_small = sum(each.drawn.numel() for each in matrices) <= most
    reached = [
        reaches(matrices, at) if is_small and not each.covered else []
        for at, each in enumerate(matrices)
    ]
    bands = []
    for line in lines:
        bands += [max(band_above(trace, each.matrix, each.size) for each in line)] * len(line)
    charts = [
        heatmap(trace, matrix, each.size, each.operator, band, Scale(end, leaks))
        for matrix, each, band, end in zip(matrices, placed, bands, ends, strict=True)
    ]
    has_places = is_small or first_query is not None
    tables, views = [], []
    for at, (one, chart) in enumerate(zip(placed, charts, strict=True)):
        told = arithmetics(one.matrix) if one.tells else None
        tables.append(_table(chart.frame, at, one.matrix, reached[at], told, has_places))
        joined, head = _joined(chart.frame), _head(trace, one.matrix)
        views.append(_view(chart.spec, at, one, reached, told is not None, joined, head))
    named = [name for view in views for name in view.pop("params")]
    laid_out = _laid_out(columns, views)
    drawn = [] if first_query is None else sentence.weighted(matrices)
    of_one = any(is_one_row(matrices[at]) for at in drawn)
    if of_one and two_sentences.are_there(trace):
        drawn = []  # the query of one row is no token of the keys' sentence
    pointed_as = "key" if of_one else "query"
    if drawn:
        number = len(matrices)
        for at in drawn:
            tables[at] = (_with_query if of_one else _with_first)(tables[at], first_query)
        tables.append(sentence.tokens(trace, pointed_as, number))
        if two_sentences.are_there(trace):
            above = two_sentences.picture(trace, drawn, number)
            named += above.pop("params")
        else:
            above = sentence.sentence(trace, drawn, number, of_one)
        laid_out = {"vconcat": [above, laid_out]}
        named += sentence.parameters(trace, matrices, pointed_as, number)
    n_views = len(tables)
    if any(map(legend.is_coloured, matrices)):
        tables.append(legend.table(matrices, ends))
        laid_out = {"vconcat": [laid_out, legend.legend()]}
    marks = 2 * sum(table.num_rows for table in tables)
    n_reaches = max(map(len, reached))
    frame = _narrow(pa.concat_tables(tables, promote_options="default"))
    renderer = "svg" if marks <= MOST_MARKS else "canvas"
    if renderer == "svg":
        _keep_marks(laid_out)
        frame = _with_ids(frame)
    return Chart(
        frame,
        {
            **laid_out,
            "spacing": BETWEEN_LINES,
            "params": [
                *named,
                _chosen(n_views),
                _hover(
                    n_views if is_small else 0,
                    n_reaches,
                    {side for each in charts for side in _joined(each.frame)},
                ),
                *parameters(matrices, reached, pointed_as),
            ],
            "resolve": {"scale": {"x": "independent", "y": "independent"}},
            "autosize": {"type": "pad"},
            "padding": {"left": 2, "top": 2, "right": 6, "bottom": 2},
            "usermeta": {"embedOptions": {"renderer": renderer}},
        },
        " ".join(chart.alt for chart in charts),
    )


def _keep_marks(view: dict) -> None:
    """Let what is drawn stay when its data change. Else each mark would be an element made anew,
    which takes most of the time of a new picture.
    """
    for part in (*view.get("hconcat", ()), *view.get("vconcat", ()), *view.get("layer", ())):
        _keep_marks(part)
    if "mark" in view and "data" not in view:
        view["encoding"]["key"] = {"field": "id"}


def _with_ids(table: pa.Table) -> pa.Table:
    """Rows that are known by their matrix and their place in it, by which marks are kept."""
    found = table["matrix"].cast(pa.int32())
    for side in SIDES:
        found = pc.add(pc.multiply(found, MOST_PLACES), table[side].cast(pa.int32()))
    return table.append_column("id", found.cast(pa.int32()))


def _narrow(table: pa.Table) -> pa.Table:
    """The same table with places in one byte each, where they fit."""
    for at, field in enumerate(table.schema):
        if field.type == pa.int16():
            ends = pc.min_max(table.column(at)).as_py()
            if ends["min"] is None or -128 <= ends["min"] <= ends["max"] <= 127:
                table = table.set_column(at, field.name, table.column(at).cast(pa.int8()))
    return table


def _with_first(table: pa.Table, query: int) -> pa.Table:
    """Cells that know whether they are of the query that is drawn first."""
    return table.append_column("is_first", pc.equal(table["i"], pa.scalar(query, pa.int16())))


def _with_query(table: pa.Table, query: int) -> pa.Table:
    """Cells that know which query they are weights of, where there is no other."""
    return table.append_column("asks", pa.array([query] * table.num_rows, pa.int16()))


def _laid_out(columns: Sequence[Lines], views: list[dict]) -> dict:
    """The views in columns of lines; those of one line are centred on it."""
    rest = iter(views)
    drawn = [
        {
            "vconcat": [
                {"hconcat": [next(rest) for _ in line], "center": True, "spacing": BETWEEN}
                for line in lines
            ],
            "spacing": BETWEEN_LINES,
        }
        for lines in columns
    ]
    return drawn[0] if len(drawn) == 1 else {"hconcat": drawn, "spacing": 2 * BETWEEN}


def _table(
    cells: pa.Table,
    at: int,
    matrix: Matrix,
    reached: Sequence[Reach],
    told: list[str] | None,
    has_places: bool,
) -> pa.Table:
    """The cells of one matrix, with all that pointing at them asks for."""
    more = {"matrix": torch.full((cells.num_rows,), at).short()}
    if has_places:
        more |= dict(zip("ij", (each.short() for each in places(matrix)), strict=True))
    for number, each in enumerate(reached):
        more[column_of(number)] = packed(each.rectangles)
    for name, column in more.items():
        cells = cells.append_column(name, pa.array(column.numpy()))
    if has_sums(matrix):
        cells = cells.append_column("row_sum", pa.array(sums(matrix).numpy()))
    if told is not None:
        cells = cells.append_column("arithmetic", pa.array(told))
    return cells


def _head(trace: Trace, matrix: Matrix) -> str:
    """The head that a matrix belongs to, with its name if it has one; else ''."""
    if not matrix.lead:
        return ""
    number = matrix.lead[0]
    name = trace.name_of("head", number)
    return f"head {number}" if name is None else f"head {number}: {name}"


def _joined(cells: pa.Table) -> list[str]:
    """The sides of a matrix along which heads stand side by side."""
    return [side for side in SIDES if f"{side}_head" in cells.column_names]


def _view(
    spec: dict,
    at: int,
    placed: Placed,
    reached: Sequence[Sequence[Reach]],
    tells: bool,
    joined: Sequence[str],
    head: str,
) -> dict:
    """A heatmap as one view of a larger chart."""
    view = json.loads(json.dumps(spec))  # a copy, in a quarter of the time that deepcopy takes
    for needless in ("autosize", "padding"):
        view.pop(needless)
    name = f"{'covered' if placed.matrix.covered else 'matrix'}_{at}"
    view["name"] = name
    view["transform"] = [{"filter": f"datum.matrix === {at}"}]
    # One selection serves all views: see `_chosen`.
    view["params"] = [each for each in view["params"] if "select" not in each]
    for parameter in view["params"]:
        parameter["name"] += f"_{at}"
    first = view["layer"][0]
    first["name"] = f"cells_{at}"
    _rename(view, at)
    shape = view["title"].pop("subtitle")["expr"]
    if placed.compact:
        view["title"] |= {"offset": 2, "fontSize": 11, "subtitle": _axes_above(placed)}
        axis = view["encoding"]["y"]["axis"]
        if placed.matrix.lead and axis["title"]:
            axis["title"] = f"{head} · {axis['title']}"
        first["mark"]["cornerRadius"] = 1
    else:
        view["title"]["subtitle"] = {"expr": shape.replace("domain('", f"domain('{name}_")}
    bright = is_bright(at, n_slots(reached, at), joined)
    operator = view["layer"][-1]
    operator["encoding"]["y"] = {"value": {"expr": f"{name}_height / 2"}}
    for layer in view["layer"]:
        strength = layer["encoding"].get("opacity")
        if strength:
            layer["encoding"]["opacity"] = {
                "condition": {"test": bright, **strength},
                "value": DIM,
            }
        elif "strokeWidth" in layer["encoding"]:
            layer["encoding"]["opacity"] = {
                "condition": {"test": "hover.matrix", "value": DIM},
                "value": 1,
            }
    if placed.matrix.covered:
        first["encoding"].pop("tooltip")
    else:
        lit = {"test": is_lit(at, n_slots(reached, at)), "value": palette.CHOSEN}
        fed = {"test": is_fed(at, reached[at]), "value": palette.FED}
        first["encoding"] |= {
            # Transparent, not none: an outline must not move what stands beside it.
            "stroke": {"condition": [lit, fed], "value": "transparent"},
            "strokeWidth": {"value": 2.5},
        }
    if has_sums(placed.matrix):
        add_sums(view, placed.matrix, placed.size)
    if is_shares(placed.matrix) and not placed.matrix.covered:
        first["transform"].append({"calculate": MEANING, "as": "meaning"})
        first["encoding"]["tooltip"].append({"field": "meaning", "type": "nominal", "title": "so"})
    if tells:
        first["encoding"]["tooltip"].append(
            {"field": "arithmetic", "type": "nominal", "title": "="}
        )
    return view


def _axes_above(placed: Placed) -> str:
    """The names of the axes, where they have room above the columns."""
    words = " × ".join(placed.matrix.axes)
    return words if text_width(words) <= len(placed.matrix.drawn[0]) * placed.size.width else " "


def _rename(view: dict, at: int) -> None:
    """Give the lists of names of this view their own names, wherever an expression uses them."""
    for side in "xy":
        axis = view["encoding"][side].get("axis")
        if axis and "labelExpr" in axis:
            axis["labelExpr"] = _named(axis["labelExpr"], at)
    for layer in view["layer"]:
        for transform in layer.get("transform", ()):
            if "calculate" in transform:
                transform["calculate"] = _named(transform["calculate"], at)


def _named(expression: str, at: int) -> str:
    for side in ("row", "column"):
        expression = expression.replace(f"{side}_names[", f"{side}_names_{at}[")
    return expression


def _chosen(n_views: int) -> dict:
    """The cell that is clicked on, which opens its arithmetic."""
    return {
        "name": "cell",
        "select": {
            "type": "point",
            "on": "click",
            "clear": False,
            "fields": ["matrix", "row", "column"],
            "toggle": False,
        },
        "views": [f"cells_{at}" for at in range(n_views)],
    }


def _hover(n_views: int, n_reaches: int, joined: Iterable[str]) -> dict:
    """The cell that is pointed at. The server is not told of it. Without views, there is none."""
    if not n_views:
        return {"name": "hover", "value": {}}
    return {
        "name": "hover",
        "select": {
            "type": "point",
            "on": "pointerover",
            "clear": "pointerout",
            "fields": fields(n_reaches, joined),
            "toggle": False,
        },
        "views": [f"cells_{at}" for at in range(n_views)],
    }
