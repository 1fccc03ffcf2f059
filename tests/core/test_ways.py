"""The same thing in several ways: heads taken apart, matrices by layer, ways to hide."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attention_core import EXAMPLES, embed
from attention_core.mechanism.masking import attend_masked
from attention_core.mechanism.multi_head import (
    add_batched,
    add_big_projection,
    add_head_parts,
    attend_heads,
    expand_word,
    switch_off,
    torch_output,
)
from attention_core.mechanism.trainable import add_other_ways, attend_trainable, expand_token
from attention_core.recipes import PLURAL, ROLES, HeadsRecipe, Projections

every_example = pytest.mark.parametrize("example", EXAMPLES)
ODD_HEADS = HeadsRecipe(n_heads=3, d_head=5, d_value=2, d_model=7, seed=11)
MASKED_HEADS = HeadsRecipe(5, 1, 4, 11, "rand", seed=5, causal=True)


def near(left, right, tolerance=1e-5):
    """Whether two tensors of one shape are equal but for rounding, relative to their largest."""
    largest = max(right.abs().max().item(), 1e-30)
    return left.shape == right.shape and (left - right).abs().max().item() <= tolerance * largest


def heads(example, recipe=None):
    example = EXAMPLES[example]
    return attend_heads(embed(example.inputs), recipe or example.heads)


def single(example, **changes):
    example = EXAMPLES[example]
    return attend_trainable(embed(example.inputs), replace(example.projections, **changes))


@pytest.mark.parametrize("recipe", [None, ODD_HEADS, MASKED_HEADS], ids=["own", "odd", "masked"])
@every_example
def test_every_way_to_the_heads_comes_to_the_same(example, recipe):
    trace = heads(example, recipe)
    assert near(trace["output"].value, torch_output(trace))
    used = recipe or EXAMPLES[example].heads
    matrices = [trace[f"W_{role}"].value for role in (*ROLES, "output")]
    assert used.n_parameters(trace.size("d_in")) == sum(each.numel() for each in matrices)
    expand_word(add_head_parts(add_big_projection(add_batched(trace))), 2)
    n_heads = trace.size("head")
    for role in ROLES:
        of_heads = trace[f"head_{PLURAL[role]}"].value
        assert near(trace[f"permuted_{PLURAL[role]}"].value, of_heads)
        assert near(trace[f"one_head_{role}"].value, of_heads[:, 2])
        columns = trace[f"W_{role}"].value.chunk(n_heads, dim=1)
        assert torch.equal(torch.stack(columns), trace[f"head_W_{role}"].value)
    assert near(trace["split_queries"].value, trace["head_queries"].value)
    assert not near(trace["mixed_queries"].value, trace["head_queries"].value, 1e-2)
    assert near(trace["output_from_heads"].value, trace["output"].value)


@pytest.mark.parametrize("head", [0, 1, 2])
def test_a_head_switched_off_takes_its_own_part_and_no_more(head):
    trace = switch_off(add_head_parts(heads("wild_cat", ODD_HEADS)), head)
    parts = trace["head_outputs"].value
    others = parts[[other for other in range(3) if other != head]].sum(dim=0)
    assert near(trace["output_left"].value, others)
    assert not near(trace["output_left"].value, trace["output"].value, 1e-2)
    assert (trace["concat_left"].value[:, 2 * head : 2 * head + 2] == 0).all()


@pytest.mark.parametrize("bias", [False, True])
@every_example
def test_every_way_to_queries_keys_and_values_comes_to_the_same(example, bias):
    for recipe in (EXAMPLES[example].projections, EXAMPLES[example].linear):
        trace = attend_trainable(embed(EXAMPLES[example].inputs), replace(recipe, bias=bias))
        add_other_ways(expand_token(trace, 2))
        vectors = trace["embeddings"].value
        for role in ROLES:
            whole = trace[PLURAL[role]].value
            layer = nn.Linear(vectors.shape[1], whole.shape[1], bias=bias)
            layer.weight.data = trace[f"W_{role}"].value.T
            if bias:
                layer.bias.data = trace[f"b_{role}"].value
            assert near(whole, layer(vectors).detach())
            assert near(trace[f"linear_{PLURAL[role]}"].value, whole)
            assert near(trace[f"one_{role}"].value, whole[2])
        assert near(trace["queries_upright"].value, trace["queries"].value)
        assert near(trace["linear_context_vectors"].value, trace["context_vectors"].value, 1e-4)
        assert near(trace["query_context"].value, trace["context_vectors"].value[2], 1e-4)


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


@pytest.mark.parametrize("start", ["rand", "linear"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("at", [0, 1, 2], ids=ROLES)
def test_a_seed_for_one_matrix_changes_that_one_alone(at, bias, start):
    seeds = [None, None, None]
    seeds[at] = 7
    plain = single("wild_cat", start=start, bias=bias)
    other = single("wild_cat", start=start, bias=bias, seeds=tuple(seeds))
    for place, role in enumerate(ROLES):
        same = torch.equal(other[PLURAL[role]].value, plain[PLURAL[role]].value)
        assert same == (place != at)
    torch.manual_seed(7)
    drawn = nn.Linear(3, 2).weight.T if start == "linear" else torch.rand(3, 2)
    assert torch.equal(other[f"W_{ROLES[at]}"].value, drawn)


@pytest.mark.parametrize("start", ["rand", "linear"])
def test_a_number_typed_into_a_matrix_changes_its_column_alone(start):
    plain = single("wild_cat", start=start)
    typed = add_other_ways(single("wild_cat", start=start, edits=((), ((1, 0, 9.5),), ())))
    assert typed["W_key"].value[1, 0] == 9.5
    assert torch.equal(typed["keys"].value[:, 1], plain["keys"].value[:, 1])
    assert not torch.equal(typed["keys"].value[:, 0], plain["keys"].value[:, 0])
    assert torch.equal(typed["values"].value, plain["values"].value)
    assert near(typed["linear_keys"].value, typed["keys"].value)


@pytest.mark.parametrize("scale", ["none", "sqrt_d", "d"])
@every_example
def test_the_two_right_ways_to_hide_agree_and_are_torch_s(example, scale):
    trace = attend_masked(embed(EXAMPLES[example].inputs), scale=scale)
    vectors = trace["embeddings"].value[None]
    width = vectors.shape[-1]
    factor = {"none": 1.0, "sqrt_d": width**-0.5, "d": 1 / width}[scale]
    oracle = F.scaled_dot_product_attention(*[vectors] * 3, is_causal=True, scale=factor)[0]
    weights = trace["weights"].value
    assert (trace["renormalised_weights"].value - weights).abs().max() < 1e-6
    assert near(trace["context_vectors"].value, oracle)
    assert (weights.sum(dim=-1) - 1).abs().max() < 1e-6
    assert (weights.triu(1) == 0).all()
