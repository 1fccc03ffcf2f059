"""Attention, masks, projections and training against torch's own, and against modules of ours."""

import pytest
import torch
from torch import nn

from attention_core import EXAMPLES, embed
from attention_core.experiments.trained import attend_trained
from attention_core.experiments.training import TrainingSettings, next_tokens, predict, train
from attention_core.mechanism.multi_head import attend_heads, torch_output
from attention_core.mechanism.trainable import ROLES, attend_trainable
from attention_core.recipes import HeadsRecipe, Projections


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("start", ["rand", "linear"])
@pytest.mark.parametrize(
    ("h", "d", "d_value", "d_model"), [(1, 5, 3, 7), (2, 3, 3, 6), (3, 7, 2, 5), (5, 1, 4, 11)]
)
def test_heads_are_torchs_multi_head_attention(h, d, d_value, d_model, start, causal):
    recipe = HeadsRecipe(h, d, d_value, d_model, start, seed=h, causal=causal)
    for example in ("wild_cat", "journey_123"):
        trace = attend_heads(embed(EXAMPLES[example].inputs), recipe)
        names = ("W_query", "W_key", "W_value", "W_output")
        assert recipe.n_parameters(3) == sum(trace[name].value.numel() for name in names)
        ours, theirs = trace["output"].value, torch_output(trace)
        assert torch.allclose(ours, theirs, rtol=1e-5, atol=1e-5 * ours.abs().max().item())


@pytest.mark.parametrize("bias", [False, True])
def test_linear_starts_as_torchs_own_layers_do(bias):
    recipe = Projections(d_query=5, d_value=7, start="linear", seed=69, bias=bias)
    trace = attend_trainable(embed(EXAMPLES["wild_cat"].inputs), recipe)
    torch.manual_seed(69)
    for role in ROLES:
        layer = nn.Linear(3, recipe.width(role), bias=bias)
        assert torch.equal(trace[f"W_{role}"].value, layer.weight.T)
        if bias:
            assert torch.equal(trace[f"b_{role}"].value, layer.bias)
    assert recipe.n_parameters(3) == sum(
        trace[name].value.numel() for name in trace if name.startswith(("W_", "b_"))
    )


@pytest.mark.parametrize("scaled", [False, True])
def test_a_recorded_step_is_a_trace_of_the_same_numbers(scaled):
    embedded = embed(EXAMPLES["wild_cat"].inputs)
    vectors, targets = embedded["embeddings"].value, next_tokens(embedded.labels("token"))
    *_, last = train(vectors, targets, TrainingSettings(steps=20, width=7, scaled=scaled))
    trace = attend_trained(embedded, last.matrices, scaled)
    for name, value in zip(
        ("weights", "logits"), predict(vectors, last.matrices, scaled), strict=True
    ):
        assert torch.equal(trace[name].value, value), name
    right = trace["probabilities"].value[:-1].gather(1, targets[:, None])
    assert -right.log().mean().item() == pytest.approx(last.loss, rel=1e-5)
