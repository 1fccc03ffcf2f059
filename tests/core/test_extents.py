"""Which cells a cell is made of."""

import itertools

import pytest
import torch

from attention_core import Trace, operations
from attention_core.explain.extents import extents


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
