"""What lights up when a cell is pointed at, in every equation of every page and for every
operation: the cells it is made of, and those with its names, as the expressions of the chart work
it out.
"""

import itertools
import math
import random
import re
from collections import deque
from functools import cache

import pytest
import torch

from attention_core import operations as ops
from attention_core.examples import EXAMPLES
from attention_core.explain.extents import extents
from attention_core.explain.plain_text import plain_text
from attention_core.trace import Step, Trace
from attention_ui.charts.live import MOST_PLACES
from attention_ui.charts.matrix import Matrix
from attention_ui.charts.placed import Placed
from attention_ui.charts.pointing import BASE, ends, packed
from attention_ui.charts.reach import reaches
from attention_ui.charts.sizes import CellSize
from attention_ui.page.equation import draw_equation
from attention_ui.page.view import View
from attention_ui.settings import session
from attention_ui.settings.link import from_query
from drawn import CASES
from pointing import (
    Drawn,
    drawn_by,
    expected_bright,
    fed_by,
    has_names,
    made_of,
    read,
)
from pointing import (
    named as names_of_cell,
)
from sampling import few, is_long
from traces import workshop
from visiting import PAGES

ALL_OF = 400 if is_long() else 80
"""A step of more cells is looked at in a sample."""
SIZE = CellSize(20, 20, 0)


SLOW = pytest.mark.slow("1 min: the equations of every page")
QUICK = [("pages/whole_layer.py", "wild_cat")]


def marked(page, example, marks):
    return marks if (page, example) in QUICK else (*marks, SLOW)


def drawn_as(each):
    page, link = each.values
    marks = marked(page, link.get("example", "wild_cat"), each.marks)
    return pytest.param((page, link), id=each.id, marks=marks)


PAGES_DRAWN = [drawn_as(each) for each in CASES]
PAGES_ASKING = [
    pytest.param(each.values, id=each.id, marks=marked(*each.values, each.marks))
    for each in few(itertools.product(PAGES, EXAMPLES), 8)
]


@pytest.fixture(scope="module", params=PAGES_DRAWN)
def drawn(request):
    return drawn_by(*request.param)


@pytest.fixture(scope="module", params=PAGES_ASKING)
def asking(request):
    """The equations of a page whose questions are open."""
    page, example = request.param
    return drawn_by(page, {"example": example, "predict": "on"})


def as_drawn(*matrices):
    """An equation of these matrices, in one line."""
    return Drawn(WORKSHOP, [[[Placed("", each, SIZE) for each in matrices]]])


WORKSHOP = workshop()
OF_WORKSHOP = [step for step in WORKSHOP.values() if step.inputs]
AS_PAGES_DRAW = [
    step
    for step in OF_WORKSHOP
    if all(each.axes[:-2] in ((), ("head",)) for each in (step, *step.inputs))
]
"""Those whose matrices a page draws: of one head at most, and not of a text of a batch."""


def named(step):
    return step.name


def some(cells, most=ALL_OF):
    """All of them, or as many of a sample with the first and the last."""
    cells = list(cells)
    if len(cells) <= most:
        return cells
    return [cells[0], cells[-1], *random.Random(7).sample(cells[1:-1], min(most, 60) - 2)]


def cells_of(step):
    return some(itertools.product(*map(range, step.value.shape)))


def in_blocks(blocks):
    """The cells of blocks (block, axis, 2)."""
    return {
        cell
        for block in blocks.tolist()
        if (-1, -1) not in map(tuple, block)
        for cell in itertools.product(*(range(first, last + 1) for first, last in block))
    }


def misread(step):
    """Cells of which `extents` names others than the arithmetic reads."""
    blocks = [extents(step, operand) for operand in range(len(step.inputs))]
    return [
        (step.name, index)
        for index in cells_of(step)
        if [in_blocks(block[index]) for block in blocks] != read(step, index)
    ]


def with_other_numbers(step):
    """The same operation on operands of the same shapes with numbers in another order."""
    inputs = tuple(
        Step(each.name, each.value.flip(-1), each.axes, each.operation, each.inputs, "")
        if each.value.is_floating_point() or each.value.dtype == torch.bool
        else each
        for each in step.inputs
    )
    value = step.operation.value(*(each.value for each in inputs))
    return Step(step.name, value, step.axes, step.operation, inputs, step.symbol)


