"""The operations on projections, masks and heads against plain torch, written in another way.

The operands are those of the workshop: every one in prime and unequal sizes.
"""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attention_core import Trace
from attention_core import operations as ops
from traces import workshop

WORKSHOP = workshop()


def close(left, right, tolerance=1e-6):
    """Whether two tensors have one shape and are equal but for rounding."""
    return left.shape == right.shape and torch.allclose(
        left.double(), right.double(), rtol=tolerance, atol=tolerance
    )


def standardised(vectors, axes):
    mean = vectors.mean(dim=axes, keepdim=True)
    variance = (vectors - mean).square().mean(dim=axes, keepdim=True)
    return (vectors - mean) / (variance + 1e-5) ** 0.5


def mask_by_rule(rule):
    """A mask of 3 queries and 7 keys, cell by cell."""
    return torch.tensor([[rule(query, key) for key in range(7)] for query in range(3)])


def shares(scores, axis):
    powers = scores.exp()
    return powers / powers.sum(axis, keepdim=True)


def layer(weight, bias=None):
    """A torch.nn.Linear with these numbers."""
    made = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None, dtype=weight.dtype)
    made.weight.data = weight
    if bias is not None:
        made.bias.data = bias
    return made


def changed(tensor, place, value):
    copy = tensor.clone()
    copy[place] = value
    return copy


ORACLES = {
    "affine": lambda x, W, b: torch.stack([b + sum(r[k] * W[k] for k in range(5)) for r in x]),
    "upright": lambda x, W: torch.einsum("qd,do->qo", x, W),
    "upright_with_bias": lambda x, W, b: torch.addmm(b, x, W),
    "linear": lambda x, W: layer(W)(x).detach(),
    "linear_with_bias": lambda x, W, b: layer(W, b)(x).detach(),
    "with_bias": lambda x, b: torch.stack([row + b for row in x]),
    "one_projected": lambda x, W: torch.einsum("d,do->o", x, W),
    "divided_by_d": lambda x: x * 0.2,
    "shifted_row": lambda x: changed(x, 1, x[1] + 0.75),
    "transposed": lambda x: torch.stack(list(x), dim=1),
    "normed": lambda x: standardised(x, 1),
    "normed_whole": lambda x: standardised(x, (0, 1)),
    "rectified": lambda x: x.clamp(min=0),
    "smooth": F.gelu,
    "smooth_by_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "mean": lambda x: torch.var_mean(x, 1, keepdim=True)[1],
    "variance": lambda x, _: torch.var(x, 1, correction=0, keepdim=True),
    "standard": lambda x, *_: F.layer_norm(x, (5,)),
    "gained": lambda x, gain: torch.stack([row * gain for row in x]),
    "gained_and_moved": lambda x, gain, bias: torch.addcmul(bias, x, gain),
    "mask": lambda: mask_by_rule(lambda i, j: (j <= i) ^ ((i, j) in {(0, 0), (0, 5)})),
    "window": lambda: mask_by_rule(lambda i, j: abs(i - j) < 2 and j != 1),
    "blind": lambda: mask_by_rule(lambda i, j: j <= i and i > 0),
    "masked": lambda s, m: torch.where(m, s, -math.inf),
    "zero_filled": lambda s, m: s * m,
    "nothing": lambda s, m: torch.where(m, s, -math.inf),
    "seen": lambda s: shares(s, -1),
    "nothing_seen": lambda s: torch.cat([torch.zeros(1, 7), shares(s[1:], -1)]),
    "left_over": lambda s, m: s * m,
    "again_one": lambda a: torch.cat([torch.zeros(1, 7), F.normalize(a[1:], p=1, dim=-1)]),
    "down": lambda s: shares(s.T, 1).T,
    "dropped": lambda a, u: a * (u >= 0.25) * (4 / 3),
    "head_queries": lambda x, W: torch.einsum("qd,hdo->hqo", x, W),
    "joined": lambda q: torch.cat(list(q), dim=1),
    "split": lambda j: torch.stack(j.chunk(2, dim=1)),
    "mixed": lambda j: torch.stack([part.view(3, 7) for part in j.flatten().chunk(2)]),
    "permuted": lambda q: torch.einsum("hqo->hoq", q),
    "repeated": lambda x: torch.stack([x, x]),
    "upright_heads": lambda q: torch.einsum("hqo->hoq", q),
    "batched": lambda W, x: torch.einsum("hod,hdq->hoq", W, x),
    "rows_of_heads": lambda W: torch.stack(W.chunk(2)),
    "parts": lambda q, W: torch.einsum("hqo,hod->hqd", q, W),
    "sum_of_heads": lambda parts: parts[0] + parts[1],
    "switched": lambda q: torch.stack([q[0], torch.zeros_like(q[1])]),
    "over_heads": lambda s: shares(s, 0),
}
OF_A_LAYER = ("heads", "layers", "layer_norm", "masks")
"""The files whose operations all have an oracle here."""


