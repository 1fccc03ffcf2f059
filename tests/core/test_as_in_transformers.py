"""The ordinary layer of 2025 and 2026 beside the attention of `transformers` itself, on small
random weights in sizes that share no factor, there and back.
"""

from importlib import import_module

import pytest
import torch

from attention_core import attend_tensors, attend_vectors, backward
from attention_core import operations as ops
from attention_core.lights.of_trace import lights as lights_of
from attention_core.recipes import ROLES
from checks import random, same, taken_apart_and_run_anew, told

N, D_MODEL, HEADS, KV_HEADS, D_HEAD, WINDOW = 7, 30, 6, 3, 14, 3
PART, BASE = 6, 1_000.0
"""How many columns of a head are turned where only a part is."""
MODELS = {
    "qwen3": ("Qwen3", {}),
    "qwen3_next": ("Qwen3Next", {"partial_rotary_factor": PART / D_HEAD}),
    "qwen3_5": ("Qwen3_5Text", {"partial_rotary_factor": PART / D_HEAD}),
    "gpt_oss_full": ("GptOss", {"layer_types": ["full_attention"], "num_local_experts": 2}),
    "gpt_oss_window": ("GptOss", {"layer_types": ["sliding_attention"], "num_local_experts": 2}),
    "smollm3_rotary": ("SmolLM3", {"no_rope_layers": [1], "pad_token_id": 0}),
    "smollm3_without": ("SmolLM3", {"no_rope_layers": [0], "pad_token_id": 0}),
}
PROBE = random(N, D_MODEL, seed=5)
"""The layers that are compared: the class in `transformers`, and what differs in its config."""


def reference(name):
    """The attention of a model, with drawn weights, and its rotary positions."""
    model, changes = MODELS[name]
    folder = next(each for each in ("qwen3_next", "qwen3_5", "gpt_oss", "smollm3", "qwen3")
                  if name.startswith(each))  # fmt: skip
    modeling = import_module(f"transformers.models.{folder}.modeling_{folder}")
    configuration = import_module(f"transformers.models.{folder}.configuration_{folder}")
    rope = {"rope_type": "default", "rope_theta": BASE}
    rope |= {k: v for k, v in changes.items() if k == "partial_rotary_factor"}
    config = getattr(configuration, f"{model}Config")(
        vocab_size=11, hidden_size=D_MODEL, num_hidden_layers=1, num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS, head_dim=D_HEAD, sliding_window=WINDOW, rms_norm_eps=1e-3,
        rope_parameters=rope, attn_implementation="eager",
        **{"layer_types": ["full_attention"]} | changes,
    )  # fmt: skip
    own = model.removesuffix("Text")
    attention = getattr(modeling, f"{own}Attention")(config, 0)
    generator = torch.Generator().manual_seed(0)
    for weight in attention.parameters():
        weight.data = torch.randn(weight.shape, generator=generator) * 0.4
    return attention, getattr(modeling, f"{model}RotaryEmbedding")(config)


def given_of(name, attention, plus, of):
    """What `attend_vectors` is given: of each tensor of `attention` its numbers, or its gradient.
    Some models keep how far a gain is from 1, which is `plus`.
    """
    matrices = {role: getattr(attention, f"{role[0]}_proj") for role in (*ROLES, "output")}
    given = {f"W_{role}": of(each.weight).T for role, each in matrices.items()}
    if name.startswith(("qwen3_next", "qwen3_5")):
        queries, gates = of(attention.q_proj.weight).unflatten(0, (HEADS, 2, D_HEAD)).unbind(1)
        given |= {"W_query": queries.flatten(0, 1).T, "W_gate": gates.flatten(0, 1).T}
    if name.startswith("qwen3"):
        norms = {"query": attention.q_norm, "key": attention.k_norm}
        given |= {f"{role}_gain": of(norm.weight) + plus for role, norm in norms.items()}
    if name.startswith("gpt_oss"):
        given |= {f"b_{role}": of(each.bias) for role, each in matrices.items()}
        given["sink_logits"] = of(attention.sinks)
    return given


