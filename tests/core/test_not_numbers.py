"""What becomes of nan, in every operation: the arithmetic of a cell says what torch does."""

import itertools
import math

from attention_core.trace import Step
from traces import workshop

OF_IDS = ("joined_pieces",)
"""Counts, which are whole numbers."""
MOST = 24
"""Cells of a step that are taken apart: first those that the odd number has reached."""


def with_nan(step, place):
    """A step in which one cell is no number."""
    value = step.value.contiguous().clone()
    value.view(-1)[place] = math.nan
    return Step(step.name, value, step.axes, step.operation, step.inputs, step.symbol, step.meaning)


def spoilt():
    """Each step of the workshop that is made of numbers, with nan in a place of one of them: its
    operands, its value then, and what that was.
    """
    for step in workshop().values():
        for operand in step.inputs:
            size = operand.value.numel()
            if not (operand.value.is_floating_point() and size) or step.name in OF_IDS:
                continue
            for place in {0, size // 2, size - 1}:
                odd = with_nan(operand, place)
                operands = [odd if each is operand else each for each in step.inputs]
                yield step, operands, step.operation.value(*[each.value for each in operands])


def test_where_an_operand_is_no_number_the_arithmetic_says_what_torch_does():
    """A maximum that overlooks nan is one of them."""
    wrong, reached = [], set()
    for step, operands, value in spoilt():
        differs = value.double() != step.value.double()
        order = differs.flatten().float().argsort(descending=True, stable=True)[:MOST].tolist()
        cells = [*itertools.product(*map(range, value.shape))]
        for index in (cells[each] for each in order):
            made, has = step.operation.arithmetic(index, *operands).value, float(value[index])
            if math.isnan(made) != math.isnan(has):
                wrong.append((step.name, index, made, has))
            if math.isnan(has):
                reached.add(type(step.operation))
    assert wrong == []
    assert len(reached) > 50, "of so many operations it was seen"
