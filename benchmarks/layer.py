"""A traced layer, all its steps kept, against torch's fused attention."""

import statistics
import time
from collections.abc import Callable

import torch
from torch.nn.functional import scaled_dot_product_attention

from attention_core.mechanism.attention import attention
from attention_core.operations import Draw
from attention_core.trace import Trace

from .figures import Figure, Part

GOALS = {8: 2.0, 16: None, 64: None, 256: None, 1_024: 4.0}
"""By the number of tokens, how many times the fused function's time it may take."""
WIDTH = 64
AXES = {"queries": ("query", "d"), "keys": ("key", "d"), "values": ("key", "d")}
HOW = (
    "One head: `queries`, `keys` and `values` of width 64 are given, and `attention` records "
    "`scores`, `scaled_scores`, `weights` and `context_vectors`, against "
    "`torch.nn.functional.scaled_dot_product_attention` on the same tensors. One thread, median of "
    "many."
)


def measure(quick: bool) -> list[Part]:
    """The table."""
    torch.set_num_threads(1)
    sizes = (8, 64) if quick else GOALS
    figures = [_against_fused(n_tokens) for n_tokens in sizes]
    return [Part("A traced layer against the fused one", HOW, figures)]


def _median(what: Callable[[], object], seconds: float = 0.6) -> float:
    """Milliseconds of one call: the median of as many as fit into the time, at least 5."""
    what()
    times = []
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends or len(times) < 5:
        began = time.perf_counter()
        what()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1_000


def _against_fused(n_tokens: int) -> Figure:
    tensors = [Draw("normal", (n_tokens, WIDTH), seed=seed).value() for seed in range(3)]

    class Ready(Draw):
        """A tensor that is there already: making it is no part of the measurement."""

        def value(self) -> torch.Tensor:
            return tensors[self.seed]

    ready = [Ready("normal", (n_tokens, WIDTH), seed=seed) for seed in range(3)]

    def traced() -> Trace:
        trace = Trace()
        given = zip(AXES.items(), ready, strict=True)
        attention(trace, *(trace.step(name, each, axes=ax) for (name, ax), each in given))
        return trace

    def fused() -> torch.Tensor:
        return scaled_dot_product_attention(*(each[None] for each in tensors))

    found = traced()["context_vectors"].value
    torch.testing.assert_close(found, fused()[0], rtol=1e-4, atol=1e-5)
    numbers = {"traced": _median(traced), "fused": _median(fused)}
    numbers["× fused"] = numbers["traced"] / numbers["fused"]
    goal = GOALS[n_tokens]
    return Figure(f"{n_tokens:,} tokens × {WIDTH}", numbers, {"× fused": goal} if goal else {})
