"""Every operation that there is, with any operands: refused in words, or every cell agrees."""

import itertools
import math
import re

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from attention_core import Trace
from attention_core import operations as ops
from attention_core.small_models.recording import RECORDING
from gguf_files import FEW_BITS
from traces import OPERATIONS

places = st.integers(0, 3)
counts = st.integers(1, 4)
numbers = st.integers(-16, 16).map(lambda eighths: eighths / 8)
several = st.lists(st.tuples(places, places, numbers), min_size=1, max_size=3).map(tuple)
several_rows = st.lists(places, max_size=3).map(tuple)
SETTINGS = {
    "AddAtIds": st.tuples(counts),
    "Entry": st.tuples(st.lists(places, max_size=3).map(tuple)),
    "GELUSlope": st.tuples(st.booleans()),
    "PutBack": st.tuples(places, st.integers(1, 6), st.sampled_from([-1, -2, -3]), st.booleans()),
    "PutEntry": st.sampled_from([((), ()), ((1,), (3,)), ((0, 1), (2, 3))]),
    "Repeat": st.tuples(counts, st.sampled_from([0, -1, -2]), st.booleans()),
    "RowSum": st.tuples(st.sampled_from([-1, -2])),
    "SoftCapSlope": st.sampled_from([(0.5,), (30.0,)]),
    "SumGroups": st.tuples(counts),
    "Total": st.tuples(st.integers(2, 4)),
    "Cast": st.tuples(st.sampled_from(["float32", "float16", "bfloat16"])),
    "Columns": st.tuples(places, st.integers(1, 4)).filter(lambda ends: ends[0] < ends[1]),
    "DistanceBias": st.tuples(
        numbers | st.lists(numbers, min_size=1, max_size=3).map(tuple),
        counts,
        counts,
        places,
        st.none() | st.sampled_from(["float16", "bfloat16"]),
    ),
    "Draw": st.tuples(
        st.sampled_from(["normal", "uniform", "linear"]),
        st.lists(counts, min_size=1, max_size=3).map(tuple),
        places,
    ),
    "Drop": st.tuples(st.sampled_from([0.0, 0.25, 0.5])),
    "Edit": st.tuples(several),
    "Encode": st.just((("a", "b", "a"), (1, 0, 1), (("a", 1), ("b", 0)))),
    "GELU": st.tuples(st.booleans()),
    "Given": st.tuples(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=3).map(tuple)),
    "MaskedFill": st.tuples(st.sampled_from([-math.inf, 0.0, -2.0])),
    "JoinPair": st.tuples(places),
    "PairCounts": st.tuples(counts),
    "JoinHeads": st.tuples(st.booleans()),
    "JoinRows": st.tuples(st.integers(1, 4)),
    "LayerNorm": st.tuples(st.booleans()),
    "WindowMask": st.tuples(
        counts, counts, st.none() | places, st.none() | places, places, places
    ).filter(lambda made: made[2] is not None or not made[-1]),
    "LengthMask": st.tuples(st.lists(places, min_size=1, max_size=3).map(tuple), st.just(3)),
    "ScaleBy": st.tuples(numbers),
    "MatMul": st.tuples(st.booleans()),
    "BatchedMatMul": st.tuples(st.booleans()),
    "AttentionMask": st.tuples(counts, counts, st.booleans()),
    "MeanHeads": st.tuples(counts),
    "Multiply": st.tuples(st.booleans()),
    "OneHot": st.tuples(counts),
    "RepeatHeads": st.tuples(counts, st.booleans()),
    "RotaryAngles": st.tuples(counts, counts, st.sampled_from([10000.0, 7.0]), places),
    "Row": st.tuples(places),
    "Rows": st.tuples(places, st.integers(1, 4)).filter(lambda ends: ends[0] < ends[1]),
    "RowsOfHeads": st.tuples(counts),
    "Scale": st.tuples(counts, st.booleans()),
    "ScaleRow": st.tuples(places, numbers),
    "Shift": st.tuples(numbers),
    "ShiftRow": st.tuples(places, numbers),
    "Sinusoid": st.tuples(st.integers(1, 64), st.integers(1, 64)),
    "Softmax": st.tuples(st.sampled_from([-1, -2, -3])),
    "MaskedSoftmax": st.tuples(st.sampled_from([-1, -2, -3])),
    "SoftCap": st.sampled_from([(0.5,), (30.0,)]),
    "SplitHeads": st.tuples(counts, st.booleans()),
    "SplitWithoutTranspose": st.tuples(counts),
    "DivideByRoot": st.sampled_from([(1e-5,), (0.5,), (0.0,)]),
    "Rotate": st.tuples(st.booleans()),
    "Standardise": st.sampled_from([(1e-5,), (0.5,), (0.0,)]),
    "Stored": st.tuples(st.just(str(RECORDING)), st.just("loss"), several_rows),
    "StoredInGguf": st.tuples(st.just(str(FEW_BITS)), st.just("four_bits"), several_rows),
    "SwitchOff": st.tuples(places),
    "TopK": st.tuples(counts),
}
"""What an operation is made with, where it needs or takes anything."""
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
    assert SETTINGS.keys() | KINDS.keys() <= OPERATIONS.keys()


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
    flat = data.draw(st.lists(entries, min_size=size, max_size=size))
    nested = torch.tensor(flat).reshape(shape)
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


@pytest.mark.slow("7 s: guesses its cases")
@pytest.mark.parametrize("kind", OPERATIONS.values(), ids=OPERATIONS)
@given(data=st.data())
def test_any_operands_are_refused_in_words_or_every_cell_can_be_taken_apart(kind, data):
    settings = data.draw(SETTINGS.get(kind.__name__, st.just(())), label="settings")
    operation = kind(*settings)
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
    refusal = None
    try:
        value = operation.value(*[each.value for each in operands])
    except ValueError as error:
        refusal = str(error)
    if refusal is not None:
        assert re.search(r"[a-z] [a-z]", refusal), refusal
        assert "unpack" not in refusal, refusal
        return
    memories = {each.value.untyped_storage().data_ptr() for each in operands}
    assert value.untyped_storage().data_ptr() not in memories, "its numbers are an operand's"
    axes = tuple(f"axis_{at}" for at in range(value.ndim))
    step = trace.step("result", operation, *operands, axes=axes)
    cells = list(itertools.product(*map(range, value.shape)))
    for index in cells[:: len(cells) // 64 + 1]:
        gives(step, index)
