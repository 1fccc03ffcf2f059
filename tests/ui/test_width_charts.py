"""The lesson on √d: its question has the measured numbers, and so has its picture of divisors."""

import pytest
import torch

from attention_core import Trials
from attention_core.experiments.saturation import softmax_effect
from attention_ui.lessons.divide_by_sqrt_d.lesson import by_divisor
from attention_ui.lessons.divide_by_sqrt_d.words import growth, last


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
