"""Layers that see near and far in turn, and that share keys and values, against stacks of Gemma 3's
and 3n's attention in `transformers`, there and back; and what `reach` says of them.
"""

from functools import partial

import pytest
import torch
from transformers import Gemma3nTextConfig, Gemma3TextConfig
from transformers.models.gemma3.modeling_gemma3 import Gemma3Attention
from transformers.models.gemma3n.modeling_gemma3n import Gemma3nTextAttention

from attention_core import Trace, attend_in_layers, backward
from attention_core import operations as ops
from attention_core.mechanism.stacked import Layer
from checks import refused, told

N, D_IN, H, D, WINDOW = 11, 9, 3, 2, 3  # their configs want a width that heads share
IN_TURN = ("sliding_attention", "sliding_attention", "full_attention")
SIZES = {
    "hidden_size": D_IN, "num_attention_heads": H, "num_key_value_heads": 1, "head_dim": D,
    "sliding_window": WINDOW, "intermediate_size": 7, "vocab_size": 13, "rms_norm_eps": 1e-6,
    "attn_implementation": "eager",
}  # fmt: skip
BASES = {"sliding_attention": 10_000.0, "full_attention": 1_000_000.0}
PARTS = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "o_proj"}


def gemma(shares):
    """Attention of six layers with random weights; with `shares`, the last three have no keys."""
    kinds, named = IN_TURN * 2, {"num_hidden_layers": 6, "layer_types": [*IN_TURN * 2]}
    of_3n = {"num_kv_shared_layers": 3, "vocab_size_per_layer_input": 13}
    config = (
        Gemma3nTextConfig(**SIZES, **named, **of_3n)
        if shares
        else Gemma3TextConfig(**SIZES, **named, query_pre_attn_scalar=7)
    )
    torch.manual_seed(2)
    attention = Gemma3nTextAttention if shares else Gemma3Attention
    stack = [attention(config, at).eval() for at in range(6)]
    for weight in (each for layer in stack for each in layer.parameters()):
        torch.nn.init.normal_(weight, std=0.5)
    return kinds, stack