# --- the cells a cell is made of -----------------------------------------------------------------


@pytest.mark.parametrize("step", OF_WORKSHOP, ids=named)
def test_extents_are_the_cells_that_the_arithmetic_reads(step):
    assert not misread(step)


@pytest.mark.parametrize("step", OF_WORKSHOP, ids=named)
def test_extents_are_those_of_these_numbers_and_not_of_numbers_before(step):
    misread(step)
    assert not misread(with_other_numbers(step))


@cache
def _seen():
    return set()


def test_extents_of_every_step_of_a_page_are_what_its_arithmetic_reads(drawn):
    for trace in {id(each.trace): each.trace for each in drawn}.values():
        for step in trace.values():
            numbers = tuple(
                each.operation if each.is_shared else each.value.numpy().tobytes()
                for each in step.inputs
            )
            key = hash((step.operation, numbers))
            if key not in _seen():
                _seen().add(key)
                assert not misread(step)


def reached(equation, at):
    """The same, as the rectangles of the table have it, by the cell's own row and column."""
    found = {}
    to = [] if equation.matrices[at].covered else reaches(equation.matrices, at)
    for row in equation.rows[at]:
        lit = found[row["row"], row["column"]] = set()
        for number, each in enumerate(to):
            left, last = divmod(int(row[f"reach_{number}"]), BASE)
            left, first = divmod(left, BASE)
            first_row, last_row = divmod(left, BASE)
            if (first_row, last_row, first, last) != (0, 0, 0, 0):  # counted from 1
                first_row, last_row, first, last = (
                    end - 1 for end in (first_row, last_row, first, last)
                )
                rows, columns = range(first_row, last_row + 1), range(first, last + 1)
                lit |= {(each.into, *place) for place in itertools.product(rows, columns)}
    return found


def assert_reaches(equation):
    for at in range(len(equation.matrices)):
        indices = equation.indices(at)
        lit = reached(equation, at)
        assert lit.keys() == indices.keys()
        for place, index in some(indices.items(), 64):
            assert lit[place] == made_of(equation, at, index), (equation.name, at, place)


def test_rectangles_of_every_equation_are_the_cells_its_matrices_draw_of_the_operands(drawn):
    for equation in drawn:
        assert_reaches(equation)


def looks(step, result=False):
    """The ways in which a step may be drawn: each head, turned, some rows."""
    lead = tuple(size - 1 for size in step.value.shape[:-2])
    n_rows = step.value.shape[len(lead)]
    yield Matrix(step, lead=lead)
    yield Matrix(step, lead=lead, transposed=True)
    if not result:
        return
    yield Matrix(step, lead=(0,) * len(lead), rows=(n_rows - 1,))
    yield Matrix(step, lead=lead, rows=(n_rows - 1,), transposed=True)


def one_head(given, result):
    """An operand as it is drawn beside a result: for its head, where it has heads too."""
    n_lead = max(0, given.value.ndim - 2)
    return Matrix(given, lead=(result.lead or (0,) * n_lead)[:n_lead])


def rows_of(step):
    lead = tuple(size - 1 for size in step.value.shape[:-2])
    n_rows = step.value.shape[len(lead)]
    return Matrix(step, lead=lead, rows=tuple(range(1, n_rows)) or (0,), transposed=True)


@pytest.mark.slow("8 s: every operation, drawn in many ways")
@pytest.mark.parametrize("step", AS_PAGES_DRAW, ids=named)
def test_rectangles_are_right_however_matrices_are_drawn(step):
    for result in looks(step, result=True):
        for each in (Matrix, lambda given: Matrix(given, transposed=True)):
            operands = [
                each(given) if given.value.ndim < 3 else one_head(given, result)
                for given in step.inputs
            ]
            assert_reaches(as_drawn(*operands, result))
        assert_reaches(as_drawn(*map(rows_of, step.inputs), result))


# --- expressions of the chart, in Python ---------------------------------------------------------

