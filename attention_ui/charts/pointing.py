"""The rules of pointing, as expressions that a chart works out in the browser.

`hover` is the cell that is pointed at: the number of its matrix, where it is drawn (row, column),
its places along the axes (i, j), and the rectangles that it is made of (see reach.py).
"""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from ..picture.matrix import JOINED, Matrix
from .reach import SAME_TOKENS, Reach, related

BASE = 8_192
"""More than a matrix that is drawn has rows or columns, such that a number holds four of them."""


def packed(rectangles: Tensor) -> Tensor:
    """Rectangles (cell, 4) as one number a cell: a browser takes its time over each column."""
    return (rectangles.double() + 1) @ torch.tensor([BASE**3, BASE**2, BASE, 1.0]).double()


def ends(number: str) -> list[str]:
    """The expressions for first row, last row, first column and last column of such a number."""
    above = [f"floor({number} / {BASE**power})" for power in (3, 2, 1)]
    first, *rest = (*above, number)
    return [f"({first} - 1)", *(f"({each} % {BASE} - 1)" for each in rest)]


def column_of(at: int) -> str:
    """The column of the table that holds the rectangles of this number."""
    return f"reach_{at}"


def fields(n_reaches: int, joined: Iterable[str]) -> list[str]:
    """What the chart keeps of the cell that is pointed at; of its head, where heads are joined."""
    return [
        "matrix",
        "row",
        "column",
        "i",
        "j",
        *(f"{side}_head" for side in sorted(joined)),
        *map(column_of, range(n_reaches)),
    ]


def parameters(
    matrices: Sequence[Matrix], reached: Sequence[Sequence[Reach]], pointed_as: str = "query"
) -> list[dict]:
    """For each matrix, worked out once for each cell that is pointed at: the rectangles to outline
    (`lit_3_0` of matrix 3), and the places that have the same names (`same_3`). What is pointed at
    beyond the last matrix is a token of the sentence, `pointed_as` a query or a key.
    """
    found = []
    flows = related([matrix.step for matrix in matrices])
    for at, matrix in enumerate(matrices):
        for slot in range(n_slots(reached, at)):
            here = "[hover.row[0], hover.row[0], hover.column[0], hover.column[0]]"
            expr = "null" if slot else f"hover.matrix[0] === {at} ? {here} : null"
            for source, reaches in enumerate(reached):
                numbers = [k for k, each in enumerate(reaches) if each.into == at]
                if slot < len(numbers):
                    four = ", ".join(ends(f"hover.{column_of(numbers[slot])}[0]"))
                    expr = f"hover.matrix[0] === {source} ? [{four}] : {expr}"
            found.append({"name": f"lit_{at}_{slot}", "expr": f"hover.matrix ? ({expr}) : null"})
        expr = f"hover.matrix[0] === {len(matrices)} ? {_of_token(matrix, pointed_as)} : null"
        for source, pointed in enumerate(matrices):
            is_twin = pointed.compared and matrix.compared and pointed.axes == matrix.axes
            flows_between = (pointed.step.name, matrix.step.name) in flows
            if (is_twin or flows_between) and not pointed.covered:
                names = _same_names(pointed, matrix)
                expr = f"hover.matrix[0] === {source} ? {names} : {expr}"
        found.append({"name": f"same_{at}", "expr": f"hover.matrix ? ({expr}) : null"})
        expr = "null"
        for number, each in enumerate(reached[at]):
            expr = f"hover.matrix[0] === {each.into} ? {number} : {expr}"
        if reached[at]:
            found.append({"name": f"reads_{at}", "expr": f"hover.matrix ? ({expr}) : null"})
    return found


def n_slots(reached: Sequence[Sequence[Reach]], at: int) -> int:
    """How many rectangles of a matrix can be lit at once; one may be the pointed cell itself."""
    return max(1, *(sum(each.into == at for each in reaches) for reaches in reached))


