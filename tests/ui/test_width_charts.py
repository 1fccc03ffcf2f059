"""The charts and the words of the lesson on √d: their data, their axes, what they leave out."""

import json

import altair as alt
import pytest
import torch

from attention_core import Trials
from attention_core.experiments.saturation import softmax_effect
from attention_ui.lessons.divide_by_sqrt_d.against_d import Point, against_d
from attention_ui.lessons.divide_by_sqrt_d.histogram import histogram
from attention_ui.lessons.divide_by_sqrt_d.lesson import by_divisor
from attention_ui.lessons.divide_by_sqrt_d.words import growth, last


def check(chart):
    assert json.loads(json.dumps(chart.spec, allow_nan=False)) == chart.spec
    assert "data" not in chart.spec
    assert "datasets" not in chart.spec
    assert len(chart.alt) > 20
    rows = chart.frame.head(3).to_dict("records")
    alt.Chart.from_dict({**chart.spec, "data": {"values": rows}}, validate=True)


def test_a_histogram_has_a_bar_for_each_bin_and_shares_that_add_up():
    chart = histogram((2, 0, 5, 1), -3.0, 5.0, (-10, 10), "q·k", "#000000")
    check(chart)
    assert chart.frame["from"].tolist() == [-3, -1, 1, 3]
    assert chart.frame["to"].tolist() == [-1, 1, 3, 5]
    assert chart.frame["share"].sum() == pytest.approx(1)
    assert chart.spec["encoding"]["x"]["scale"]["domain"] == [-10, 10]
    assert chart.spec["encoding"]["y"]["scale"]["domain"] == [0, 5 / 8]


POINTS = [Point(1, "a", 1.5, 1.0, 2.0), Point(64, "a", 60.0, 64.0, 5.0), Point(4, "b", 3, 3, 1)]
LINES = {"a": ("#111111", False), "b": ("#222222", True)}


def test_a_band_stays_above_zero():
    chart = against_d(POINTS, LINES, "Variance")
    check(chart)
    assert (chart.frame["low"].tolist()[0], chart.frame["high"].tolist()[0]) == (0.1, 3.0)
    for layer in chart.spec["layer"]:
        ends = [0.1, 69.0]
        assert layer["encoding"]["y"]["scale"]["domain"] == ends, "given, so that Vega is silent"
        assert layer["encoding"]["color"]["scale"]["range"] == ["#111111", "#222222"]
    assert "a: 1.5 at d 1 and 60 at d 64; b: 3 at d 4 and 3 at d 4" in chart.alt


def test_filling_one_chart_leaves_the_next_as_it_was():
    first = against_d(POINTS, LINES, "Variance")
    against_d(POINTS[:2], {"a": ("#333333", True)}, "Other")
    assert against_d(POINTS, LINES, "Variance").spec == first.spec


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
def test_a_guess_of_four_times_is_right_and_every_verdict_has_the_measured_numbers(seed):
    narrow, wide = (last(Trials(d=d, seed=seed)).variance ** 0.5 for d in (4, 64))
    assert wide / narrow == pytest.approx(4, rel=0.15)
    for guess in range(4):
        verdict = growth(seed).judge([guess])
        assert verdict.right == (guess == 1)
        assert f"from {narrow:.2f} to {wide:.2f}" in verdict.words


def test_the_picture_of_the_three_divisors_has_what_was_measured_at_every_width():
    drawn = {d: by_divisor(d, softmax_effect(Trials(d, 96))) for d in (1, 64, 4_096)}
    for d, layout in drawn.items():
        weights, gradient = (each.step.value for each in layout.matrices)
        found = softmax_effect(Trials(d, 96)).values()
        assert torch.equal(weights, torch.tensor([each.sorted_weights for each in found]))
        sizes = torch.tensor([each.gradient_norm for each in found])
        assert torch.allclose(gradient, sizes / sizes.max())
        assert f"d={d:,}" in [each.text for each in layout.wide.words]
