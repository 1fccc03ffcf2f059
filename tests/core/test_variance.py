"""Dot products of random vectors: measured against an oracle in one piece, and against theory."""

import math
import statistics
from dataclasses import replace

import pytest
import torch

from attention_core import Trials, few_trials, measure_variance, softmax_effect, variance_theory
from attention_core.experiments.saturation import trials_at
from attention_core.experiments.variance import BLOCK, MAX_TRIALS


def end(settings, **options):
    *_, last = measure_variance(settings, **options)
    return last


def drawn_at_once(settings, rows=2):
    generator = torch.Generator().manual_seed((settings.seed * 4_099 + settings.d) % 2**32)
    whole = math.ceil(settings.trials / BLOCK) * BLOCK
    if settings.distribution == "normal":
        entries = torch.randn(whole, rows, settings.d, generator=generator)
    else:
        entries = torch.rand(whole, rows, settings.d, generator=generator)
    if settings.distribution == "uniform":
        entries = (entries - 0.5) * 12**0.5
    if settings.distribution != "uniform_0_1":
        entries = entries * settings.spread
    return entries[: settings.trials]


@pytest.mark.parametrize("distribution", ["normal", "uniform", "uniform_0_1"])
@pytest.mark.parametrize(("d", "trials"), [(1, 2), (1, 101), (7, 37), (13, 251), (101, 17)])
def test_a_run_measures_what_python_s_statistics_does(distribution, d, trials):
    settings = Trials(d, trials, distribution, spread=1.7, seed=5)
    measured = end(settings, chunk=997)
    products = drawn_at_once(settings).double().prod(dim=1)
    dots = products.sum(dim=-1).tolist()
    assert measured.mean == pytest.approx(statistics.fmean(dots), rel=1e-4, abs=1e-4)
    assert measured.variance == pytest.approx(statistics.variance(dots), rel=1e-4)
    firsts = products[:, 0].tolist()
    assert measured.product_variance == pytest.approx(statistics.variance(firsts), rel=1e-4)
    assert (measured.low, measured.high) == pytest.approx((min(dots), max(dots)), rel=1e-4)
    assert measured.trials == sum(measured.counts) == trials


@pytest.mark.parametrize("distribution", ["normal", "uniform", "uniform_0_1"])
@pytest.mark.parametrize("d", [1, 3, 17, 64])
def test_the_size_of_chunks_changes_nothing_to_the_last_bit(distribution, d):
    settings = Trials(d, 487, distribution, spread=0.6, seed=3)
    one_piece = end(settings)
    for chunk in (1, 101, 3_001, 20_011):
        assert end(settings, chunk=chunk) == one_piece
    effects = [softmax_effect(replace(settings, trials=53), 5, c) for c in (1, 4_001, 2**20)]
    assert effects[0] == effects[1] == effects[2]


@pytest.mark.parametrize("d", [1, 5, 100, 4_096])
def test_theory_is_the_known_formulas(d):
    normal = variance_theory(Trials(d))
    assert normal.variance == d
    assert normal.standard_error(1_000) == pytest.approx(d * math.sqrt((2 + 6 / d) / 1_000))
    assert variance_theory(Trials(d, spread=0.5)).variance / d == 0.0625
    assert variance_theory(Trials(d, spread=2.0)).variance / d == 16
    from_0_to_1 = variance_theory(Trials(d, distribution="uniform_0_1", spread=3.0))
    assert from_0_to_1.mean == d / 4
    assert from_0_to_1.variance / d == pytest.approx(7 / 144)


def test_a_long_run_reports_on_its_way_and_can_be_left():
    reports = measure_variance(Trials(64, 50_000), chunk=2**14)
    first, second = next(reports), next(reports)
    assert 0 < first.trials < second.trials < 50_000
    assert sum(first.counts) == first.trials
    reports.close()


@pytest.mark.parametrize(("d", "n_keys"), [(3, 2), (17, 5), (64, 7)])
def test_the_effect_on_softmax_is_that_of_torch_s_derivatives(d, n_keys):
    settings = Trials(d, 5, seed=7)
    vectors = drawn_at_once(settings, 1 + n_keys).double()
    scores = torch.einsum("td,tkd->tk", vectors[:, 0], vectors[:, 1:])
    found = softmax_effect(settings, n_keys)
    for name, divisor in (("nothing", 1), ("sqrt_d", d**0.5), ("d", d)):
        weights = [(row / divisor).softmax(0) for row in scores]
        jacobian = torch.autograd.functional.jacobian
        norms = [
            jacobian(lambda dots, by=divisor: (dots / by).softmax(0), row).norm().item()
            for row in scores
        ]
        effect = found[name]
        assert effect.gradient_norm == pytest.approx(sorted(norms)[2], rel=1e-5)
        assert effect.saturated == sum(w.max().item() > 0.99 for w in weights) / 5
        ordered = [sorted(w.tolist(), reverse=True) for w in weights]
        means = [sum(row[place] for row in ordered) / 5 for place in range(n_keys)]
        assert effect.sorted_weights == pytest.approx(means, rel=1e-6)
        assert effect.largest_weight == effect.sorted_weights[0]


def test_a_gradient_too_small_for_a_difference_from_one_is_still_measured():
    assert trials_at(1) == 4_000 > trials_at(4_096) > 96
    assert 0 < softmax_effect(Trials(4_096, 96))["nothing"].gradient_norm < 1e-9


@pytest.mark.parametrize(("wrong", "words"), [
    ({"d": 0}, "a width d of 0"),
    ({"d": 4_097}, "a width d of 4097"),
    ({"trials": 1}, "1 trials"),
    ({"trials": MAX_TRIALS + 1}, "trials: choose"),
    ({"distribution": "cauchy"}, "no distribution is called 'cauchy'"),
    ({"spread": 0}, "a standard deviation of 0"),
    ({"spread": math.nan}, "a standard deviation of nan"),
])  # fmt: skip
def test_what_is_out_of_range_is_refused_in_words(wrong, words):
    with pytest.raises(ValueError, match=words):
        Trials(**wrong)


def test_a_few_trials_are_a_trace_of_dot_products():
    trace = few_trials(seed=3, trials=5, d=7)
    values = {name: step.value for name, step in trace.items()}
    dots = torch.einsum("td,td->t", values["queries"], values["keys"])
    assert torch.allclose(values["dot_products"], dots, atol=1e-5)
    assert torch.allclose(values["scaled_dot_products"], dots / 7**0.5, atol=1e-5)
    assert torch.equal(values["products"], values["queries"] * values["keys"])