def is_lit(at: int, n: int) -> str:
    """Whether a cell of this matrix is pointed at, or the cell that is, is made of it."""
    return " || ".join(
        f"(lit_{at}_{k} && datum.row >= lit_{at}_{k}[0] && datum.row <= lit_{at}_{k}[1]"
        f" && datum.column >= lit_{at}_{k}[2] && datum.column <= lit_{at}_{k}[3])"
        for k in range(n)
    )


def is_fed(at: int, reaches: Sequence[Reach]) -> str:
    """Whether a cell of this matrix is made of the cell that is pointed at."""
    tests = []
    for number in range(len(reaches)):
        first, last, left, right = ends(f"datum.{column_of(number)}")
        inside = f"{first} <= hover.row[0] && {last} >= hover.row[0]"
        inside += f" && {left} <= hover.column[0] && {right} >= hover.column[0]"
        others = [each.into for each in reaches].count(reaches[number].into) > 1
        chosen = f"reads_{at} !== null" if others else f"reads_{at} === {number}"
        tests.append(f"({chosen} && {inside})")
    return " || ".join(tests) or "false"


def is_bright(at: int, n: int, joined: Sequence[str] = ()) -> str:
    """Whether a cell of this matrix keeps its colour: nothing is pointed at, or what is pointed at
    is this cell, or is made of it, or has its names. Along `joined` sides (row, column) heads stand
    side by side, of which only that of the pointed cell stays bright.
    """
    same = f"same_{at}"
    one = f"({same}[0] < 0 || datum.i === {same}[0] || datum.i === {same}[1])"
    other = f"({same}[2] < 0 || datum.j === {same}[2] || datum.j === {same}[3])"
    either = f"(datum.i === {same}[0] || datum.j === {same}[2])"
    heads = " && ".join(f"({same}[5] < 0 || datum.{side}_head === {same}[5])" for side in joined)
    named = f"({same} && ({same}[4] ? {either} : {' && '.join(filter(None, (one, other, heads)))}))"
    return f"!hover.matrix || {named} || {is_lit(at, n)}"


def _same_names(pointed: Matrix, matrix: Matrix) -> str:
    """What the places of a matrix must be to have the names of the cell that is pointed at: two
    that its row may be, two for its column (-1 for any), and whether one of both is enough.
    """
    here = {axis: f"hover.{side}[0]" for side, axis in zip("ij", pointed.axes, strict=True) if axis}
    lead = zip(pointed.step.axes, pointed.lead, strict=False)
    here |= {axis: str(place) for axis, place in lead}
    sides = [_places(axis, here) for axis in matrix.axes]
    shared = set(matrix.axes) & here.keys()
    both = "token" in here and not shared and set(matrix.axes) == {"query", "key"}
    (a, b), (c, d) = sides
    head = here.get("head") or _joined_head(pointed) or "-1"
    names = f"[{a}, {b}, {c}, {d}, {'true' if both else 'false'}, {head}]"
    if "head" not in here and (head := _joined_head(pointed)):
        here["head"] = head
    fixed = zip(matrix.step.axes, matrix.lead, strict=False)
    tests = [f"{here[axis]} === {place}" for axis, place in fixed if axis in here]
    return f"({' && '.join(tests)} ? {names} : null)" if tests else names


def _of_token(matrix: Matrix, axis: str) -> str:
    """The same where a token of the sentence is pointed at: all that is of this query or key."""
    here = {axis: "hover.i[0]"}
    (a, b), (c, d) = (_places(axis, here) for axis in matrix.axes)
    return f"[{a}, {b}, {c}, {d}, false, -1]"


def _joined_head(matrix: Matrix) -> str:
    """The head of the pointed cell of a matrix along which heads stand side by side; else ''."""
    for side, axis in zip(("row", "column"), matrix.axes, strict=True):
        if axis in JOINED:
            return f"hover.{side}_head[0]"
    return ""


def _places(axis: str, here: dict[str, str]) -> tuple[str, str]:
    if axis in here:
        return here[axis], here[axis]
    same = [here[other] for other in SAME_TOKENS.get(axis, ()) if other in here]
    return (same[0], same[-1]) if same else ("-1", "-1")
