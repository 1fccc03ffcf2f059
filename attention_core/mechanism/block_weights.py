"""The weights of a transformer block: a person's own, drawn ones, or those of torch's layers."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ..operations import Draw, Given
from ..recipes import ROLES, even_width
from ..trace import Step, Trace
from ..utils.validation import validated
from .own_tensors import give, own

NORMS = ("attention", "cross", "feed_forward")
START_ALIKE = ("_gain", "_norm_bias", "b_output", *(f"b_{role}" for role in ROLES))
"""How weights are called that are not drawn: gains start as 1, these biases as 0."""


def axes_of_weights(
    d_other: str | None = None, d_model: str = "d_model"
) -> dict[str, tuple[str, ...]]:
    """Every tensor that a block may have, and its axes; with `d_other`, of cross-attention too."""
    found: dict[str, tuple[str, ...]] = {}
    for prefix, source in (("", d_model), ("cross_", d_other)):
        if source is None:
            continue
        for role in ROLES:
            width = "d_concat" if role == "value" else "d_queries"
            asks = d_model if role == "query" else source
            found |= {f"{prefix}W_{role}": (asks, width), f"{prefix}b_{role}": (width,)}
        found[f"{prefix}W_output"] = ("d_concat", d_model)
        found[f"{prefix}b_output"] = (d_model,)
    found |= {"W_1": (d_model, "d_hidden"), "b_1": ("d_hidden",)}
    found |= {"W_2": ("d_hidden", d_model), "b_2": (d_model,)}
    for part in NORMS:
        if part != "cross" or d_other is not None:
            found |= {f"{part}_norm_{kind}": (d_model,) for kind in ("gain", "bias")}
    return found


def give_weights(
    trace: Trace, weights: Mapping[str, Tensor | Sequence], d_other: str | None, dtype: torch.dtype
) -> dict[str, Step]:
    """Add a person's own weights to a trace. Raises ValueError, in words, for what does not fit."""
    known = axes_of_weights(d_other)
    for name in weights:
        if name not in known:
            raise ValueError(f"a block has no weights {name!r}: it has {', '.join(known)}")
    for name in known:
        bias = name.replace("_norm_gain", "_norm_bias")
        if "W_" in name and name not in weights:
            raise ValueError(f"{name} is missing: a block cannot do without its matrices")
        if bias != name and bias in weights and name not in weights:
            raise ValueError(f"{bias} is there without {name}: the gain comes first")
    made = {}
    for name, axes in known.items():
        if name not in weights:
            continue
        tensor = own(name, weights[name], (len(axes),))
        if tensor.dtype != dtype:
            kinds = [str(each).removeprefix("torch.") for each in (tensor.dtype, dtype)]
            raise ValueError(f"{name} has numbers of {kinds[0]}, but the vectors of {kinds[1]}")
        made[name] = give(trace, name, tensor, axes)
    return made


def draw_weights(
    trace: Trace,
    d_other: str | None,
    n_heads: int,
    d_hidden: int | None,
    seed: int,
    d_model: str = "d_model",
    prefix: str = "",
) -> dict[str, Step]:
    """Add drawn weights to a trace: matrices, and biases of the feed-forward, as `torch.nn.Linear`
    starts; gains of 1, and all other biases 0, as in `nn.LayerNorm` and `nn.MultiheadAttention`.
    `d_model` is the axis along the trace's vectors, such as `d_in` where they are embeddings; the
    steps' names begin with `prefix`. Raises ValueError where heads cannot share the width.
    """
    width = trace.size(d_model)
    even_width(width, n_heads)
    sizes = dict.fromkeys((d_model, "d_queries", "d_concat"), width)
    sizes["d_hidden"] = 4 * width if d_hidden is None else d_hidden
    if sizes["d_hidden"] < 1:
        raise ValueError(f"d_hidden is {d_hidden}, but must be 1 or more")
    if d_other is not None:
        sizes[d_other] = trace.size(d_other)
    made, last, fan_in = {}, None, None
    for name, axes in axes_of_weights(d_other, d_model).items():
        shape = tuple(sizes[axis] for axis in axes)
        if name.endswith(START_ALIKE):
            numbers = (float(name.endswith("gain")),) * width
            made[name] = trace.step(f"{prefix}{name}", Given(numbers), axes=axes)
            continue
        fan_in = shape[0] if len(shape) == 2 else fan_in  # a bias is bounded as its matrix is
        last = Draw.behind(last, "linear", shape, fan_in, seed)
        made[name] = trace.step(f"{prefix}{name}", last, axes=axes)
    return made


