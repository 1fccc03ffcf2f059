"""The rules of pointing, as expressions that a chart works out in the browser.

`hover` is the cell that is pointed at: the number of its matrix, where it is drawn (row, column),
its places along the axes (i, j), and the rectangles that it is made of (see reach.py).
"""

from collections.abc import Sequence

from .matrix import Matrix
from .reach import SAME_TOKENS, Reach, are_related

SIDES = ("first_row", "last_row", "first_column", "last_column")


def columns_of(at: int) -> list[str]:
    """The columns of the table that hold the rectangles of this number."""
    return [f"{side}_{at}" for side in SIDES]


def fields(n_reaches: int) -> list[str]:
    """What the chart keeps of the cell that is pointed at."""
    reached = [column for at in range(n_reaches) for column in columns_of(at)]
    return ["matrix", "row", "column", "i", "j", *reached]


def parameters(matrices: Sequence[Matrix], reached: Sequence[Sequence[Reach]]) -> list[dict]:
    """For each matrix, worked out once for each cell that is pointed at: the rectangles to outline
    (`made_3_0` of matrix 3), and the places that have the same names (`same_3`). What is pointed at
    beyond the last matrix is a token of the sentence, as a query.
    """
    found = []
    for at, matrix in enumerate(matrices):
        for slot in range(n_slots(reached, at)):
            expr = "null"
            for source, reaches in enumerate(reached):
                numbers = [k for k, each in enumerate(reaches) if each.into == at]
                if slot < len(numbers):
                    ends = ", ".join(f"hover.{side}[0]" for side in columns_of(numbers[slot]))
                    expr = f"hover.matrix[0] === {source} ? [{ends}] : {expr}"
            found.append({"name": f"made_{at}_{slot}", "expr": f"hover.matrix ? ({expr}) : null"})
        expr = f"hover.matrix[0] === {len(matrices)} ? {_of_query(matrix)} : null"
        for source, pointed in enumerate(matrices):
            names = _same_names(pointed, matrix)
            if names and not pointed.covered:
                expr = f"hover.matrix[0] === {source} ? {names} : {expr}"
        found.append({"name": f"same_{at}", "expr": f"hover.matrix ? ({expr}) : null"})
    return found


def n_slots(reached: Sequence[Sequence[Reach]], at: int) -> int:
    """How many rectangles of a matrix can be lit at once."""
    return max((sum(each.into == at for each in reaches) for reaches in reached), default=0)


def is_pointed(at: int) -> str:
    """Whether a cell of this matrix is the one that is pointed at."""
    here = "hover.row[0] === datum.row && hover.column[0] === datum.column"
    return f"hover.matrix && hover.matrix[0] === {at} && {here}"


def is_made_of(at: int, n: int) -> str:
    """Whether the cell that is pointed at is made of a cell of this matrix."""
    tests = [
        f"(made_{at}_{k} && datum.row >= made_{at}_{k}[0] && datum.row <= made_{at}_{k}[1]"
        f" && datum.column >= made_{at}_{k}[2] && datum.column <= made_{at}_{k}[3])"
        for k in range(n)
    ]
    return " || ".join(tests) or "false"


def is_bright(at: int, n: int) -> str:
    """Whether a cell of this matrix keeps its colour: nothing is pointed at, or what is pointed at
    is this cell, or is made of it, or has its names.
    """
    same = f"same_{at}"
    one = f"({same}[0] < 0 || datum.i === {same}[0] || datum.i === {same}[1])"
    other = f"({same}[2] < 0 || datum.j === {same}[2] || datum.j === {same}[3])"
    either = f"(datum.i === {same}[0] || datum.j === {same}[2])"
    named = f"({same} && ({same}[4] ? {either} : {one} && {other}))"
    return f"!hover.matrix || ({is_pointed(at)}) || {named} || {is_made_of(at, n)}"


def _same_names(pointed: Matrix, matrix: Matrix) -> str:
    """What the places of a matrix must be to have the names of the cell that is pointed at: two
    that its row may be, two for its column (-1 for any), and whether one of both is enough. '' for
    a matrix that is neither before it nor after it.
    """
    if not are_related(pointed.step, matrix.step):
        return ""
    here = {axis: f"hover.{side}[0]" for side, axis in zip("ij", pointed.axes, strict=True) if axis}
    lead = zip(pointed.step.axes, pointed.lead, strict=False)
    here |= {axis: str(place) for axis, place in lead}
    sides = [_places(axis, here) for axis in matrix.axes]
    shared = set(matrix.axes) & here.keys()
    both = "token" in here and not shared and set(matrix.axes) == {"query", "key"}
    (a, b), (c, d) = sides
    names = f"[{a}, {b}, {c}, {d}, {'true' if both else 'false'}]"
    fixed = zip(matrix.step.axes, matrix.lead, strict=False)
    tests = [f"{here[axis]} === {place}" for axis, place in fixed if axis in here]
    return f"({' && '.join(tests)} ? {names} : null)" if tests else names


def _of_query(matrix: Matrix) -> str:
    """The same where a token of the sentence is pointed at: all that is of this query."""
    here = {"query": "hover.i[0]"}
    (a, b), (c, d) = (_places(axis, here) for axis in matrix.axes)
    return f"[{a}, {b}, {c}, {d}, false]"


def _places(axis: str, here: dict[str, str]) -> tuple[str, str]:
    if axis in here:
        return here[axis], here[axis]
    same = [here[other] for other in SAME_TOKENS.get(axis, ()) if other in here]
    return (same[0], same[-1]) if same else ("-1", "-1")
