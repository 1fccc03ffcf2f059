"""The core on settings of any kind: finite, arithmetic agrees, programs run, words refuse."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_core import operations as ops
from attention_core.compare import changes
from attention_core.mechanism.softmax import given_row, normalise_row, store_row
from attention_ui.lessons.softmax_or_sum.lesson import MAGNIFY
from builds import BUILDS
from checks import run_anew
from guesses import whole_values

HIDDEN = ("masked_scores", "index_masked")
"""Steps that hold −∞ on purpose: it is drawn as a hidden cell."""


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
@pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)
@given(values=whole_values(), data=st.data())
def test_any_settings_make_a_trace_that_can_be_taken_apart(build, values, data):
    trace = build(values)
    is_finite = not any(map(divides_by_nothing, trace.values()))
    for name, step in trace.items():
        assert step.value.numel() <= 5_000_000
        if is_finite and step.value.is_floating_point() and not name.endswith(HIDDEN):
            assert step.value.isfinite().all(), f"{name} of {values}"
        index = tuple(data.draw(st.integers(0, size - 1)) for size in step.value.shape)
        agrees(step, index)
        assert step.formula
        assert step.words
    run_anew(trace)
    assert changes(trace, build(values)) is not None


@given(
    scores=st.lists(st.floats(-1_000, 1_000) | st.just(-math.inf), min_size=1, max_size=16),
    shift=st.floats(-10, 10),
    magnify=st.floats(0, 16).map(lambda value: MAGNIFY.field.read(MAGNIFY.field.write(value))),
    precision=st.sampled_from(["float32", "float16", "bfloat16"]),
)
def test_any_row_of_scores_has_a_softmax_or_is_all_hidden(scores, shift, magnify, precision):
    trace = normalise_row(given_row(scores), shift, magnify)
    seen = any(math.isfinite(score) for score in scores)
    if seen and magnify:
        weights = trace["softmax_weights"].value
        assert weights.isfinite().all()
        assert abs(weights.sum().item() - 1) < 1e-5
    stored = store_row(given_row(scores), shift, precision)
    if seen:
        assert abs(stored["softmax_weights"].value.double().sum().item() - 1) < 0.1
    for made in (trace, stored):
        run_anew(made)
        for step in made.values():
            for index in {(0,) * step.value.ndim, tuple(n - 1 for n in step.value.shape)}:
                step.arithmetic(index).latex()