@validated
def from_torch_layer(layer: nn.Module) -> dict[str, Any]:
    """What `encode_block` or `decode_block` takes, read from a layer of torch's own:

        trace = encode_block(vectors, **from_torch_layer(layer), causal=True)

    `weights` (torch keeps its matrices upright, and those of queries, keys and values in one),
    `n_heads`, `norm`, `activation` and `epsilon`. Dropout is left out: what is computed is what the
    layer computes after `eval()`. Raises ValueError, in words, for a layer of another kind, and for
    an activation or a norm that a block does not have.
    """
    if not isinstance(layer, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
        kind = type(layer).__name__
        raise ValueError(
            f"this is a {kind}: give an nn.TransformerEncoderLayer or an nn.TransformerDecoderLayer"
        )
    crosses = isinstance(layer, nn.TransformerDecoderLayer)
    weights = _of_attention("", layer.self_attn)
    if crosses:
        # To torch's types a layer's parts are any module.
        weights |= _of_attention("cross_", layer.multihead_attn)  # type: ignore[arg-type]
    for at, linear in enumerate((layer.linear1, layer.linear2), start=1):
        weights |= {f"W_{at}": linear.weight.mT, f"b_{at}": linear.bias}
    norms: list[Any] = [layer.norm1, layer.norm2, *([layer.norm3] if crosses else [])]
    parts = NORMS if crosses else ("attention", "feed_forward")
    for part, norm in zip(parts, norms, strict=True):
        if not isinstance(norm, nn.LayerNorm):
            raise ValueError(f"the layer has a {type(norm).__name__}, but a block has layer norms")
        weights |= {f"{part}_norm_gain": norm.weight, f"{part}_norm_bias": norm.bias}
    if len({norm.eps for norm in norms}) > 1:
        raise ValueError("the layer norms have different numbers for eps, but a block has one")
    held = {name: each.detach().clone() for name, each in weights.items() if each is not None}
    return {
        "weights": held,
        "n_heads": layer.self_attn.num_heads,
        "norm": "before" if layer.norm_first else "after",
        "activation": _activation(layer.activation),
        "epsilon": norms[0].eps,
    }


def _of_attention(prefix: str, attention: nn.MultiheadAttention) -> dict[str, Tensor | None]:
    joined = attention.in_proj_bias
    biases = (None,) * 3 if joined is None else joined.chunk(3)
    found: dict[str, Tensor | None] = {}
    matrices = attention.in_proj_weight.chunk(3)
    for role, matrix, bias in zip(ROLES, matrices, biases, strict=True):
        found |= {f"{prefix}W_{role}": matrix.mT, f"{prefix}b_{role}": bias}
    output = attention.out_proj
    return found | {f"{prefix}W_output": output.weight.mT, f"{prefix}b_output": output.bias}


def _activation(function: object) -> str:
    if function is nn.functional.relu or isinstance(function, nn.ReLU):
        return "relu"
    if function is nn.functional.gelu:
        return "gelu"
    if isinstance(function, nn.GELU):
        return "gelu_tanh" if function.approximate == "tanh" else "gelu"
    name = getattr(function, "__name__", type(function).__name__)
    raise ValueError(f"the layer's activation is {name}, but a block has relu or gelu")
