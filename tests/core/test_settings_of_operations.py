"""Settings of operations: the last one that can be is taken, the first beyond is refused."""

import math

import pytest
import torch

from attention_core import HeadsRecipe, Inputs, Trace, attend_heads, embed
from attention_core import operations as ops
from attention_core.experiments.saturation import softmax_effect
from attention_core.experiments.variance import Trials
from attention_core.lights.own_code.reading import normed_by
from attention_core.mechanism.multi_head import torch_output, torch_width

WIDE = torch.arange(12.0).reshape(2, 3, 2)
BOUNDS = [
    (lambda n: ops.RepeatHeads(n), 1, 0, "repeated 0 times"),
    (lambda n: ops.MeanHeads(n), 1, 0, "mean of 0 heads"),
    (lambda n: ops.SumGroups(n), 1, 0, "sum of 0 heads"),
    (lambda n: ops.JoinRows(n), 1, 0, "rows of 0 tensors"),
    (lambda n: ops.Total(n), 2, 1, "a total of 1: choose two"),
    (lambda n: ops.Repeat(n), 1, 0, "repeated 0 times"),
    (lambda n: ops.RotaryAngles(n, 2), 1, 0, "at least one token"),
    (lambda n: ops.RotaryAngles(2, n), 1, 0, "at least one token and one pair"),
    (lambda base: ops.RotaryAngles(2, 2, base), 1e-9, 0.0, "a base of 0"),
    (lambda base: ops.RotaryAngles(2, 2, base), 1e300, math.inf, "a base of inf"),
    (lambda first: ops.RotaryAngles(3, 2, first=first), 2**53 - 3, 2**53 - 2, "a first place of"),
    (lambda first: ops.RotaryAngles(3, 2, first=first), 3 - 2**53, 2 - 2**53, "a first place of"),
    (lambda rates: ops.RotaryAngles(3, 2, rates=rates), (1.0, 0.5), (1.0,), "1 rates for 2 pairs"),
    (lambda n: ops.DistanceBias(0.5, n, 2), 1, 0, "at least one query"),
    (lambda n: ops.DistanceBias(0.5, 2, n), 1, 0, "at least one query and one key"),
    (lambda slopes: ops.DistanceBias(slopes, 2, 2), (0.5, -1.0), (), "each head needs one"),
    (lambda slope: ops.DistanceBias(slope, 2, 2), 0.0, math.nan, "a finite number"),
    (lambda kind: ops.DistanceBias(0.5, 2, 2, precision=kind), "float16", "int8", "precision is"),
    (lambda n: ops.WindowMask(n, 2, 1), 1, 0, "at least one query"),
    (lambda n: ops.WindowMask(2, n, 1), 1, 0, "at least one query and one key"),
    (lambda left: ops.WindowMask(2, 2, left), 0, -1, "-1 keys to the left"),
    (lambda right: ops.WindowMask(2, 2, 1, right), 0, -1, "-1 keys to the right"),
    (lambda n: ops.WindowMask(2, 2, 1, sinks=n), 0, -1, "-1 sinks"),
    (lambda left: ops.WindowMask(2, 2, left, sinks=1), 0, None, "without a side"),
    (lambda lengths: ops.LengthMask(lengths, 3), (0, 3), (), "no lengths"),
    (lambda n: ops.LengthMask((2, n), 3), 3, 4, "4"),
    (lambda n: ops.LengthMask((2, n), 3), 0, -1, "-1"),
]


@pytest.mark.parametrize(("make", "last", "beyond", "said"), BOUNDS)
def test_the_last_that_can_be_is_taken_and_the_next_is_refused_in_words(make, last, beyond, said):
    make(last)
    with pytest.raises(ValueError, match=said):
        make(beyond)


@pytest.mark.parametrize(("n_heads", "d_head", "d_value", "d_in", "d_model", "width"), [
    (3, 7, 2, 5, 11, 7), (3, 1, 5, 2, 7, 5), (3, 1, 2, 11, 5, 4), (3, 2, 1, 5, 13, 5),
])  # fmt: skip
def test_torch_s_heads_are_as_wide_as_the_widest_part(
    n_heads, d_head, d_value, d_in, d_model, width
):
    recipe = HeadsRecipe(n_heads=n_heads, d_head=d_head, d_value=d_value, d_model=d_model)
    trace = attend_heads(embed(Inputs("a b c a", tokenizer="blanks", d_in=d_in)), recipe)
    assert torch_width(trace) == width
    torch.testing.assert_close(torch_output(trace), trace["output"].value, atol=1e-5, rtol=1e-4)


VALUES = [
    (lambda end: ops.Columns(1, end).value(WIDE), 2, 3, "no column 2 among 2"),
    (lambda end: ops.Rows(1, end).value(WIDE), 3, 4, "no row 3 among 3"),
    (lambda first: ops.Rows(first, 2).value(WIDE), 1, 2, "no rows from 2 up to 2"),
    (lambda first: ops.Rows(first, 2).value(WIDE), 0, -1, "no rows from -1"),
    (lambda at: ops.Entry(at).value(WIDE), (1, 2, 1), (1, 2), "no entry of a tensor of 3 axes"),
    (lambda size: ops.Repeat(3).value(torch.ones(2, size)), 1, 2, "is 2 long, but must be 1"),
    (lambda rows: ops.Lookup().value(WIDE[0], rows), torch.tensor([0, 2]),
     torch.tensor([True, False]), "true or false"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "last", "beyond", "said"), VALUES)
def test_of_what_there_is_the_last_is_taken_and_no_more(make, last, beyond, said):
    make(last)
    with pytest.raises(ValueError, match=said):
        make(beyond)


def test_what_softmax_does_is_looked_at_with_eight_keys():
    found = softmax_effect(Trials(d=4, trials=20))
    assert {len(each.sorted_weights) for each in found.values()} == {8}


@pytest.mark.parametrize("norm", ["layer", "rms", ""])
def test_vectors_are_normed_as_torch_norms_them(norm):
    vectors = 3 + torch.arange(10.0).reshape(2, 5).square()
    known = {
        "layer": torch.nn.functional.layer_norm(vectors, (5,)),
        "rms": torch.nn.functional.rms_norm(vectors, (5,)),
        "": vectors,
    }
    torch.testing.assert_close(normed_by(vectors, norm), known[norm], atol=1e-4, rtol=1e-4)


def test_a_step_that_is_made_again_of_what_it_was_made_of_is_that_step():
    trace = embed(Inputs("a b", tokenizer="blanks", d_in=2))
    step, other = trace["embeddings"], Trace()
    for each in step.inputs:
        other.again(each)
    assert other.again(step, *step.inputs) is step
    third = Trace()
    table, ids = step.inputs
    changed = third.step(table.name, ops.Given(((1.0, 2.0),) * len(table.value)), axes=table.axes)
    made = third.again(step, changed, third.again(ids))
    assert made is not step
    assert made.inputs[0] is changed