TOKEN = re.compile(
    r"\s*(\d+\.?\d*|'[^']*'|[A-Za-z_][\w.]*|[=!]==|&&|\|\||[<>]=|[-+*/%<>!?:()\[\],])"
)
LEVELS = (("||",), ("&&",), ("===", "!=="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%"))
IN_PYTHON = {"||": "or", "&&": "and", "===": "==", "!==": "!=", "null": "None"}
IN_PYTHON |= {"true": "True", "false": "False", "indexof": "list.index"}


def in_python(expression):
    """An expression of Vega as one of Python."""
    left = deque(TOKEN.findall(expression))
    assert "".join(left) == re.sub(r"\s", "", expression)

    def took(*tokens):
        return left.popleft() if left and left[0] in tokens else None

    def whole():
        test = binary(0)
        if not took("?"):
            return test
        yes = whole()
        assert took(":")
        return f"({yes} if {test} else {whole()})"

    def binary(level):
        if level == len(LEVELS):
            return single()
        found = binary(level + 1)
        while sign := took(*LEVELS[level]):
            found = f"({found} {IN_PYTHON.get(sign, sign)} {binary(level + 1)})"
        return found

    def listed(end):
        found = []
        while not took(end):
            found.append(whole())
            took(",")
        return ", ".join(found)

    def single():
        if sign := took("!", "-"):
            return f"({'not' if sign == '!' else '-'} {single()})"
        if took("("):
            found = whole()
            assert took(")")
        elif took("["):
            found = f"[{listed(']')}]"
        else:
            token = left.popleft()
            whose, _, field = token.partition(".")
            found = f"{whose}.get('{field}')" if field.isidentifier() else token
            found = IN_PYTHON.get(found, found)
        while bracket := took("[", "("):
            found += f"[{listed(']')}]" if bracket == "[" else f"({listed(')')})"
        return found

    made = whole()
    assert not left, expression
    return made


FUNCTIONS = {"abs": abs, "min": min, "floor": math.floor, "isFinite": math.isfinite}


@cache
def compiled(expression):
    return compile(in_python(expression), expression, "eval")


def worked_out(expression, **names):
    return eval(compiled(expression), FUNCTIONS, names)


@cache
def _of_rows(test):
    return compile(f"[datum for datum in rows if {in_python(test)}]", test, "eval")


def those_of(rows, test, names):
    """The rows of which a test is true."""
    return eval(_of_rows(test), {**FUNCTIONS, "rows": rows, **names})


def test_a_browser_finds_the_four_ends_again_in_one_number():
    highest = MOST_PLACES - 1
    told = [[-1] * 4, [0] * 4, [highest] * 4, [0, highest, 0, 0], [1, 2, 3, 5], [highest, 0, 7, -1]]
    numbers = packed(torch.tensor(told, dtype=torch.int16)).tolist()
    for number, rectangle in zip(numbers, told, strict=True):
        assert number == int(number)
        assert [worked_out(each, number=number) for each in ends("number")] == rectangle


def test_expressions_are_worked_out_as_a_browser_does():
    assert worked_out("a ? b : c ? 1 : 2", a=None, b=3, c=False) == 2
    assert worked_out("!a.x || a.x[0] === 2 && b < -1", a={"x": [2]}, b=-2) is True
    assert worked_out("[a + 1, b * (2 - 1)][1]", a=1, b=5) == 5
    assert worked_out("!a.x", a={}) is True


class Pointer:
    """Points at cells of an equation, and sees what its expressions say of every other."""

    def __init__(self, equation):
        self.rows = equation.rows
        spec = equation.chart.spec
        self.parameters = [each for each in spec["params"] if "expr" in each]
        hover = next(each for each in spec["params"] if each["name"] == "hover")
        self.fields = hover["select"]["fields"]
        self.views = {}
        self.found(spec)

    def found(self, spec):
        if "name" in spec:
            self.views[spec["name"]] = spec
        for part in (*spec.get("hconcat", ()), *spec.get("vconcat", ())):
            self.found(part)

    def names(self, row=None):
        """What the parameters are while a cell is pointed at, or none is."""
        names = {"hover": {} if row is None else {field: [row.get(field)] for field in self.fields}}
        for each in self.parameters:
            names[each["name"]] = worked_out(each["expr"], **names)
        return names

    def view(self, at):
        return self.views.get(f"matrix_{at}") or self.views[f"covered_{at}"]

    def bright(self, names):
        """(matrix, row, column) of all cells that keep their colour."""
        return self._where(names, "opacity")

    def outlined(self, names):
        """Those that are pointed at, or that such a cell is made of."""
        return self._where(names, "stroke")

    def fed(self, names):
        """Those that are made of the cell that is pointed at."""
        return self._where(names, "stroke", 1)

    def _where(self, names, channel, number=0):
        found = set()
        for at, rows in self.rows.items():
            if f"sentence_{at}" in self.views:
                continue
            encoding = self.view(at)["layer"][0]["encoding"]
            if channel not in encoding:
                continue
            conditions = encoding[channel]["condition"]
            conditions = conditions if isinstance(conditions, list) else [conditions]
            test = conditions[number]["test"]
            found |= {(at, row["row"], row["column"]) for row in those_of(rows, test, names)}
        return found


@cache
def pointer(equation):
    return Pointer(equation)


# --- what stays bright ---------------------------------------------------------------------------


def pointed_at(equation, at, n):
    """So many cells of a matrix: its corners first."""
    rows = equation.rows[at]
    middle = rows[len(rows) // 3]
    return [rows[-1], middle, rows[0]][: min(n, len(rows))]


FEW_CELLS = 200
"""In an equation with more, what is made of a cell is not looked for."""


def assert_lights_up(equation, n):
    for at, matrix in enumerate(equation.matrices):
        for row in pointed_at(equation, at, n):
            place = row["row"], row["column"]
            names = pointer(equation).names(row)
            made = made_of(equation, at, equation.indices(at)[place])
            own = set() if matrix.covered else {(at, *place)}
            where = (equation.name, matrix.name, place)
            assert pointer(equation).outlined(names) == own | made, where
            assert pointer(equation).bright(names) == expected_bright(equation, at, place), where
            if sum(map(len, equation.rows.values())) <= FEW_CELLS:
                assert pointer(equation).fed(names) == fed_by(equation, at, place), where


def test_pointing_outlines_what_a_cell_is_made_of_and_leaves_bright_what_has_its_names(drawn):
    for equation in drawn:
        assert_lights_up(equation, 2 if len(equation.matrices) < 12 else 1)


@pytest.mark.parametrize("step", AS_PAGES_DRAW, ids=named)
def test_pointing_at_every_operation_keeps_the_rule(step):
    result = next(looks(step))
    operands = [one_head(given, result) for given in step.inputs]
    unrelated = Matrix(WORKSHOP["sinusoid" if step.name != "sinusoid" else "window"])
    equation = as_drawn(*operands, result, unrelated)
    assert_lights_up(equation, 3)


def test_a_step_that_is_neither_before_nor_after_is_dim_though_it_has_the_same_names():
    names = ("all_scores", "mask", "masked")
    equation = as_drawn(*(Matrix(WORKSHOP[each]) for each in names))
    bright = pointer(equation).bright(pointer(equation).names(equation.rows[0][9]))
    assert bright == {(0, 1, 2), (2, 1, 2)}


def test_nothing_is_dim_or_outlined_while_nothing_is_pointed_at(drawn):
    for equation in drawn:
        names = pointer(equation).names()
        assert not pointer(equation).outlined(names)
        assert len(pointer(equation).bright(names)) == sum(
            len(equation.rows[at]) for at in range(len(equation.matrices))
        )


def test_numbers_dim_with_their_cells(drawn):
    for equation in drawn:
        for at in range(len(equation.matrices)):
            first, *rest = pointer(equation).view(at)["layer"]
            tests = [
                each["encoding"]["opacity"]["condition"]["test"]
                for each in rest
                if each["encoding"].get("text", {}).get("field") == "text"
            ]
            assert all(each == first["encoding"]["opacity"]["condition"]["test"] for each in tests)


# --- what a question covers ----------------------------------------------------------------------


def test_of_a_covered_matrix_nothing_but_its_shape_reaches_the_browser(asking):
    for equation in asking:
        for at, matrix in enumerate(equation.matrices):
            assert matrix.covered or matrix.step.name not in equation.covered
            rows = equation.rows[at]
            revealed = {matrix.step.name, *map(named, matrix.step.inputs)}
            if revealed & equation.covered:
                assert all(row.get("arithmetic") is None for row in rows)
                tips = pointer(equation).view(at)["layer"][0]["encoding"].get("tooltip", ())
                assert "arithmetic" not in [each["field"] for each in tips]
            if not matrix.covered:
                continue
            assert "tooltip" not in pointer(equation).view(at)["layer"][0]["encoding"]
            known = {"id", "matrix", "row", "column", "i", "j", "row_head", "column_head"}
            known |= {"is_first"}
            kept = {"text": "?", "shade": 0, "strength": 1, "outline": 0}
            for row in rows:
                told = {name: each for name, each in row.items() if name not in known}
                ends = re.compile(r"(first|last)_(row|column)_\d+")
                assert all(
                    each is None or each == kept.get(name, -1 if ends.fullmatch(name) else None)
                    for name, each in told.items()
                ), (equation.name, matrix.name)


def test_pointing_lights_nothing_of_what_is_covered(asking):
    for equation in asking:
        covered = [at for at, each in enumerate(equation.matrices) if each.covered]
        for at in range(len(equation.matrices)) if covered else ():
            for row in pointed_at(equation, at, 2):
                outlined = pointer(equation).outlined(pointer(equation).names(row))
                assert not any(matrix in covered for matrix, *_ in outlined)
                assert at not in covered or not outlined


def test_pages_do_cover_matrices_of_live_equations():
    found = drawn_by("pages/simplified_attention.py", {"predict": "on"})
    assert any(matrix.covered for each in found for matrix in each.matrices)
    assert any(not placed.tells for each in found for placed in each.placed)


# --- what stays when the numbers change -----------------------------------------------------------


def marks_of(spec):
    if "mark" in spec:
        yield spec
    for part in (*spec.get("hconcat", ()), *spec.get("vconcat", ()), *spec.get("layer", ())):
        yield from marks_of(part)


def test_every_mark_is_kept_by_an_id_of_its_own(drawn):
    """Of two with one id, a browser would draw one."""
    for equation in drawn:
        if equation.chart.spec["usermeta"]["embedOptions"]["renderer"] == "canvas":
            continue  # strokes, not elements
        ids = equation.chart.frame["id"].to_pylist()
        assert len({*ids}) == len(ids)
        marks = [each for each in marks_of(equation.chart.spec) if "data" not in each]
        assert marks
        assert all(each["encoding"]["key"] == {"field": "id"} for each in marks)


# --- sums in the margin --------------------------------------------------------------------------

NORMALISED = (ops.Softmax, ops.SumNormalise, ops.SoftmaxOfSeen, ops.Renormalise)


def is_of_weights(matrix):
    """A row a query, a share a key; the numbers known."""
    step = matrix.step
    is_normalised = isinstance(step.operation, NORMALISED) or step.name.endswith("weights")
    is_known = step.value.is_floating_point() and not matrix.covered
    return is_normalised and is_known and matrix.axes in (("query", "key"), ("key", ""))


def assert_sums(equation):
    for at, matrix in enumerate(equation.matrices):
        rows = equation.rows[at]
        if not is_of_weights(matrix):
            assert all(row.get("row_sum") is None for row in rows), matrix.name
            assert "row_sum" not in str(pointer(equation).view(at))
            continue
        given = matrix.step.value[matrix.lead]
        of_one = given.ndim == 1
        for row in rows:
            index = equation.indices(at)[row["row"], row["column"]]
            of_query = given if of_one else given[index[-2]]
            assert row["row_sum"] == pytest.approx(math.fsum(of_query.tolist()), rel=1e-6, abs=2e-6)
        (shown,) = [
            each
            for each in pointer(equation).view(at)["layer"]
            if each["encoding"].get("text", {}).get("field") in ("row_sum", "told_sum")
        ]
        first = [worked_out(shown["transform"][0]["filter"], datum=row) for row in rows]
        drawn = [row["column"] for row, is_drawn in zip(rows, first, strict=True) if is_drawn]
        assert drawn == [0] * (1 if of_one else matrix.sizes[0])
        loud = shown["encoding"]["color"]["condition"]["test"]
        weight = shown["mark"]["fontWeight"]["expr"]
        for row in rows:
            is_off = abs(row["row_sum"] - 1) > 1e-3
            assert worked_out(loud, datum=row) == is_off
            assert worked_out(weight, datum=row) == ("bold" if is_off else "normal")


def test_weights_and_nothing_else_have_their_sums_in_the_margin(drawn):
    for equation in drawn:
        assert_sums(equation)


def test_no_sums_of_covered_weights(asking):
    for equation in asking:
        assert_sums(equation)


def test_some_rows_of_a_head_have_sums_of_their_own():
    trace = workshop()
    scores = trace["head_scores"]
    weights = trace.step("head_weights", ops.Softmax(-3), scores, axes=scores.axes)
    equation = Drawn(trace, [[[Placed("", Matrix(weights, lead=(1,), rows=(2, 0)), SIZE)]]])
    assert_sums(equation)
    assert any(abs(row["row_sum"] - 1) > 0.1 for row in equation.rows[0])


# --- arithmetic on a line ------------------------------------------------------------------------

NUMBER = re.compile(r"\d+(?:\.\d+)?")
CALCULATES = ("sqrt", "exp", "inf", "pi", "erf", "tanh", "sin", "cos")


def calculated(text):
    """What a line of arithmetic comes to; None for a line with words in it."""
    plain = text.replace("× 10^", "*10**").replace("e^(", "exp(").replace("√", "sqrt")
    plain = plain.replace("−", "-").replace("·", "*").replace("∞", "inf").replace("π", "pi")
    plain = plain.replace("^", "**")
    names = {name: getattr(math, name) for name in CALCULATES} | {"max": max}
    if re.sub(rf"\b({'|'.join(names)})\b", "", plain).strip("0123456789.+-*/(), "):
        return None
    return eval(plain, {"__builtins__": {}}, names)


@pytest.mark.parametrize("step", OF_WORKSHOP, ids=named)
def test_a_line_of_arithmetic_is_plain_and_has_the_numbers_of_the_whole_one(step):
    for index in cells_of(step):
        made = step.arithmetic(index)
        text = plain_text(made.latex())
        assert not re.search(r"[\\{}$-]", text), text
        assert text.count("(") == text.count(")")
        assert NUMBER.findall(text) == NUMBER.findall(made.latex())
        found = None if "…" in text else calculated(text)
        if found is not None and math.isfinite(made.value):
            assert found == pytest.approx(made.value, rel=2e-3, abs=2e-3), text


def test_most_short_lines_can_be_calculated():
    lines = [plain_text(each.arithmetic((0,) * each.value.ndim).latex()) for each in OF_WORKSHOP]
    short = [line for line in lines if "…" not in line]
    assert sum(calculated(line) is not None for line in short) > 0.8 * len(short)


def test_the_tooltip_has_the_arithmetic_of_its_own_cell(drawn):
    for equation in drawn:
        for at, (placed, matrix) in enumerate(zip(equation.placed, equation.matrices, strict=True)):
            rows = equation.rows[at]
            tips = pointer(equation).view(at)["layer"][0]["encoding"].get("tooltip", ())
            told = any(each["field"] == "arithmetic" for each in tips)
            assert told == (rows[0].get("arithmetic") is not None)
            assert placed.tells or not told
            for row in some(rows, 10) if told else ():
                index = equation.indices(at)[row["row"], row["column"]]
                assert row["arithmetic"] == plain_text(matrix.step.arithmetic(index).latex())


# --- the sentence --------------------------------------------------------------------------------


def with_sentence(equations):
    for each in equations:
        number = len(each.matrices)
        if f"sentence_{number}" in pointer(each).views:
            yield each, number, pointer(each).views[f"sentence_{number}"]


def last_weights(equation):
    weights = [at for at, each in enumerate(equation.matrices) if is_of_weights(each)]
    last = equation.matrices[weights[-1]].step
    return [at for at in weights if equation.matrices[at].step is last]


def shown_on(layer, equation, names):
    """The rows of the table that a layer of the sentence draws."""
    rows = [row for rows in equation.rows.values() for row in rows]
    for each in layer["transform"]:
        if "filter" in each:
            rows = those_of(rows, each["filter"], names)
        elif each["as"] == "share":
            rows = [row | {"share": worked_out(each["calculate"], datum=row)} for row in rows]
    return rows


def assert_draws_query(equation, sentence, names, query):
    drawn = last_weights(equation)
    shares = {}
    for at in drawn:
        weights = equation.matrices[at].step.value[equation.matrices[at].lead]
        row = weights if weights.ndim == 1 else weights[query]
        shares |= {(at, key): value for key, value in enumerate(row.tolist())}
    of_one, of_two = weights.ndim == 1, "other_embeddings" in equation.trace
    key_of = "i" if of_one else "j"
    by_row = {
        "shade, shares and strips": [
            each
            for each in sentence["layer"]
            if each["encoding"].get("text", {}).get("field") == "value"
            or any(made.get("as") in ("shown", "top") for made in each["transform"])
        ],
        "arcs": [each for each in sentence["layer"] if each["mark"]["type"] in ("point", "rule")],
    }
    assert len(by_row["shade, shares and strips"]) == (1 if len(drawn) > 1 else 2)
    assert len(by_row["arcs"]) == 1
    for what, layers in by_row.items():
        for layer in layers:
            rows = shown_on(layer, equation, names)
            found = {(row["matrix"], row[key_of]): row["value"] for row in rows}
            assert len(found) == len(rows)
            wanted = {
                key: value
                for key, value in shares.items()
                if what != "arcs" or (abs(value) > 0.005 and (of_two or key[1] != query))
            }
            assert found == pytest.approx(wanted), (equation.name, what)
            assert {row["asks" if of_one else "i"] for row in rows} <= {query}
    outlined = next(
        each
        for each in sentence["layer"]
        if each["mark"].get("filled") is False and each["mark"]["type"] == "rect"
    )
    (row,) = shown_on(outlined, equation, names)
    assert row["asks" if of_one else "i"] == query


def test_the_sentence_shows_the_weights_of_the_query_that_is_pointed_at(drawn):
    for equation, number, sentence in with_sentence(drawn):
        first = [
            (row["matrix"], row["i"])
            for rows in equation.rows.values()
            for row in rows
            if row.get("is_first")
        ]
        drawn_weights = last_weights(equation)
        of_one = equation.matrices[drawn_weights[0]].step.axes == ("key",)
        named, only = ("key", equation.first_query) if of_one else ("query", None)
        wanted = {} if of_one else {(at, equation.first_query) for at in drawn_weights}
        assert {*first} == {*wanted}
        assert_draws_query(equation, sentence, pointer(equation).names(), equation.first_query)
        for token in some(equation.rows[number], 3):
            names = pointer(equation).names(token)
            assert_draws_query(equation, sentence, names, token["j"] if only is None else only)
            bright = {
                (at, *place)
                for at, each in enumerate(equation.matrices)
                for place, cell in equation.indices(at).items()
                if has_names(
                    names_of_cell(equation.trace, each.step.axes, cell), {named: token["j"]}
                )
            }
            assert pointer(equation).bright(names) == bright
        for at, matrix in enumerate(equation.matrices):
            if "query" in matrix.step.axes:
                row = pointed_at(equation, at, 2)[-1]
                index = equation.indices(at)[row["row"], row["column"]]
                query = index[matrix.step.axes.index("query")]
                assert_draws_query(equation, sentence, pointer(equation).names(row), query)


def test_a_sentence_is_refused_where_no_weights_are_of_its_tokens(monkeypatch):
    trace = Trace(query=("a", "b"), other=("c", "d"))
    drawn = trace.step("looks", ops.Draw("normal", (2, 2), seed=0), axes=("query", "other"))
    weights = trace.step("weights", ops.Softmax(), drawn, axes=("query", "other"))
    settings = from_query({})[0]
    monkeypatch.setattr(session, "current", lambda: settings)
    with pytest.raises(ValueError, match=r"weights \(query, other\).*Leave `sentence` out"):
        draw_equation(View("anywhere", settings, trace), "weights", weights, sentence=True)


WITH_WEIGHTS = (
    ("simplified_attention", ["weights"]),
    ("softmax_or_sum", ["divide", "softmax"]),
    ("queries_keys_values", ["weights"]),
    ("causal_mask", ["weights"]),
    ("multi_head_attention", ["weights"]),
    ("cross_attention", ["looking"]),
    ("whole_layer", ["layer"]),
)


@pytest.mark.slow("3 s: pages")
@pytest.mark.parametrize(("page", "names"), WITH_WEIGHTS, ids=str)
def test_lessons_with_weights_have_a_sentence(page, names):
    found = [each.name for each, *_ in with_sentence(drawn_by(f"pages/{page}.py", {}))]
    assert {*found} >= {*names}


def test_a_row_typed_by_hand_has_no_sentence():
    found = drawn_by("pages/softmax_or_sum.py", {"row_from": "hand"})
    assert not list(with_sentence(found))
