"""The core on settings of any kind: finite, arithmetic agrees, programs run, words refuse."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_core import operations as ops
from attention_core.changes import changes
from checks import run_anew
from guesses import whole_values
from visiting import LESSONS, has_sentence, lesson_module


def holds_numbers(step):
    """Also −∞, where a mask or a start puts it on purpose, and what is made of that."""
    given = isinstance(step.operation, ops.MaskedFill | ops.Given)
    hides = given or any(each.value.isneginf().any() for each in step.inputs)
    return (step.value.isfinite() | step.value.isneginf() & hides).all()


def divides_by_nothing(step):
    """Whether scores are divided by their sum where it is 0, which gives no numbers."""
    is_sum = isinstance(step.operation, ops.SumNormalise)
    return is_sum and bool((step.inputs[0].value.sum(dim=-1) == 0).any())


def agrees(step, index):
    arithmetic = step.arithmetic(index)
    has = float(step.value[index])
    terms = [abs(term.value) for term in arithmetic.terms if math.isfinite(term.value)]
    size = max([abs(has) if math.isfinite(has) else 0.0, 1e-30, *terms])
    same = has == arithmetic.value or abs(has - arithmetic.value) <= 2e-5 * size + 1e-37
    assert same, f"{step}{list(index)}: torch has {has}, the arithmetic {arithmetic.value}"
    assert arithmetic.latex()


@pytest.mark.slow("7 s: guesses its cases")
@pytest.mark.parametrize("lesson", [*filter(has_sentence, LESSONS)])
@given(values=whole_values(), data=st.data())
def test_any_settings_make_a_trace_that_can_be_taken_apart(lesson, values, data):
    build = lesson_module(lesson).trace_of
    trace = build(values)
    # Softmax or sum is about scores of which no numbers come, and explains them.
    is_finite = lesson != "softmax_or_sum" and not any(map(divides_by_nothing, trace.values()))
    for name, step in trace.items():
        assert step.value.numel() <= 5_000_000
        assert not is_finite or holds_numbers(step), f"{name} of {values}"
        agrees(step, tuple(data.draw(st.integers(0, size - 1)) for size in step.value.shape))
        assert step.formula
        assert step.words
    run_anew(trace)
    assert changes(trace, build(values)) is not None
