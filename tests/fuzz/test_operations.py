"""Every operation that there is, with any operands: refused in words, or every cell agrees."""

import inspect
import itertools
import math
import re

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from attention_core import Trace
from attention_core import operations as ops
from traces import OPERATIONS, workshop

places = st.integers(0, 3)
counts = st.integers(1, 4)
numbers = st.integers(-16, 16).map(lambda eighths: eighths / 8)
MADE: dict = {}
for step in workshop().values():
    MADE.setdefault(type(step.operation), []).append(step.operation)
CHOICES = {
    "cap": [0.5, 30.0],
    "precision": ["float32", "float16", "bfloat16"],
    "distribution": ["normal", "uniform", "linear"],
}


def alike(value, name=""):
    """Settings of the kind of one that the workshop has; what names a file or a text stays."""
    if name in CHOICES:
        return st.sampled_from(CHOICES[name])
    if isinstance(value, bool):
        return st.booleans()
    if isinstance(value, int):
        return counts if value > 0 else places if value == 0 else st.sampled_from([-1, -2, -3])
    if isinstance(value, float):
        return numbers | st.just(value)
    if isinstance(value, tuple):
        return st.tuples(*map(alike, value))
    return st.just(value)


KINDS = {
    "AddAtIds": "fi",
    "CrossEntropy": "fi",
    "JoinPair": "fi",
    "PairCounts": "fi",
    "LogicalAnd": "bb",
    "MaskedFill": "fb",
    "MaskGradient": "fb",
    "Lookup": "fi",
    "OneHot": "i",
}
"""The kinds of its operands: floats where nothing is said, ids (i) or a mask (b)."""
HUGE = (3e38, 1e20, -1e20, 1.0, 0.0, -1e-30)


def test_every_operation_is_in_the_package_and_settings_are_of_operations():
    assert {*OPERATIONS} == {*ops.__all__} - {"Operation"}
    assert KINDS.keys() <= OPERATIONS.keys()


def shapes_that_fit(takes, data):
    """A shape for each operand, as an operation says what it takes."""
    lengths = {}
    lead = data.draw(st.lists(counts, max_size=2), label="lead")
    for axes in re.findall(r"\((.*?)\)", takes):
        shape = []
        for axis in axes.split(", ") if axes else ():
            if axis == "…":
                shape += lead[data.draw(st.integers(0, len(lead))) :]
            else:
                fresh = 1 if axis == "1" else data.draw(counts)
                shape.append(lengths.setdefault(axis, fresh))
        yield shape


def drawn(name, trace, shape, kind, data):
    """A step of such numbers that no sum of them loses a digit, or of such as overflow."""
    size = math.prod(shape)
    if kind == "i":
        entries, precision = places, None
    elif kind == "b":
        entries, precision = st.booleans(), None
    else:
        kinds = ("float32", "float32", "huge", "float16", "bfloat16")
        precision = data.draw(st.sampled_from(kinds))
        small = st.integers(1, 16).map(lambda eighths: eighths / 8)
        entries = {"float32": numbers, "huge": st.sampled_from(HUGE)}.get(precision, small)
    nested = torch.tensor(data.draw(st.lists(entries, min_size=size, max_size=size))).reshape(shape)
    axes = tuple(f"{name}_{at}" for at in range(len(shape)))
    step = trace.step(name, ops.Given(tuples(nested.tolist())), axes=axes)
    if precision in ("float16", "bfloat16"):
        step = trace.step(f"{name}_{precision}", ops.Cast(precision), step, axes=axes)
    return step


def tuples(nested):
    return tuple(map(tuples, nested)) if isinstance(nested, list) else nested


def gives(step, index):
    """The arithmetic of a cell gives what the tensor has, as exactly as its numbers are kept."""
    arithmetic = step.arithmetic(index)
    has, value = float(step.value[index]), arithmetic.value
    assert arithmetic.latex()
    if math.isnan(has) or math.isnan(value):
        assert math.isnan(has) == math.isnan(value), (step, index, has, value)
        return
    kept = [given.value for given in (*step.inputs, step) if given.value.is_floating_point()]
    rounding = max([1e-5, *(8 * torch.finfo(e.dtype).eps for e in kept if e.dtype.itemsize < 4)])
    terms = [abs(term.value) for term in arithmetic.terms if math.isfinite(term.value)]
    size = max([abs(has) if math.isfinite(has) else 0.0, *terms])
    assert has == value or abs(has - value) <= rounding * size + 1e-37, (step, index, has, value)


def answered(call):
    """What it gives, or None where it is refused in words."""
    try:
        return call()
    except ValueError as error:
        refusal = str(error)
    assert re.search(r"[a-z] [a-z]", refusal), refusal
    assert "unpack" not in refusal, refusal
    return None


@pytest.mark.slow("7 s: guesses its cases")
@pytest.mark.parametrize("kind", OPERATIONS.values(), ids=OPERATIONS)
@given(data=st.data())
def test_any_operands_are_refused_in_words_or_every_cell_can_be_taken_apart(kind, data):
    plain = data.draw(st.sampled_from(MADE[kind]), label="of the workshop")
    settings = {
        name: data.draw(alike(getattr(plain, name), name), label=name)
        for name in inspect.signature(kind).parameters
        if not (name == "transpose" and kind.adds_third)  # nobody turns those
    }
    operation = answered(lambda: kind(**settings))
    if operation is None:
        return
    n_operands = operation.takes.count("(")
    shapes = list(shapes_that_fit(operation.takes, data))
    if data.draw(st.booleans(), label="of any shape"):
        any_shape = st.lists(counts, max_size=4)
        shapes = data.draw(st.lists(any_shape, min_size=n_operands, max_size=n_operands))
    assume(all(math.prod(shape) <= 64 for shape in shapes))
    trace = Trace()
    kinds = KINDS.get(kind.__name__, "").ljust(n_operands, "f")
    operands = [
        drawn(f"operand_{at}", trace, shape, of, data)
        for at, (shape, of) in enumerate(zip(shapes, kinds, strict=True))
    ]
    value = answered(lambda: operation.value(*[each.value for each in operands]))
    if value is None:
        return
    memories = {each.value.untyped_storage().data_ptr() for each in operands}
    assert value.untyped_storage().data_ptr() not in memories, "its numbers are an operand's"
    axes = tuple(f"axis_{at}" for at in range(value.ndim))
    step = trace.step("result", operation, *operands, axes=axes)
    cells = list(itertools.product(*map(range, value.shape)))
    for index in cells[:: len(cells) // 64 + 1]:
        gives(step, index)
