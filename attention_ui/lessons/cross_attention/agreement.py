"""PyTorch's own layer, loaded with the lesson's matrices, on both sentences."""

import torch
from torch import Tensor

from attention_core.mechanism.attention import divisor_of
from attention_core.recipes import ROLES
from attention_core.trace import Trace

from ...frame.lights import agreement


def torch_agrees(trace: Trace) -> tuple[bool, str]:
    """Whether `nn.MultiheadAttention` gives the same, with the largest difference."""
    context, weights = torch_across(trace)
    pairs = [(context, trace["context_vectors"].value), (weights, trace["weights"].value)]
    called = "With your sentence as `query`, and the source as `key` and `value`"
    if "mask" in trace:
        n_places = int((~trace["mask"].value).sum())
        places = "1 place" if n_places == 1 else f"{n_places} places"
        called = f"With {places} of padding and a `key_padding_mask`"
    told = f"{called}, it gives the same weights and context vectors"
    return agreement(told, pairs, (trace, "context_vectors"), (trace, "weights"))


@torch.no_grad()
def torch_across(trace: Trace) -> tuple[Tensor, Tensor]:
    """The context vectors (query, d_value) and weights (query, key) of
    `torch.nn.MultiheadAttention` with this trace's matrices.

    torch's module has one width for everything, and no temperature. Narrower matrices and vectors
    are filled up with zeros, and W_query is stretched to make up for the larger √d and for the
    temperature; neither changes the result.
    """
    asks, answers = trace["embeddings"].value, trace["other_embeddings"].value
    matrices = {role: trace[f"W_{role}"].value for role in ROLES}
    d_query, d_value = matrices["query"].shape[-1], matrices["value"].shape[-1]
    wide = max(asks.shape[-1], d_query, d_value)
    divided_by = divisor_of(trace)
    if "tempered_scores" in trace:
        divided_by /= trace["tempered_scores"].operation.factor
    module = torch.nn.MultiheadAttention(wide, 1, batch_first=True)
    module.in_proj_weight.zero_()
    module.in_proj_bias.zero_()
    for role, rows, bias in zip(
        ROLES, module.in_proj_weight.chunk(3), module.in_proj_bias.chunk(3), strict=True
    ):
        factor = wide**0.5 / divided_by if role == "query" else 1.0
        d_in, width = matrices[role].shape
        rows[:width, :d_in] = matrices[role].mT * factor
        if f"b_{role}" in trace:
            bias[:width] = trace[f"b_{role}"].value * factor
    module.out_proj.weight.copy_(torch.eye(wide))
    module.out_proj.bias.zero_()
    query, key = (
        torch.nn.functional.pad(vectors, (0, wide - vectors.shape[-1]))[None]
        for vectors in (asks, answers)
    )
    hidden = ~trace["mask"].value if "mask" in trace else None
    context, weights = module(query, key, key, key_padding_mask=hidden)
    return context[0, :, :d_value], weights[0]
