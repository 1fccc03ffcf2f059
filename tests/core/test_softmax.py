"""A row of scores on its way to weights, against Python's own arithmetic and torch's autograd."""

import math

import pytest
import torch

from attention_core import EXAMPLES, SimplifiedOptions, attend, embed
from attention_core.largest_effect import passes_zero, spreads_most
from attention_core.mechanism.softmax import (
    Spread,
    compare_row,
    exp_limits,
    given_row,
    normalise_row,
    store_row,
)
from attention_core.operations import Cast

ROW = (1.3, -0.7, 2.9, 0.0, -3.1, 0.4, 2.2)


def close(step, oracle, tolerance=1e-6):
    return step.value.tolist() == pytest.approx(oracle, rel=tolerance, abs=tolerance)


def softmax(scores):
    powers = [math.exp(score) for score in scores]
    return [power / math.fsum(powers) for power in powers]


@pytest.mark.parametrize("moves", [{"shift": 7.25}, {"magnify": 8.0}, {"shift": -3, "magnify": 2}])
def test_scores_are_shifted_first_and_then_magnified(moves):
    trace = normalise_row(given_row(ROW), **moves)
    moved = [moves.get("magnify", 1) * (score + moves.get("shift", 0)) for score in ROW]
    assert close(trace["softmax_weights"], softmax(moved))
    assert close(trace["sum_weights"], [score / math.fsum(moved) for score in moved], 1e-5)


def test_the_row_of_an_example_is_the_row_of_its_scores():
    for example in EXAMPLES.values():
        for similarity in ("dot", "cosine"):
            options = SimplifiedOptions(similarity, example.divide)
            row = compare_row(embed(example.inputs), example.query, options)["score_row"].value
            attended = attend(embed(example.inputs), options)
            scores = attended["weights"].inputs[0].value[example.query]
            assert torch.allclose(row, scores, rtol=1e-5, atol=1e-5)


def test_the_spread_goes_from_all_alike_to_one_alone():
    scores = torch.tensor(ROW, dtype=torch.float64)
    each = [(factor * scores).softmax(dim=-1) for factor in (0, 1, 1000)]
    alike, plain, alone = map(Spread.of, each)
    assert alike.largest == pytest.approx(1 / 7)
    assert alike.entropy == pytest.approx(math.log2(7))
    assert alike.gradient == pytest.approx(math.sqrt(6) / 7)
    weights = softmax(torch.tensor(ROW).tolist())
    assert plain.largest == pytest.approx(max(weights))
    assert plain.entropy == pytest.approx(-sum(w * math.log2(w) for w in weights))
    squares = [
        ((j == k) * left - left * right) ** 2
        for j, left in enumerate(weights)
        for k, right in enumerate(weights)
    ]
    assert plain.gradient == pytest.approx(math.sqrt(math.fsum(squares)))
    assert (alone.largest, alone.entropy, alone.gradient) == pytest.approx((1, 0, 0), abs=1e-12)


def test_the_spread_of_no_numbers_is_none():
    spread = Spread.of(torch.tensor([math.nan, math.nan]))
    assert math.isnan(spread.largest)
    assert math.isnan(spread.entropy)


@pytest.mark.parametrize("precision", ["float32", "float16", "bfloat16"])
def test_the_limits_of_exp_are_the_last_numbers_on_their_side(precision):
    dtype = Cast(precision).dtype
    largest, zero = (torch.tensor(limit, dtype=dtype) for limit in exp_limits(precision))
    assert largest.exp().isfinite()
    assert next_up(largest).exp().isinf()
    assert zero.exp() == 0
    assert next_up(zero).exp() > 0
    # Where the exact exponential passes the largest number that can be held.
    step = next_up(largest).item() - largest.item()
    assert abs(largest.item() - math.log(torch.finfo(dtype).max)) <= step + 1e-3


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
@pytest.mark.parametrize("shift", [-150.0, 0.0, 90.0, 150.0])
def test_with_the_largest_subtracted_no_number_is_lost_in_half_precision(precision, shift):
    trace = store_row(given_row(ROW), shift, precision)
    weights = trace["softmax_weights"]
    assert weights.value.dtype == Cast(precision).dtype
    stored = [float(score) for score in trace["stored_scores"].value]
    assert close(weights, softmax([s - max(stored) for s in stored]), 0.01)
    if shift == 150:
        assert int(trace["naive_exponentials"].value.isinf().sum()) == len(ROW)


def next_up(number):
    bits = number.view({2: torch.int16, 4: torch.int32}[number.element_size()])
    return (bits + (1 if number > 0 else -1)).view(number.dtype)


@pytest.mark.parametrize("scores", [(8.1, 6.2, 0, 0), (-3, 1, -1), (1, -1), (0.5, 0.5), (400, 1)])
def test_what_a_row_opens_with_turns_over_its_shares_and_moves_its_softmax(scores):
    row = torch.tensor(scores, dtype=torch.float64)
    added = passes_zero(row, 0.5, 10)
    assert abs(added) <= 10
    turned = (row + added).sum().item() * row.sum().item()
    assert turned < 0 or abs(added) == 10 or not row.sum()
    assert (row + added).sum().item() != 0
    factor = spreads_most(row, 0.5, 16)
    assert 0 < factor <= 16
    before = row.softmax(-1)
    each = [((row * by).softmax(-1) - before).abs().sum() for by in (0.5, 2, 16, factor)]
    assert max(each) == each[-1]


def test_a_row_with_a_hidden_score_opens_as_it_is():
    assert passes_zero(torch.tensor([-math.inf, 3.0, 1.0]), 0.5, 10) == 0
    assert 0 < spreads_most(torch.tensor([-math.inf, 3.0, 1.0]), 0.5, 16) <= 16
