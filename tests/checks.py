"""What several tests of the core draw, compare and expect."""

import itertools
import re

import pytest
import torch

from attention_core import operations as ops
from attention_core import program


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def same(left, right, tolerance=1e-5):
    """Assert that two tensors have one shape and kind, and are equal but for rounding."""
    assert left.shape == right.shape
    assert left.dtype == right.dtype
    assert torch.allclose(left, right, rtol=tolerance, atol=tolerance), (left - right).abs().max()


def close(left, right, tolerance=1e-6):
    return left.shape == right.shape and torch.allclose(
        left.double(), right.double(), rtol=tolerance, atol=tolerance
    )


def rotated(vectors, base):
    """Rotary positions by complex numbers, (…, token, d): columns k and k + d/2 are a pair."""
    left, right = vectors.double().chunk(2, dim=-1)
    rates = base ** (-torch.arange(left.shape[-1]).double() / left.shape[-1])
    angles = torch.outer(torch.arange(vectors.shape[-2]).double(), rates)
    made = torch.complex(left, right) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([made.real, made.imag], dim=-1).float()


def told(trace, step, probe=None, name="loss"):
    """A loss of all of a step: its numbers, each times one of a `probe` if given, are added."""
    loss = step
    if probe is not None:
        by = trace.step("probe", probe, axes=step.axes)
        loss = trace.step("told", ops.Multiply(), step, by, axes=step.axes)
    for at in reversed(range(len(step.axes))):
        to = f"told_{at}" if at else name
        loss = trace.step(to, ops.SumLast(), loss, axes=loss.axes[:-1])
    return loss


def by_autograd(trace, loss, of):
    """The gradients of steps, from the operations' values alone."""
    values = {}
    for name, step in trace.items():
        with torch.enable_grad():
            value = step.value
            if step.inputs:
                value = step.operation.value(*[values[each.name] for each in step.inputs])
            if name in of and not value.requires_grad:
                value = value.clone().requires_grad_()
        values[name] = value
    return torch.autograd.grad(values[loss].sum(), [values[name] for name in of])


def refused(message):
    """`with refused(...)`: a ValueError that says exactly this."""
    return pytest.raises(ValueError, match=f"^{re.escape(message)}$")


def run_anew(trace, rounding=0.0):
    """Assert that the program of a trace gives each step's bits, or all but rounding."""
    names = {"__name__": "a program"}
    exec(compile(program(trace, "any title"), "program", "exec"), names)
    wanted = {name: step.value for name, step in trace.items()}
    found = {name: names[name] for name in wanted}
    torch.testing.assert_close(found, wanted, rtol=rounding, atol=rounding, equal_nan=True)


def held(trace, seed):
    """Assert that the arithmetic of one cell of each step gives the number that stands there."""
    generator = torch.Generator().manual_seed(seed)
    for step in trace.values():
        index = tuple(int(torch.randint(s, (1,), generator=generator)) for s in step.value.shape)
        made, has = step.arithmetic(index).value, float(step.value[index])
        assert made == pytest.approx(has, rel=1e-4, abs=1e-4), (step, index)


def taken_apart_and_run_anew(trace, every=7):
    """Assert that cells have an arithmetic of their value, and the program each step's bits."""
    run_anew(trace)
    for step in trace.values():
        for index in list(itertools.product(*map(range, step.value.shape)))[::every]:
            made, has = step.arithmetic(index), float(step.value[index])
            assert made.value == pytest.approx(has, rel=1e-4, abs=1e-5), (step, index)
            assert {cell.step for cell in made.cells()} <= {given.name for given in step.inputs}