def theirs(kinds, stack, vectors):
    """The stream after all layers, each added to what it was."""
    stream, shared, places = vectors[None], {}, torch.arange(N)
    for kind, layer in zip(kinds, stack, strict=True):
        turn = places[:, None] * BASES[kind] ** -(torch.arange(D // 2) * 2 / D)
        angles = torch.cat([turn, turn], -1)[None]
        seen = places[:, None] - places
        seen = (seen >= 0) & ((seen < WINDOW) | (kind == "full_attention"))
        mask = torch.zeros(N, N).masked_fill(~seen, -torch.inf)[None, None]
        given = {"shared_kv_states": shared} if hasattr(layer, "is_kv_shared_layer") else {}
        output, _ = layer(stream, position_embeddings=(angles.cos(), angles.sin()),
                          attention_mask=mask, **given)  # fmt: skip
        stream = stream + output
    return stream[0]


def ours(kinds, stack, shares):
    """The same stream as steps, whose given numbers are the stored ones."""
    trace, whose = Trace(), {}
    vectors = trace.step("vectors", ops.Draw("normal", (N, D_IN), seed=1), axes=("token", "d_in"))

    def of_heads(stored, role):
        return stored.mT if role == "output" else stored.unflatten(0, (-1, D)).mT

    def given(at, role, stored, axes, taken):
        whose[f"{role}_{at}"] = stored, taken
        return trace.step(f"{role}_{at}", ops.Given.of(taken(stored.detach())), axes=axes)

    matrices = []
    for at, layer in enumerate(stack):
        own = {}
        for role, part in PARTS.items():
            if not hasattr(layer, part):
                continue
            axes = ("d_concat", "d_in") if role == "output" else ("d_in", "d_head")
            front = {"query": ("head",), "output": ()}.get(role, ("kv_head",))
            taken = partial(of_heads, role=role)
            own[role] = given(at, role, getattr(layer, part).weight, (*front, *axes), taken)
            gain = getattr(getattr(layer, f"{role[0]}_norm", None), "weight", None)
            if gain is not None and role in ("query", "key"):
                name = f"{role}_gain"
                own[name] = given(at, name, gain, ("d_head",), lambda each: each)
                if not shares:  # Gemma 3 keeps what is added to 1
                    own[name] = trace.step(f"{name}_and_1_{at}", ops.Shift(1.0), own[name],
                                           axes=("d_head",))  # fmt: skip
        matrices.append(own)
    norms = ("query", "key", "value") if shares else ("query", "key")
    keys_of = (None, None, None, 1, 1, 2) if shares else (None,) * 6
    layers = [
        Layer(WINDOW if kind == "sliding_attention" else None, whom, BASES[kind], norms)
        for kind, whom in zip(kinds, keys_of, strict=True)
    ]
    scale = 1.0 if shares else 7**-0.5
    return trace, attend_in_layers(trace, vectors, layers, matrices, scale=scale), whose


@pytest.mark.parametrize("shares", [False, True])
def test_layers_are_gemmas_there_and_back(shares):
    kinds, stack = gemma(shares)
    trace, made, whose = ours(kinds, stack, shares)
    vectors = trace["vectors"].value.clone().requires_grad_()
    stream = theirs(kinds, stack, vectors)
    torch.testing.assert_close(made.value, stream, rtol=2e-5, atol=2e-5)
    told(trace, made, ops.Draw("normal", (N, D_IN), seed=3))
    (stream * trace["probe"].value).sum().backward()
    learned = backward(trace, "loss", ["vectors", *whose])
    torch.testing.assert_close(learned["grad_vectors"].value, vectors.grad, rtol=2e-5, atol=5e-5)
    for name, (stored, turned) in whose.items():
        of_ours = learned[f"grad_{name}"].value
        torch.testing.assert_close(of_ours, turned(stored.grad), rtol=2e-5, atol=5e-5)
    assert ("deep_3_keys" in trace) == (not shares)


def test_reach_is_0_just_where_nothing_can_have_come():
    """By torch's own derivative of each token's stream, through Gemma's layers."""
    kinds, stack = gemma(False)
    trace, *_ = ours(kinds, stack, False)
    for n_layers in range(1, 7):

        def after(vectors, n=n_layers):
            return theirs(kinds[:n], stack[:n], vectors)

        slopes = torch.autograd.functional.jacobian(after, trace["vectors"].value)
        comes = slopes.abs().sum((1, 3)) > 0
        reach = trace[f"deep_{n_layers - 1}_reach"].value
        assert torch.equal(reach > 0, comes)
        torch.testing.assert_close(reach.sum(-1), torch.ones(N))
        far = N if n_layers > 2 else n_layers * (WINDOW - 1) + 1
        assert (reach[-1] > 0).sum() == far


def test_what_is_no_earlier_layer_and_no_window_is_refused():
    made = Trace()
    vectors = made.step("vectors", ops.Draw("normal", (N, D_IN), seed=1), axes=("token", "d_in"))
    W = made.step("W", ops.Draw("normal", (D_IN, D_IN), seed=1), axes=("d_in", "d_out"))
    with refused("layer 0 uses the keys of layer 0: choose an earlier one"):
        attend_in_layers(made, vectors, [Layer(keys_of=0)], [dict.fromkeys(PARTS, W)])
    with refused("a window of 0 hides every key: choose 1 or more"):
        Layer(window=0)
    with refused("window is 'all', but must be a whole number or None"):
        Layer(window="all")
    with refused("norms is 'queries', but must be 'query' or 'key' or 'value'"):
        Layer(norms=("queries",))
    with refused("there is no use for a matrix 'keys': did you mean 'key'? There are query, key, "
                 "value, output, query_gain, key_gain, value_gain"):  # fmt: skip
        attend_in_layers(made, vectors, [Layer()], [{"keys": W}])
