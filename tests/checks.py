"""What several tests of the core draw, compare and expect."""

import re

import pytest
import torch


def random(*shape, seed=0):
    """Normal numbers of this shape."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def same(left, right, tolerance=1e-5):
    """Assert that two tensors have one shape and kind, and are equal but for rounding."""
    assert left.shape == right.shape
    assert left.dtype == right.dtype
    assert torch.allclose(left, right, rtol=tolerance, atol=tolerance), (left - right).abs().max()


def close(left, right, tolerance=1e-6):
    """Whether two tensors have one shape and are equal but for rounding."""
    return left.shape == right.shape and torch.allclose(
        left.double(), right.double(), rtol=tolerance, atol=tolerance
    )


def refused(message):
    """`with refused(...)`: a ValueError that says exactly this."""
    return pytest.raises(ValueError, match=f"^{re.escape(message)}$")
