"""A stack of blocks and what of a gradient comes back through it, against torch's autograd."""

import pytest
import torch

from attention_core.experiments.depth import gradient_norms, stack
from attention_core.mechanism.block import ORDERS, BlockOptions
from checks import by_autograd

VECTORS = torch.randn(5, 6, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("norm", ORDERS)
def test_what_comes_back_is_as_autograd(norm, residual):
    shape = BlockOptions(n_heads=2, norm=norm, residual=residual)
    trace, streams = stack(VECTORS, 3, shape, d_hidden=7, causal=True, seed=11)
    found = gradient_norms(VECTORS, 3, shape, d_hidden=7, causal=True, seed=11)
    assert len(found[residual]) == len(streams) == 4
    gradients = by_autograd(trace, "loss", [each.name for each in streams])
    norms = torch.stack([each.double().norm() for each in gradients])
    assert found[residual] == pytest.approx((norms / norms[-1]).tolist(), rel=1e-4)


def test_a_stack_of_one_token_has_a_gradient_and_one_of_no_block_is_refused():
    found = gradient_norms(VECTORS[:1], 2, BlockOptions(), seed=1)
    assert found[True][-1] == found[False][-1] == 1.0
    with pytest.raises(ValueError, match="0 blocks"):
        stack(VECTORS, 0, BlockOptions())
