"""PyTorch's own layers, loaded with the block's weights, on the same vectors."""

import torch
from torch import Tensor, nn

from attention_core.mechanism.block_weights import NORMS
from attention_core.recipes import ROLES
from attention_core.trace import Trace

from ...frame.lights import agreement
from .lesson import MEMORY


def torch_agrees(trace: Trace, norm: str, activation: str) -> tuple[bool, str]:
    """Whether torch's layer gives the block's output, with the largest difference."""
    made = torch_s_output(trace, norm, activation)
    kind = "Decoder" if MEMORY in trace else "Encoder"
    where = f"norm_first={norm == 'before'}"
    told = f"`nn.Transformer{kind}Layer` with `{where}` and these matrices gives the same output"
    return agreement(told, [(made, trace["output"].value)], (trace, "output"))


@torch.no_grad()
def torch_s_output(trace: Trace, norm: str, activation: str) -> Tensor:
    """The output (token, d_in) of torch's encoder or decoder layer with this trace's weights."""
    vectors = trace["embeddings"].value
    crosses = MEMORY in trace
    kind = nn.TransformerDecoderLayer if crosses else nn.TransformerEncoderLayer
    layer = kind(
        vectors.shape[-1],
        trace.size("head"),
        trace["W_1"].value.shape[-1],
        dropout=0.0,
        activation=activation,
        batch_first=True,
        norm_first=norm == "before",
    )
    _load_attention(layer.self_attn, trace, "")
    norms = [layer.norm1, layer.norm2]
    parts = [part for part in NORMS if crosses or part != "cross"]
    if crosses:
        _load_attention(layer.multihead_attn, trace, "cross_")
        norms.append(layer.norm3)
    for at, linear in enumerate((layer.linear1, layer.linear2), start=1):
        linear.weight.copy_(trace[f"W_{at}"].value.mT)
        linear.bias.copy_(trace[f"b_{at}"].value)
    for part, each in zip(parts, norms, strict=True):
        each.weight.copy_(trace[f"{part}_norm_gain"].value)
        each.bias.copy_(trace[f"{part}_norm_bias"].value)
    if not crosses:
        return layer(vectors[None])[0]
    future = torch.ones(len(vectors), len(vectors), dtype=torch.bool).triu(1)
    return layer(vectors[None], trace[MEMORY].value[None], tgt_mask=future)[0]


def _load_attention(module: nn.MultiheadAttention, trace: Trace, prefix: str) -> None:
    """Load the matrices, upright and in one as torch keeps them, and their biases."""
    module.in_proj_weight.copy_(torch.cat([trace[f"{prefix}W_{role}"].value.mT for role in ROLES]))
    module.in_proj_bias.copy_(torch.cat([trace[f"{prefix}b_{role}"].value for role in ROLES]))
    module.out_proj.weight.copy_(trace[f"{prefix}W_output"].value.mT)
    module.out_proj.bias.copy_(trace[f"{prefix}b_output"].value)
