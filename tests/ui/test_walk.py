"""The stepper of the second lesson, and the mean of many draws of dropout."""

import pytest
import torch

from attention_core.operations import Drop
from attention_ui.lessons.causal_mask import dropout
from drawn import opened

PAGE = "pages/simplified_attention.py"


def button(at, label):
    return next(each for each in at.button if each.label == label)


def reached(at):
    (said,) = [each.value for each in at.text if each.value.endswith("keys so far")]
    return int(said.split()[0])


def walked(at, label):
    """Where one button leads, pressed until it cannot be."""
    seen = [reached(at)]
    while not button(at, label).disabled:
        button(at, label).click().run()
        seen.append(reached(at))
        assert at.session_state["settings"].upto == seen[-1]
        assert len(seen) < 20
    return seen


@pytest.mark.slow("4 s: a page for each press")
@pytest.mark.parametrize("text", ["one", "a b", "a b c d e"])
def test_the_stepper_reaches_each_key_once(text):
    at = opened(PAGE, sentence=text, tokenizer="blanks", upto="1")
    n_keys = len(text.split())
    every = list(range(1, n_keys + 1))
    assert walked(at, "Next key") == every
    assert walked(at, "Back") == every[::-1]
    assert walked(at, "All") == ([1, n_keys] if n_keys > 1 else [1])
    assert walked(at, "First") == ([n_keys, 1] if n_keys > 1 else [1])


@pytest.mark.slow("4 s: a page for each press")
@pytest.mark.parametrize("text", ["a b c d e"])
def test_from_the_middle_first_and_all_go_to_the_ends(text):
    for label, end in (("First", 1), ("All", 5), ("Back", 2), ("Next key", 4)):
        at = opened(PAGE, sentence=text, tokenizer="blanks", upto="3")
        button(at, label).click().run()
        assert reached(at) == end


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
