"""How much of a gradient comes back to the first of many blocks, with a residual and without.
Sources: He et al. 2016, Identity Mappings in Deep Residual Networks, section 2 (the path on which a
gradient comes back unchanged); Xiong et al. 2020, On Layer Normalization, section 3 (gradients by
layer, norms before and after).
"""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from .. import operations as ops
from ..gradients import PREFIX, backward
from ..mechanism.block import BlockOptions, add_block
from ..mechanism.block_weights import draw_weights
from ..mechanism.options import Options
from ..trace import Step, Trace


def stack(
    vectors: Tensor,
    n_blocks: int,
    shape: BlockOptions,
    *,
    d_hidden: int | None = None,
    causal: bool = False,
    seed: int = 0,
) -> tuple[Trace, list[Step]]:
    """Blocks on top of each other, as one trace, and the stream (token, d_model) before the first
    of them and after each. Steps: `embeddings`; the weights and steps of `add_block`, with
    `block_1_` and so on before their names; and a `loss` (), one number: the last stream's numbers,
    each times one of `asked` (token, d_model), added up. So `asked` is what the loss asks of each
    of them, by the last stream's gradient. Block k has matrices from the seed `seed` + k − 1,
    `asked` from `seed`. Raises ValueError for no block, and for heads that cannot share the width.
    """
    if n_blocks < 1:
        raise ValueError(f"a stack of {n_blocks} blocks is none: it needs 1 or more")
    trace, axes = Trace(), ("token", "d_model")
    stream = trace.step("embeddings", ops.Given.of(vectors), axes=axes)
    streams, options = [stream], Options(causal=causal)
    for at in range(n_blocks):
        prefix = f"block_{at + 1}_"
        weights = draw_weights(trace, None, shape.n_heads, d_hidden, seed + at, prefix=prefix)
        stream = add_block(trace, stream, weights, shape, options, prefix=prefix)
        streams.append(stream)
    probe = trace.step("asked", ops.Draw("normal", tuple(vectors.shape), seed=seed), axes=axes)
    wanted = trace.step("wanted", ops.Multiply(), stream, probe, axes=axes)
    rows = trace.step("wanted_of_tokens", ops.SumLast(), wanted, axes=axes[:1])
    trace.step("loss", ops.SumLast(), rows, axes=())
    return trace, streams


def gradient_norms(
    vectors: Tensor, n_blocks: int, shape: BlockOptions, **others: Any
) -> dict[bool, list[float]]:
    """The norm of the stream's gradient before the first block and after each, as a share of the
    last: True where parts add to the stream, False where they replace it. `others` as in `stack`.
    """
    found = {}
    for residual in (True, False):
        trace, streams = stack(vectors, n_blocks, replace(shape, residual=residual), **others)
        names = [each.name for each in streams]
        learned = backward(trace, "loss", names)
        norms = [torch.linalg.vector_norm(learned[f"{PREFIX}{name}"].value.double()).item()
                 for name in names]  # fmt: skip
        found[residual] = [each / norms[-1] for each in norms]
    return found
