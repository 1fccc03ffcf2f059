"""Which cells a cell is made of, and which ones a wrong split mixes."""

import itertools

import pytest
import torch

from attention_core import Trace, operations
from attention_core.explain.extents import extents
from attention_core.mechanism.head_ways import pieces
from attention_core.operations import SplitHeads, SplitWithoutTranspose


@pytest.mark.parametrize(
    ("rows", "n_heads", "width"), [*itertools.product((11, 13), (3, 5, 7), (2, 5))]
)
@pytest.mark.parametrize("kind", ["SplitHeads", "SplitWithoutTranspose"])
def test_each_cell_of_a_split_is_said_to_come_from_where_it_does(kind, rows, n_heads, width):
    trace = Trace()
    numbers = torch.arange(rows * n_heads * width).reshape(rows, -1)
    given = trace.step("given", operations.Given(numbers.float().tolist()), axes=("token", "d_in"))
    split = getattr(operations, kind)(n_heads)
    parts = trace.step("parts", split, given, axes=("head", "query", "d_head"))
    first, last = extents(parts, 0)[..., 0, :, :].unbind(-1)
    assert torch.equal(first, last)
    row, column = first.long().unbind(-1)
    assert torch.equal(given.value[row, column], parts.value)


# --- which cells a wrong split mixes --------------------------------------------------------------
@pytest.mark.parametrize("split", [SplitHeads(3), SplitWithoutTranspose(3)])
def test_pieces_are_where_each_cell_comes_from(split):
    """Token and column are told apart by value here: 100 · token + column."""
    joined = 100 * torch.arange(5)[:, None] + torch.arange(6)
    for head, rows in zip(split.value(joined).tolist(), pieces(split, 5, 6), strict=True):
        for row, found in zip(head, rows, strict=True):
            cells = [100 * p.token + c for p in found for c in range(p.first, p.last + 1)]
            assert cells == row
