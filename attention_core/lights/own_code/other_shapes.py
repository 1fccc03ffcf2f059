"""Functions that take other shapes than x @ W has: matrices that are transposed, or on the left."""

import torch
from torch import Tensor

from ..light import OF_TRACES, TITLES, Light
from .calling import Caller, Stopped
from .function_lights import attended
from .probe import Probe
from .reading import NEAR, is_near
from .sentences import N_TOKENS


def is_turned(probe: Probe) -> bool:
    """Whether it uses each matrix transposed."""
    vectors = probe.sentence.vectors(probe.widths).double()
    joined = [vectors @ matrix.double().mT for matrix in probe.given]
    return is_near(attended(probe, joined), probe.output)


def on_tokens(call: Caller, causal: bool, n_heads: int) -> list[Light] | None:
    """The lights of a function whose matrices stand on the left, W @ x; None for any other.

    Such a function takes only vectors that are as wide as there are tokens.
    """
    size = N_TOKENS * n_heads
    generator = torch.Generator().manual_seed(0)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    vectors, W_value, nothing = draw(size, size), draw(size, size), torch.zeros(size, size)
    given = (nothing, nothing, W_value)  # all scores are 0, so all weights are equal
    later = torch.cat([vectors[: size // 2], draw(size - size // 2, size)])
    try:
        call.settle(vectors, *given)
        output, other = call(vectors, *given), call(later, *given)
    except Stopped:
        return None

    def average(values: Tensor) -> Tensor:
        sums = values.double().cumsum(0) / torch.arange(1, size + 1)[:, None]
        return sums if causal else sums[-1:].expand(size, size)

    if not any(is_near(average(W @ vectors), output) for W in (W_value, W_value.mT)):
        return None
    runs = f"only with as many tokens as numbers in a vector, x {size} × {size}"
    said = "with equal weights, what comes out is the average of W_v @ x, not of x @ W_v"
    found = {"runs": Light("runs", True, runs), "tokens_apart": Light("tokens_apart", False, said)}
    if causal:
        gap = float((other - output)[: size // 2].abs().max())
        said = f"other tokens from {size // 2} on move the outputs before them by {gap:.2g}"
        found["no_leak"] = Light("no_leak", gap <= NEAR, said)
    try:
        call(vectors[2:], *given)
    except Stopped as stopped:
        said = f"on a sentence of {size - 2} after one of {size}, {stopped}"
        found["any_length"] = Light("any_length", False, said)
    unseen = "matrices on the left fit too few shapes to see this"
    return [found.get(name, Light(name, None, unseen)) for name in TITLES if name not in OF_TRACES]
