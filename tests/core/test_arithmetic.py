"""The arithmetic of cells: that it gives the value, of every cell of every step of every trace."""

import itertools
import math
import re
from dataclasses import replace

import pytest
import torch

from attention_core import EXAMPLES, Inputs, SimplifiedOptions, Trace, attend, embed, expand_query
from attention_core import operations as ops
from attention_core.expression import (
    SHOWN_TERMS,
    Called,
    Cell,
    Exponential,
    Hidden,
    Indicator,
    Number,
    Picked,
    Product,
    Quotient,
    Share,
    Standardised,
    Sum,
    number,
)
from attention_core.mistakes.rewriting import by, rewritten, rewritten_each
from traces import LESSONS, lesson_trace, workshop

OWN = {
    "unknown_tokens": Inputs("the wild cat and the dog", learned_from="the cat", d_in=2),
    "no_blanks": replace(EXAMPLES["wild_cat"].inputs, drop_blanks=True),
    "one_token": Inputs("cat", d_in=1),
    "zero_vector": Inputs("a b", edits=((0, 0, 0.0), (0, 1, 0.0), (0, 2, 0.0))),
}


def build(name):
    """Of one's own inputs with one query expanded, of a lesson, or of every operation."""
    if name in OWN:
        return expand_query(attend(embed(OWN[name]), SimplifiedOptions("cosine", "sqrt_d")), 0)
    return workshop() if name == "workshop" else lesson_trace(name)


class TakenApart:
    """A trace, and of every cell its arithmetic and the leaves of it, in the order of the steps."""

    def __init__(self, name):
        self.trace = build(name)
        self.cells, self.numbers = [], {}
        for step in self.trace.values():
            for index in self.indices(step):
                expression = step.arithmetic(index)
                self.cells.append((step, index, expression, list(expression.cells())))
                self.numbers[step.name, index] = step.value[index].item()

    def indices(self, step):
        return itertools.product(*map(range, step.value.shape))


# pytest runs all tests of a trace one after the other, so that each is taken apart once.
@pytest.fixture(scope="module", params=["workshop", *LESSONS, *OWN])
def apart(request):
    return TakenApart(request.param)


def scale(expression, value):
    """What 1e-5 is relative to.

    The result, but for a sum of many products of both signs. Its terms can be hundreds of times
    larger than what is left of them, and each was rounded to float32 in its own size: then 1e-5
    is relative to the largest term. What is brought to variance 1 was rounded in a size of about 1,
    before the mean was taken away. The last value is the smallest float32 that has all its digits.
    """
    largest = 0.0
    if isinstance(expression, Sum):
        largest = max(abs(term.value) for term in expression.terms)
    if isinstance(expression, Standardised):
        largest = 1.0
    return max(abs(value), largest, torch.finfo(torch.float32).tiny)


# --- of every cell of every step of every trace ---------------------------------------------------
def test_arithmetic_gives_the_value(apart):
    for step, index, expression, _ in apart.cells:
        value = apart.numbers[step.name, index]
        off = 0.0 if expression.value == value else abs(expression.value - value)
        assert off <= 1e-5 * scale(expression, value), (step, index)


def test_leaves_are_cells_of_the_steps_it_was_made_from(apart):
    for step, index, _, leaves in apart.cells:
        inputs = {given.name for given in step.inputs}
        for leaf in leaves:
            assert leaf.step in inputs, (step, index)
            assert leaf.value == apart.numbers[leaf.step, leaf.index], (step, index)


def comes_from_nowhere(step, index):
    """Whether a cell was typed by hand, or is 0 because nothing was put there."""
    made = ops.PutBack, ops.PutEntry, ops.AddAtIds, ops.PairCounts, ops.JoinPair
    if isinstance(step.operation, made):
        return isinstance(step.arithmetic(index), Number)
    edits = step.operation.edits if isinstance(step.operation, ops.Edit) else ()
    return index in [(row, column) for row, column, _ in edits]


def test_every_input_step_is_among_the_leaves(apart):
    for step, index, expression, leaves in apart.cells:
        inputs = set() if comes_from_nowhere(step, index) else {given.name for given in step.inputs}
        if isinstance(expression, Hidden):  # what hides it is all that counts
            inputs = {each.step for each in expression.because}
        if isinstance(step.operation, ops.JoinRows):  # a row comes from one of them
            whose = [each.name for each in step.inputs for _ in range(each.value.shape[-2])]
            inputs = {whose[index[-2]]}
        if isinstance(step.operation, ops.JoinColumns):  # and so does a column
            first, second = step.inputs
            inputs = {(first if index[-1] < first.value.shape[-1] else second).name}
        if index and index[-1] >= step.value.shape[-1] - getattr(step.operation, "rest", 0):
            inputs = {step.inputs[0].name}  # a column that nothing turns
        assert {leaf.step for leaf in leaves} == inputs, (step, index)


