"""Other ways to the same heads, and what a wrong split mixes up, against independent oracles."""

import pytest
import torch

from attention_core.mechanism.head_ways import pieces
from attention_core.operations import SplitHeads, SplitWithoutTranspose


@pytest.mark.parametrize("split", [SplitHeads(3), SplitWithoutTranspose(3)])
def test_pieces_are_where_each_cell_comes_from(split):
    """Token and column are told apart by value here: 100 · token + column."""
    joined = 100 * torch.arange(5)[:, None] + torch.arange(6)
    for head, rows in zip(split.value(joined).tolist(), pieces(split, 5, 6), strict=True):
        for row, found in zip(head, rows, strict=True):
            cells = [100 * p.token + c for p in found for c in range(p.first, p.last + 1)]
            assert cells == row