@pytest.mark.parametrize("name", ORACLES)
def test_an_operation_gives_what_plain_torch_gives(name):
    step = WORKSHOP[name]
    given = [given.value for given in step.inputs]
    exact = [value.double() if value.is_floating_point() else value for value in given]
    assert close(step.value, ORACLES[name](*exact), 1e-5)


def test_every_operation_of_a_layer_has_an_oracle():
    elsewhere = {type(step.operation) for name, step in WORKSHOP.items() if name not in ORACLES}
    here = {type(WORKSHOP[name].operation) for name in ORACLES}
    modules = {f"attention_core.operations.{name}" for name in OF_A_LAYER}
    of_a_layer = {kind for kind in here | elsewhere if kind.__module__ in modules}
    assert of_a_layer <= here
    assert {ops.Affine, ops.Linear, ops.MatMulUpright, ops.BatchedMatMul, ops.ShiftRow} <= here


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
    assert torch.equal(ops.MayLook(n_queries, n_keys).value(), weights > 0)


@pytest.mark.parametrize("dim", [-1, -2, -3])
def test_what_is_hidden_is_left_out_along_any_axis(dim):
    scores = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(1))
    scores[0, 1, 2] = scores[1, :, 4] = -math.inf
    scores[:, 0, 3] = -math.inf
    trace = Trace()
    axes = ("head", "query", "key")
    nested = tuple(tuple(map(tuple, head)) for head in scores.tolist())
    given = trace.step("scores", ops.Given(nested), axes=axes)
    seen = trace.step("seen", ops.SoftmaxOfSeen(dim), given, axes=axes)
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
    (ops.Hide(), torch.ones(3, 5), torch.ones(3, 5, dtype=torch.bool)),
    (ops.Drop(0.0), torch.ones(3, 5), torch.ones(3, 5)),
    (ops.Renormalise(), torch.ones(3, 1)),
    (ops.SoftmaxOfSeen(), torch.ones(3, 1)),
    (ops.ShiftRow(0, 0.0), torch.ones(1, 5)),
]


@pytest.mark.parametrize(("operation", "operands"), [(m[0], m[1:]) for m in MOVES], ids=str)
def test_an_operation_that_need_not_move_anything_still_gives_a_new_tensor(operation, operands):
    result = operation.value(*operands)
    memories = {operand.untyped_storage().data_ptr() for operand in operands}
    assert result.untyped_storage().data_ptr() not in memories
    assert all(operand._version == 0 for operand in operands)


def test_no_step_of_the_workshop_shares_its_numbers_with_another():
    memories = {step.value.untyped_storage().data_ptr() for step in WORKSHOP.values()}
    assert len(memories) == len(WORKSHOP)
    for step in WORKSHOP.values():  # torch itself counts 1 for the product with a single row
        again = step.operation.value(*[given.value for given in step.inputs])
        assert step.value._version == again._version, step
