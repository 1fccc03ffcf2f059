"""Operations beside torch's own layers and functions, and the memory of what they make. The numbers
of each are held against numpy's in test_oracle_each.
"""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attention_core import Trace
from attention_core import operations as ops
from checks import close
from traces import workshop

WORKSHOP = workshop()


# --- torch's own layers and functions -------------------------------------------------------------


def test_a_layer_norm_of_rows_is_torch_s_layer_as_it_starts():
    vectors = WORKSHOP["vectors"].value
    assert close(WORKSHOP["normed"].value, nn.LayerNorm(5)(vectors).detach())
    equal_entries = torch.full((3, 5), 2.5)
    assert torch.equal(ops.LayerNorm().value(equal_entries), torch.zeros(3, 5))


@pytest.mark.parametrize("sizes", [(2, 3, 5), (3, 5, 7), (1, 5, 3), (7, 3, 1), (1, 1, 1)], ids=str)
def test_splitting_and_joining_undo_one_another_and_the_wrong_split_does_not(sizes):
    n_heads, n_tokens, width = sizes
    joined = torch.arange(n_heads * n_tokens * width).reshape(n_tokens, n_heads * width).float()
    heads = ops.SplitHeads(n_heads).value(joined)
    assert heads.shape == sizes
    assert torch.equal(ops.JoinHeads().value(heads), joined)
    assert torch.equal(ops.SplitHeads(n_heads).value(ops.JoinHeads().value(heads)), heads)
    mixed = ops.SplitWithoutTranspose(n_heads).value(joined)
    assert mixed.shape == sizes
    assert sorted(mixed.flatten().tolist()) == sorted(joined.flatten().tolist())
    assert torch.equal(mixed, heads) == (n_heads == 1 or n_tokens == 1)


def test_dropout_drops_its_share_and_keeps_the_mean():
    numbers = torch.rand(1_000_000, generator=torch.Generator().manual_seed(1))
    ones = torch.ones(1_000_000)
    for probability in (0.0, 0.1, 0.75):
        dropped = ops.Drop(probability).value(ones, numbers)
        assert (dropped == 0).float().mean().item() == pytest.approx(probability, abs=0.002)
        assert dropped.mean().item() == pytest.approx(1, abs=0.01)
        assert set(dropped.tolist()) <= {0.0, torch.tensor(1 / (1 - probability)).item()}


@pytest.mark.parametrize(("n_queries", "n_keys"), [(3, 7), (7, 3), (5, 5), (1, 1)])
def test_a_causal_mask_is_the_one_of_torch_s_attention(n_queries, n_keys):
    """Its weights are the context vectors, where the values are one-hot."""
    ones = torch.ones(n_queries, 2), torch.ones(n_keys, 2)
    weights = F.scaled_dot_product_attention(*ones, torch.eye(n_keys), is_causal=True)
    assert torch.equal(ops.AttentionMask(n_queries, n_keys).value(), weights > 0)


@pytest.mark.parametrize("dim", [-1, -2, -3])
def test_what_is_hidden_is_left_out_along_any_axis(dim):
    scores = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(1))
    scores[0, 1, 2] = scores[1, :, 4] = -math.inf
    scores[:, 0, 3] = -math.inf
    trace = Trace()
    axes = ("head", "query", "key")
    nested = tuple(tuple(map(tuple, head)) for head in scores.tolist())
    given = trace.step("scores", ops.Given(nested), axes=axes)
    seen = trace.step("seen", ops.MaskedSoftmax(dim), given, axes=axes)
    powers = scores.double().exp()
    total = powers.sum(dim, keepdim=True)
    assert close(seen.value, torch.where(total > 0, powers / total, 0.0))
    for index in ((0, 1, 2), (1, 2, 4), (0, 0, 3), (1, 1, 1)):
        assert seen.arithmetic(index).value == pytest.approx(seen.value[index].item(), rel=1e-5)


# --- memory ---------------------------------------------------------------------------------------

ONE_WIDE = torch.ones(1, 1, 5)
MOVES = [
    (ops.Transpose(), torch.ones(1, 5)),
    (ops.Permute(), ONE_WIDE),
    (ops.RepeatHeads(1, one=True), torch.ones(2, 5)),
    (ops.SplitHeads(1), torch.ones(3, 5)),
    (ops.SplitHeads(5), torch.ones(1, 5)),
    (ops.SplitWithoutTranspose(3), torch.ones(2, 3)),
    (ops.JoinHeads(), ONE_WIDE),
    (ops.RowsOfHeads(2), torch.ones(4, 3)),
    (ops.SumHeads(), ONE_WIDE),
    (ops.SwitchOff(0), ONE_WIDE),
    (ops.ReLU(), ONE_WIDE),
    (ops.LayerNorm(), ONE_WIDE),
    (ops.MatMulUpright(), torch.ones(1, 1), torch.ones(1, 1)),
    (ops.Linear(), torch.ones(1, 1), torch.ones(1, 1)),
    (ops.BatchedMatMul(), torch.ones(1, 1, 1), torch.ones(1, 1, 1)),
    (ops.MaskedFill(), torch.ones(3, 5), torch.ones(3, 5, dtype=torch.bool)),
    (ops.Drop(0.0), torch.ones(3, 5), torch.ones(3, 5)),
    (ops.Renormalise(), torch.ones(3, 1)),
    (ops.MaskedSoftmax(), torch.ones(3, 1)),
    (ops.ShiftRow(0, 0.0), torch.ones(1, 5)),
    (ops.Cast("float32"), torch.ones(3, 5)),
    (ops.ScaleBy(1.0), torch.ones(3, 5)),
    (ops.Shift(0.0), torch.ones(3, 5)),
    (ops.RowLargest(), torch.ones(3, 1)),
    (ops.RowSum(), torch.ones(3, 1)),
]


@pytest.mark.parametrize(("operation", "operands"), [(m[0], m[1:]) for m in MOVES], ids=str)
def test_an_operation_that_need_not_move_anything_still_gives_a_new_tensor(operation, operands):
    result = operation.value(*operands)
    memories = {operand.untyped_storage().data_ptr() for operand in operands}
    assert result.untyped_storage().data_ptr() not in memories
    assert all(operand._version == 0 for operand in operands)


def test_no_step_of_the_workshop_shares_its_numbers_with_another_or_changes_them():
    memories = {step.value.untyped_storage().data_ptr() for step in WORKSHOP.values()}
    assert len(memories) == len(WORKSHOP)
    for step in WORKSHOP.values():  # torch itself counts 1 for the product with a single row
        operands = [given.value for given in step.inputs]
        before = [(operand.clone(), operand._version) for operand in operands]
        again = step.operation.value(*operands)
        assert step.value._version == again._version, step
        for operand, (copy, version) in zip(operands, before, strict=True):
            assert torch.equal(operand, copy), step
            assert operand._version == version, step
