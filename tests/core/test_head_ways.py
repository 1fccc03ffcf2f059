"""Other ways to the same heads, and what a wrong split mixes up, against independent oracles."""

import pytest
import torch

from attention_core import EXAMPLES, embed
from attention_core.mechanism.head_ways import pieces, stack_of_heads
from attention_core.mechanism.multi_head import attend_heads
from attention_core.operations import SplitHeads, SplitWithoutTranspose
from attention_core.recipes import HeadsRecipe


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scale", ["none", "sqrt_d", "d"])
def test_a_stack_of_heads_takes_divisor_and_mask_from_the_trace(causal, scale):
    recipe = HeadsRecipe(3, d_head=2, d_value=5, d_model=7, causal=causal, scale=scale)
    trace = attend_heads(embed(EXAMPLES["wild_cat"].inputs), recipe)
    torch.testing.assert_close(stack_of_heads(trace), trace["head_context_vectors"].value)


@pytest.mark.parametrize("split", [SplitHeads(3), SplitWithoutTranspose(3)])
def test_pieces_are_where_each_cell_comes_from(split):
    """Token and column are told apart by value here: 100 · token + column."""
    joined = 100 * torch.arange(5)[:, None] + torch.arange(6)
    for head, rows in zip(split.value(joined).tolist(), pieces(split, 5, 6), strict=True):
        for row, found in zip(head, rows, strict=True):
            cells = [100 * p.token + c for p in found for c in range(p.first, p.last + 1)]
            assert cells == row
