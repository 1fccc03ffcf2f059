"""Equations as pages draw them, and what ought to light up when a cell is pointed at: what its
arithmetic reads, and what has its names. Worked out from the steps alone, one cell at a time.
"""

import itertools
from functools import cache, cached_property
from unittest.mock import patch

from attention_core.trace import Step
from attention_ui.charts import legend
from attention_ui.charts.live import live_columns
from attention_ui.page import equation as equations
from drawn import opened


class Drawn:
    """An equation as a page draws it: its matrices, its chart, what was covered then."""

    def __init__(self, trace, columns, first_query=None, covered=(), name=""):
        self.name = name
        self.trace = trace
        self.columns = columns
        self.first_query = first_query
        self.covered = {*covered}
        self.placed = [each for lines in columns for line in lines for each in line]
        self.matrices = [each.matrix for each in self.placed]

    @cached_property
    def chart(self):
        return live_columns(self.trace, self.columns, self.first_query)

    @cached_property
    def rows(self):
        """The rows of the chart's table, by the number of their matrix; without the legend's."""
        found = {}
        for row in self.chart.frame.to_pylist():
            if row["matrix"] != legend.NUMBER:
                found.setdefault(row["matrix"], []).append(row)
        return found

    def indices(self, at):
        """Of each drawn cell of a matrix, by row and column, its place in the step."""
        return self._indices[at]

    def where(self, at):
        """Of each drawn cell of a step, its row and column."""
        return self._where[at]

    @cached_property
    def _where(self):
        return [{index: place for place, index in each.items()} for each in self._indices]

    @cached_property
    def _indices(self):
        found = []
        for matrix in self.matrices:
            where, places = itertools.product(*map(range, matrix.sizes)), matrix.places
            found.append({each: places.at(*each) for each in where})
        return found


def drawn_by(page, link):
    """The equations on a page, as they were drawn."""
    found = []
    draw = equations._chart

    def noted(view, name, columns, first_query):
        found.append(Drawn(view.trace, columns, first_query, view.covered, name))
        draw(view, name, columns, first_query)

    with patch.object(equations, "_chart", noted):
        opened(page, **link)
    assert found
    return found


def read(step, index):
    """Of each operand, the cells that the arithmetic of a cell reads."""
    operands = [
        Step(f"operand_{at}", each.value, each.axes, each.operation, each.inputs, "")
        for at, each in enumerate(step.inputs)
    ]
    found = [set() for _ in operands]
    for cell in step.operation.arithmetic(index, *operands).cells():
        found[int(cell.step.removeprefix("operand_"))].add(cell.index)
    return found


def operands_of(matrices, at):
    """(number of a matrix, operand of the step of matrix `at` that it draws), by the rule that a
    step with one other as two operands has each of them drawn by a matrix of its own.
    """
    step = matrices[at].step
    for operand, given in enumerate(step.inputs):
        into = [
            number
            for number, each in enumerate(matrices)
            if number != at and each.step.name == given.name and not each.covered
        ]
        if into and step.inputs.count(given) > 1:
            into = [into[min(step.inputs[:operand].count(given), len(into) - 1)]]
        yield from ((number, operand) for number in into)


def made_of(equation, at, index):
    """(number of a matrix, row, column) of each drawn cell that a cell is made of."""
    found = set()
    if equation.matrices[at].covered:
        return found
    cells = read(equation.matrices[at].step, index)
    for into, operand in operands_of(equation.matrices, at):
        drawn = equation.where(into)
        found |= {(into, *drawn[cell]) for cell in cells[operand] & drawn.keys()}
    return found


def fed_by(equation, at, place):
    """(number of a matrix, row, column) of each drawn cell that is made of this one."""
    if equation.matrices[at].covered:
        return set()
    return {
        (number, *where)
        for number in range(len(equation.matrices))
        for where, index in equation.indices(number).items()
        if (at, *place) in made_of(equation, number, index)
    }


def named(trace, axes, index):
    """The names of a cell by axis; its head too, where heads stand side by side along an axis."""
    names = dict(zip(axes, index, strict=True))
    for axis in {"d_queries", "d_concat"} & names.keys():
        if trace.has_axis("head"):
            names["head"] = names[axis] // (trace.size(axis) // trace.size("head"))
    return names


def upstream(step):
    return {step.name}.union(*map(upstream, step.inputs))


@cache
def related(one, other):
    """Whether a step is before or after another, or it itself."""
    return one.name in upstream(other) or other.name in upstream(one)


def has_names(own, names):
    """Whether a cell has the names of what is pointed at, by axis: its query, its key, its head,
    its component. A token is a query and a key; of a pair of them, either will do.
    """
    if {"query", "key"} <= own.keys() and "token" in names and not own.keys() & names.keys():
        return names["token"] in (own["query"], own["key"])
    for axis, place in own.items():
        if axis in names:
            wanted = {names[axis]}
        elif axis == "token":
            wanted = {names[each] for each in ("query", "key") if each in names}
        elif axis in ("query", "key") and "token" in names:
            wanted = {names["token"]}
        else:
            continue
        if wanted and place not in wanted:
            return False
    return True


def expected_bright(equation, at, place):
    """(matrix, row, column) of the cells that ought to stay bright."""
    step, index = equation.matrices[at].step, equation.indices(at)[place]
    names = named(equation.trace, step.axes, index)
    found = {(at, *place)}
    if equation.matrices[at].covered:
        return found
    found |= made_of(equation, at, index)
    for number, each in enumerate(equation.matrices):
        is_twin = equation.matrices[at].compared and each.compared
        if related(step, each.step) or (is_twin and each.axes == equation.matrices[at].axes):
            found |= {
                (number, *where)
                for where, cell in equation.indices(number).items()
                if has_names(named(equation.trace, each.step.axes, cell), names)
            }
    return found
