"""Attention in several layers, which see near or far and may share their keys and values; and from
which tokens something has come after each.

Sources: Gemma Team 2025, Gemma 3, section 2 (local and global layers in turn); Brandon et al. 2024,
Cross-Layer Attention, section 2 (keys and values of another layer); Abnar and Zuidema 2020,
Quantifying Attention Flow in Transformers, section 3 (rollout, here `reach`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from .. import operations as ops
from ..operations.base import Meaning, kind_of
from ..recipes import PLURAL, ROLES, check_choice
from ..trace import Step, Trace
from ..utils.validation import known, validated
from .builder import attend_steps, check_matrices, head_norm, rotated, times
from .options import Options

MATRICES = (*ROLES, "output", *(f"{role}_gain" for role in ROLES))


@validated
@dataclass(frozen=True)
class Layer:
    """What one layer does otherwise than others. Raises ValueError for what cannot be."""

    window: int | None = None
    """How many keys a query sees, its own included; None for all before it."""
    keys_of: int | None = None
    """The earlier layer whose keys and values it uses; None for its own."""
    rotary_base: float | None = None
    norms: tuple[str, ...] = ()
    """The roles whose heads are divided by the root of their mean square, before any turning."""
    epsilon: float = 1e-6

    def __post_init__(self) -> None:
        if self.window is not None and self.window < 1:
            raise ValueError(f"a window of {self.window} hides every key: choose 1 or more")
        for role in self.norms:
            check_choice("norms", role, ROLES)


@validated
def attend_in_layers(
    trace: Trace,
    vectors: Step,
    layers: Sequence[Layer],
    matrices: Sequence[Mapping[str, Step]],
    *,
    scale: str | float = "sqrt_d",
    prefix: str = "deep_",
) -> Step:
    """Add layers of causal attention, each added to the stream that begins with `vectors`
    (token, d_in). Returns the stream after the last.

    `matrices` are those of each layer: `query`, `key`, `value` (d_in, d), with `head` or `kv_head`
    in front, `output` (d_concat, d_in), and where they are normed, `query_gain` and so on (d,).
    Steps of layer 1, `deep_1_` before their names: `queries`, and `keys` and `values` where it has
    its own; those of `attend_steps`; `output` (query, d_in) and `stream`; and `reach` (query, key),
    how much of each token's vector is in each token's stream where values only add up: half of its
    own, half by the weights, a mean over heads, on from the layer before. Raises ValueError
    for keys of a layer that is not earlier, and for matrices that are missing.
    """
    stream, reach, kept = vectors, None, list[tuple[Step, Step]]()
    if len(matrices) != len(layers):
        raise ValueError(f"there are {len(layers)} layers, but matrices for {len(matrices)}")
    for at, (layer, given) in enumerate(zip(layers, matrices, strict=True)):
        check_matrices(given, MATRICES)
        own = known("matrix", given)
        named, made = f"{prefix}{at}_", {}
        for role in ROLES if layer.keys_of is None else ROLES[:1]:
            matrix, row = own[role], "query" if role == "query" else "key"
            lead = (*matrix.axes[:-2], row)
            made[role] = times(trace, f"{named}{PLURAL[role]}", stream, matrix, lead=lead)
            if role in layer.norms:
                gain = own.get(f"{role}_gain")
                made[role] = head_norm(trace, role, made[role], layer.epsilon, gain, named)
            if layer.rotary_base is not None and role != "value":
                made[role] = rotated(trace, role, made[role], layer.rotary_base, prefix=named)
        if layer.keys_of is None:
            kept.append((made["key"], made["value"]))
        elif 0 <= layer.keys_of < at:
            kept.append(kept[layer.keys_of])
        else:
            raise ValueError(
                f"layer {at} uses the keys of layer {layer.keys_of}: choose an earlier one"
            )
        left = None if layer.window is None else layer.window - 1
        options = Options(scale=scale, causal=True, window=(left, None))
        three = made["query"], *kept[at]
        context = attend_steps(trace, *three, options=options, prefix=named, mask_prefix=named)
        if "head" in context.axes:
            axes = ("query", "d_concat")
            context = trace.step(f"{named}concat", ops.JoinHeads(), context, axes=axes)
        output = times(trace, f"{named}output", context, own["output"])
        reach = _reach(trace, named, reach)
        stream = trace.step(f"{named}stream", ops.Add(), stream, output, axes=stream.axes)
    return stream


def _reach(trace: Trace, named: str, before: Step | None) -> Step:
    weights = trace[f"{named}weights"]
    table = weights.axes[-2:]

    def step(name: str, operation: ops.Operation, *of: Step) -> Step:
        meaning = Meaning.SHARES if name in ("mixed", "reach") else None
        return trace.step(f"{named}{name}", operation, *of, axes=table, meaning=meaning)

    n_heads = 1
    if "head" in weights.axes:
        n_heads = len(weights.value)
        weights = step("all_weights", ops.SumHeads(), weights)
    itself = ops.Given.of(torch.eye(len(weights.value)) * n_heads, kind_of(weights.value))
    both = step("with_itself", ops.Add(), weights, step("itself", itself))
    name = "reach" if before is None else "mixed"
    mixed = step(name, ops.ScaleBy(0.5 / n_heads), both)
    return mixed if before is None else step("reach", ops.MatMul(), mixed, before)
