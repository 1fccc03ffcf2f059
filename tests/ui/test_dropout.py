"""The mean of many draws of dropout is the weights it draws from."""

import pytest
import torch

from attention_core.operations import Drop
from attention_ui.lessons.causal_mask import dropout


@pytest.mark.parametrize("probability", [0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9])
def test_the_mean_of_many_draws_of_dropout_is_the_weights(probability):
    """Within five standard errors: a weight of w is 0 or w / (1 − p)."""
    row = torch.tensor([0.5, 0.25, 0.125, 0.1, 0.025, 0.0])
    error = row * (probability / (1 - probability) / dropout.DRAWS) ** 0.5
    mean = dropout._mean_of_draws(row, probability)
    assert ((mean - row).abs() <= 5 * error + 1e-6).all()
    numbers = torch.rand(dropout.DRAWS, 6, generator=torch.Generator().manual_seed(1))
    kept = Drop(probability).value(row.expand(dropout.DRAWS, -1).contiguous(), numbers)
    assert ((kept.mean(dim=0) - row).abs() <= 5 * error + 1e-6).all()
    dropped = (kept[:, :5] == 0).double().mean().item()
    assert dropped == pytest.approx(probability, abs=0.02)