def ours(name, given, embeddings):
    """The same by `attend_vectors`, down to a `loss`."""
    window = (WINDOW - 1 if name.endswith("window") else None, None)
    trace = attend_vectors(
        embeddings, **given, n_heads=HEADS, n_kv_heads=KV_HEADS, causal=True,
        norm_epsilon=1e-3 if "query_gain" in given else 1e-6,
        rotary_base=None if name.endswith("without") else BASE, window=window,
        rotary_columns=PART if "W_gate" in given else None,
    )  # fmt: skip
    told(trace, trace["output"], ops.Given.of(PROBE))
    return trace


@pytest.mark.parametrize("name", MODELS)
def test_a_layer_is_that_of_transformers_there_and_back(name):
    attention, rotary = reference(name)
    embeddings = random(N, D_MODEL, seed=3).requires_grad_()
    away = torch.arange(N)[:, None] - torch.arange(N)
    hidden = (away < 0) | (away >= (WINDOW if name.endswith("window") else N))
    mask = torch.zeros(N, N).masked_fill(hidden, -torch.inf)[None, None]
    places = rotary(embeddings[None], torch.arange(N)[None])
    made, weights = attention(embeddings[None], places, attention_mask=mask)
    (made[0] * PROBE).sum().backward()
    plus = 0.0 if name == "qwen3" else 1.0
    trace = ours(name, given_of(name, attention, plus, torch.Tensor.detach), embeddings)
    same(trace["output"].value, made[0])
    same(trace["head_weights"].value, weights[0])
    slopes = given_of(name, attention, 0.0, lambda tensor: tensor.grad)
    slopes = {each.replace("_gain", "_norm_gain"): slope for each, slope in slopes.items()}
    learned = backward(trace, "loss", ["embeddings", *slopes])
    for step, slope in {"embeddings": embeddings.grad, **slopes}.items():
        same(learned[f"grad_{step}"].value, slope.reshape(trace[step].value.shape), 2e-5)
    taken_apart_and_run_anew(trace, every=97)


@pytest.mark.parametrize("front", [(), (2,), (2, 3)], ids=str)
def test_a_sink_of_0_is_the_softmax_off_by_one(front):
    queries, keys, values = (random(*front, n, 5, seed=n) for n in (3, 7, 11))
    values = values[..., :7, :]
    trace = attend_tensors(queries, keys, values, sink_logits=0, causal=True, corner="bottom_right")
    powers = trace["masked_scores"].value.exp()
    off_by_one = powers / (1 + powers.sum(-1, keepdim=True))
    same(trace["weights"].value, off_by_one)
    same(trace["context_vectors"].value, off_by_one @ values)
    assert trace.labels("key_or_sink")[-1] == "sink"
    lights = {each.name: each for each in lights_of(trace, trace["mask"].value)}
    assert lights["rows_sum_to_1"].holds is None
    assert "a sink takes the rest" in lights["rows_sum_to_1"].evidence
    assert [each for each in lights.values() if each.holds is False] == []
    plain = attend_tensors(queries, keys, values, causal=True, corner="bottom_right")
    far = attend_tensors(queries, keys, values, sink_logits=-99, causal=True, corner="bottom_right")
    same(far["weights"].value, plain["weights"].value)


def test_heads_have_sinks_wherever_their_axis_stands():
    three, sinks = [random(3, 2, 5, 7, seed=n) for n in range(3)], random(3)
    first = attend_tensors(*three, lead=("head", "batch"), sink_logits=sinks)
    turned = [each.transpose(0, 1) for each in three]
    last = attend_tensors(*turned, lead=("batch", "head"), sink_logits=sinks.numpy())
    same(first["weights"].value.transpose(0, 1), last["weights"].value)
