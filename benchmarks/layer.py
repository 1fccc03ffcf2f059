"""A traced layer, all its steps kept, against torch's fused attention."""

import statistics
import time
from collections.abc import Callable

from .figures import Figure, Part

SIZES = (8, 16, 32, 64, 128, 256, 512, 1_024)
WIDTH = 64


def measure(quick: bool) -> list[Part]:
    """The table."""
    import torch

    torch.set_num_threads(1)
    sizes = (8, 64) if quick else SIZES
    figures = [_against_fused(n_tokens) for n_tokens in sizes]
    against = (
        "One head: `queries`, `keys` and `values` of width 64 are given, and `attention` records "
        "`scores`, `scaled_scores`, `weights` and `context_vectors`, against "
        "`torch.nn.functional.scaled_dot_product_attention` on the same tensors. One thread, "
        "median of many. *kept*: what the four steps hold; the fused function holds its result."
    )
    return [Part("A traced layer against the fused one", against, figures)]


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
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    from attention_core.mechanism.attention import attention
    from attention_core.operations import Draw
    from attention_core.trace import Trace

    axes = {"queries": ("query", "d"), "keys": ("key", "d"), "values": ("key", "d")}
    tensors = [Draw("normal", (n_tokens, WIDTH), seed=seed).value() for seed in range(3)]

    class Ready(Draw):
        """A tensor that is there already: making it is no part of the measurement."""

        def value(self) -> torch.Tensor:
            return tensors[self.seed]

    ready = [Ready("normal", (n_tokens, WIDTH), seed=seed) for seed in range(3)]

    def traced() -> Trace:
        trace = Trace()
        given = zip(axes.items(), ready, strict=True)
        attention(trace, *(trace.step(name, each, axes=ax) for (name, ax), each in given))
        return trace

    def fused() -> torch.Tensor:
        return scaled_dot_product_attention(*(each[None] for each in tensors))

    def plain() -> torch.Tensor:
        queries, keys, values = tensors
        return (queries @ keys.mT / WIDTH**0.5).softmax(dim=-1) @ values

    made = traced()
    torch.testing.assert_close(made["context_vectors"].value, fused()[0], rtol=1e-4, atol=1e-5)
    numbers = {"traced": _median(traced), "plain torch": _median(plain), "fused": _median(fused)}
    numbers["× fused"] = numbers["traced"] / numbers["fused"]
    held = sum(step.value.nbytes for name, step in made.items() if name not in axes)
    numbers["kept, kB"] = held / 1_000
    numbers["fused, kB"] = tensors[2].nbytes / 1_000
    goal = {8: 2.0, 1_024: 4.0}.get(n_tokens)
    what = f"{n_tokens:,} tokens × {WIDTH}"
    return Figure(what, numbers, {"× fused": goal} if goal else {})