def test_latex_has_balanced_braces_and_no_empty_place(apart):
    for step in apart.trace.values():
        indices = [*apart.indices(step)]
        some = indices[:: len(indices) // 12 + 1]  # up to a dozen cells, spread over it
        for latex in [step.formula, *(step.arithmetic(index).latex() for index in some)]:
            assert_balanced(latex)


@pytest.mark.parametrize("chosen", [-1e-7, 3.5, -2e9, math.inf, -math.inf], ids=str)
def test_a_chosen_number_is_latex_in_every_formula(chosen):
    matrix, mask, draw = r"X_{0}", "M", "U"
    some = [operation(chosen) for operation in (ops.Shift, ops.ScaleBy)]
    some += [operation(0, chosen) for operation in (ops.ShiftRow, ops.ScaleRow)]
    for operation in some:
        assert_balanced(operation.formula(matrix))
        assert "inf" not in operation.formula(matrix).replace(r"\infty", "")
    assert_balanced(ops.MaskedFill(chosen).formula(matrix, mask))
    assert_balanced(ops.Drop(1e-7).formula(matrix, draw))
    assert ops.ShiftRow(2, -0.75).formula("X").startswith("X_{2} - 0.75,")
    assert ops.ScaleRow(2, 3.0).formula("X").startswith(r"3\,X_{2},")


def assert_balanced(latex):
    depth = 0
    for sign in re.findall(r"\\.|[{}]", latex):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0, latex
    assert depth == 0, latex
    assert latex.count(r"\left") == latex.count(r"\right"), latex
    assert "None" not in latex, latex
    assert not re.search(r"\de[+-]?\d", latex), latex  # 1e+20 is Python's, not LaTeX's
    assert "+ -" not in latex, latex


# --- the workshop ---------------------------------------------------------------------------------


DRAWN = [name for name, step in workshop().items() if isinstance(step.operation, ops.Draw)]


@pytest.mark.parametrize("name", DRAWN)
def test_what_follows_from_many_numbers_at_once_is_what_follows_from_each(name):
    made = workshop()
    others = [replace(made[name].operation, seed=seed) for seed in (101, 102, 103)]
    for other, found in zip(others, rewritten_each(made, [name], others), strict=True):
        wanted = rewritten(made, {name: by(other)})
        assert [*found] == [*wanted]
        for each, step in wanted.items():
            torch.testing.assert_close(found[each].value, step.value, equal_nan=True)
            assert found[each].operation == step.operation
            assert all(given is found[given.name] for given in found[each].inputs)


GATES = (ops.ReLU, ops.SwitchOff, ops.Drop, ops.MaskedSoftmax, ops.Renormalise, ops.RunningMaximum)
GATES += (ops.ExpDifference, ops.Rescale, ops.MaskedDivide)  # e to −∞, and a sum of 0
"""Operations with a slope of 0 where they let nothing through; what they read still decides."""
STEPS = (ops.ReLUSlope, ops.ShareOfLarger, ops.ShareOfLargest, ops.JoinPair, ops.TopK)
"""Functions that jump, and are flat elsewhere: they have no slope at all."""


def test_leaves_are_just_the_cells_that_the_value_depends_on():
    """Torch's own derivatives say which cells a cell depends on."""
    compared = 0
    for step in workshop().values():
        smooth = [given for given in step.inputs if given.value.is_floating_point()]
        if not smooth:
            continue
        operands = {given.name: given.value.clone().requires_grad_() for given in smooth}
        result = step.operation.value(*[operands.get(g.name, g.value) for g in step.inputs])
        if isinstance(step.operation, STEPS):
            assert not result.requires_grad, step
            continue
        for index in itertools.product(*map(range, result.shape)):
            slopes = torch.autograd.grad(
                result[index], operands.values(), retain_graph=True, allow_unused=True
            )
            depends_on = {
                (name, tuple(place))
                for name, slope in zip(operands, slopes, strict=True)
                if slope is not None
                for place in slope.nan_to_num(0).nonzero().tolist()  # 0/0 of a hidden row
            }
            leaves = {(leaf.step, leaf.index) for leaf in step.arithmetic(index).cells()}
            smooth_leaves = {leaf for leaf in leaves if leaf[0] in operands}
            if isinstance(step.operation, GATES):
                assert depends_on <= smooth_leaves, (step, index)
            else:
                kind = type(step.operation).__name__
                told = f"{step} at {index}. A {kind} whose slope is 0 somewhere belongs to GATES"
                assert smooth_leaves == depends_on, told
            compared += 1
    assert compared > 400


# --- values that are no ordinary numbers ----------------------------------------------------------
INF, NAN = math.inf, math.nan


def same(left, right):
    """Whether two numbers are both no number, or equal but for rounding to float32."""
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    return math.isclose(left, right, rel_tol=1e-6, abs_tol=1e-37)


@pytest.mark.parametrize(("operation", "row"), [
    (ops.Softmax(), (NAN, 5.0, 1000.0)), (ops.Softmax(), (5.0, NAN, 1000.0)),
    (ops.Softmax(), (INF, 1.0, 2.0)), (ops.Softmax(), (-INF, -INF, -INF)),
    (ops.Softmax(), (-INF, 480.0, -257.0)), (ops.SumNormalise(), (1.0, -1.0, 0.0)),
    (ops.SumNormalise(), (0.0, 0.0, 0.0)), (ops.SumNormalise(), (-2.0, 1.0, 1.0)),
    (ops.SumNormalise(), (INF, 1.0, 2.0)), (ops.SumNormalise(), (INF, 1.0, -INF)),
    (ops.L2Normalize(), (0.0, 0.0, 0.0)), (ops.L2Normalize(), (-INF, 1.0, 2.0)),
    (ops.L2Normalize(), (NAN, 1.0, 2.0)),
    (ops.L2Normalize(), (1e-25, 0.0)), (ops.L2Normalize(), (1e25, 0.0)),
    (ops.Scale(3), (INF, -INF, NAN)),
], ids=str)  # fmt: skip
def test_arithmetic_gives_infinity_and_nan_where_torch_does(operation, row):
    trace = Trace()
    scores = trace.step("scores", ops.Given((row,)), axes=("query", "key"))
    step = trace.step("result", operation, scores, axes=("query", "key"))
    for place, value in enumerate(step.value[0].tolist()):
        assert same(step.arithmetic((0, place)).value, value), place


def whole(operation, *operands, dtype=torch.float32):
    """A step of operands that are nested tuples, in a precision."""
    trace = Trace()
    given = [
        trace.step(f"g{at}", ops.Given(e), axes=[f"a{at}_{n}" for n in range(torch.tensor(e).ndim)])
        for at, e in enumerate(operands)
    ]
    if dtype != torch.float32:
        cast = ops.Cast(str(dtype).removeprefix("torch."))
        given = [trace.step(f"c{g.name}", cast, g, axes=g.axes) for g in given]
    value = operation.value(*[each.value for each in given])
    axes = tuple(f"r{axis}" for axis in range(value.ndim))
    return trace.step("result", operation, *given, axes=axes)


@pytest.mark.parametrize(("operation", "operands", "dtype", "left"), [
    (ops.Exp(), ((-22.0,),), torch.float16, 0.0),
    (ops.Exp(), ((12.0,),), torch.float16, INF),
    (ops.SumLast(), ((6e4, 6e4),), torch.float16, INF),
    (ops.ScaleBy(1e20), ((1e20,),), torch.float32, INF),
    (ops.MatMul(transpose=True), ((1e20, -1e20), ((1e20, 1e20),)), torch.float32, NAN),
    (ops.SumNormalise(), ((1e20, 1.0, -1e20),), torch.float32, INF),
], ids=str)  # fmt: skip
def test_what_a_precision_cannot_hold_arithmetic_has_not_either(operation, operands, dtype, left):
    step = whole(operation, *operands, dtype=dtype)
    index = (0,) * step.value.ndim
    assert same(float(step.value[index]), left)
    assert same(step.arithmetic(index).value, left)
    assert_balanced(step.arithmetic(index).latex())


def test_a_wrong_arithmetic_is_not_excused_by_the_precision():
    class Wrong(ops.Shift):
        def arithmetic(self, *_):
            return Number(7.0)

    assert whole(Wrong(1.0), (1.0, 2.0)).arithmetic((0,)).value == 7


# --- how numbers and arithmetic are written -------------------------------------------------------
@pytest.mark.parametrize(("value", "written"), [
    (0, "0"), (0.0, "0"), (-0.0, "0"), (3, "3"), (-3.0, "-3"), (999_999.0, "999999"),
    (0.5, "0.5000"), (-1 / 3, "-0.3333"), (0.0001, "0.0001"), (123_456.789, "123456.7890"),
    (1e7, r"1.000\times 10^{7}"), (-1e6, r"-1.000\times 10^{6}"), (1e-12, r"1.000\times 10^{-12}"),
    (-0.00005, r"-5.000\times 10^{-5}"), (7.3e-42, r"7.300\times 10^{-42}"), (INF, r"\infty"),
    (-INF, r"-\infty"), (NAN, r"\mathrm{nan}"),
])  # fmt: skip
def test_a_number_is_written_with_four_decimals_or_as_a_power_of_ten(value, written):
    assert number(value) == written


ONE, TWO, MINUS = Number(1.0), Number(2.0), Number(-3.0)
A = Cell("scores", (0, 1), 0.25)
ID = Cell("ids", (1,), 4.0)


@pytest.mark.parametrize(("expression", "value", "latex"), [
    (A, 0.25, "0.2500"),
    (Number(3**0.5, r"\sqrt{3}"), 3**0.5, r"\sqrt{3}"),
    (Sum((ONE, MINUS, TWO)), 0, "1 - 3 + 2"),
    (Product((TWO, MINUS)), -6, "(2)(-3)"),
    (Sum((Product((TWO, A)), Product((ONE, MINUS)))), -2.5, "(2)(0.2500) + (1)(-3)"),
    (Quotient(ONE, Called(math.sqrt, r"\sqrt{{{}}}", Number(9.0))), 1 / 3, r"\frac{1}{\sqrt{9}}"),
    (Quotient(ONE, Number(0.0)), INF, r"\frac{1}{0}"),
    (Quotient(MINUS, Number(0.0)), -INF, r"\frac{-3}{0}"),
    (Share((ONE, TWO, MINUS), 1), INF, r"\frac{2}{1 + 2 - 3}"),
    (Share((ONE, TWO), 1), 2 / 3, r"\frac{2}{1 + 2}"),
    (Exponential(A, 2.0), math.exp(-1.75), "e^{0.2500-2}"),
    (Exponential(MINUS, -3.0), 1, "e^{-3+3}"),
    (Picked(A, ID), 0.25, r"\text{row }4:\;0.2500"),
    (Indicator(ID, 4), 1, r"1\quad\text{because }4 = 4"),
    (Indicator(ID, 5), 0, r"0\quad\text{because }4 \neq 5"),
])  # fmt: skip
def test_an_expression_has_a_value_and_is_written_with_its_numbers(expression, value, latex):
    assert expression.value == pytest.approx(value)
    assert expression.latex() == latex


def test_a_long_sum_keeps_its_beginning_and_its_end():
    numbers = tuple(Number(float(k)) for k in range(1, SHOWN_TERMS + 1))
    assert Sum(numbers).latex() == " + ".join(str(k) for k in range(1, SHOWN_TERMS + 1))
    longer = Sum((*numbers, Number(-13.0)))
    beginning = " + ".join(str(k) for k in range(1, SHOWN_TERMS - 1))
    assert longer.latex() == rf"{beginning} + \dots - 13"
    assert longer.value == sum(range(1, SHOWN_TERMS + 1)) - 13
    # Where it begins and ends with 0, the largest term is written.
    zeros = (Number(0.0),) * 5
    assert Sum((*zeros, Number(-2.0), Number(1.0), *zeros)).latex() == r"0 + \dots - 2 + \dots"
    assert Sum((*zeros, *zeros)).latex() == r"0 + 0 + 0 + \dots + 0"


def test_no_text_of_a_person_is_in_any_formula_arithmetic_or_sentence():
    evil = (r"\evil{", "}$x$", "<b>bold</b>", "漢字", "{0}", "%s")
    inputs = Inputs(" ".join(evil), tokenizer="blanks", learned_from=r"漢字 {0} \learned")
    options = SimplifiedOptions("cosine", "sqrt_d", "sum", stretched=1, factor=2.0)
    trace = expand_query(attend(embed(replace(inputs, positions=True)), options), 2)
    texts = []
    for step in trace.values():
        texts += [step.formula, step.words, step.shape, step.code]
        places = itertools.product(*map(range, step.value.shape))
        texts += [each.latex() for each in step.arithmetics(places)]
    for text in texts:
        assert not [token for token in (*evil, r"\learned") if token in text], text


def test_arithmetic_gives_the_value_of_equal_numbers_and_of_0_too():
    """The workshop's numbers are all different; here they are −1, 0 and 1."""
    made, generator = workshop(), torch.Generator().manual_seed(5)
    drawn = {
        name: torch.randint(-1, 2, made[name].value.shape, generator=generator) for name in DRAWN
    }
    few = {name: by(ops.Given.of(each.float())) for name, each in drawn.items()}
    for step in rewritten(made, few).values():
        for index in itertools.product(*map(range, step.value.shape)):
            expression, value = step.arithmetic(index), step.value[index].item()
            off = 0.0 if same(expression.value, value) else abs(expression.value - value)
            assert off <= 1e-5 * scale(expression, value), (step, index)


def test_what_is_taken_away_has_its_sign_also_near_0():
    scores = Trace().step("scores", ops.Given((-0.5, -0.75)), axes=("key",))
    told = ops.Softmax().arithmetic((1,), scores).latex()
    assert "e^{-0.7500+0.5000}" in told
    scores = Trace().step("scores", ops.Given((0.25, 0.0)), axes=("key",))
    assert "e^{0-0.2500}" in ops.Softmax().arithmetic((1,), scores).latex()
