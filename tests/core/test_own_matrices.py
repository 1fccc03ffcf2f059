"""Attention with anyone's matrices: as torch's own layer computes it, or refused in words."""

import re

import pytest
import torch
from torch import nn

from attention_core import attend_vectors, backward
from checks import random, run_anew, same, taken_apart_and_run_anew, told

N_TEXTS, N_TOKENS, N_OTHERS, N_HEADS, D_HEAD, D_OTHER = 2, 5, 7, 3, 4, 11
D_MODEL = N_HEADS * D_HEAD


def layer(**widths):
    """torch's own layer with random numbers, and its matrices and biases as ours."""
    made = nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True, **widths)
    with torch.no_grad():
        for at, parameter in enumerate(made.parameters()):
            parameter.copy_(random(*parameter.shape, seed=at) / 2)
    matrices = made.in_proj_weight.chunk(3) if made.in_proj_weight is not None else ()
    matrices = matrices or (made.q_proj_weight, made.k_proj_weight, made.v_proj_weight)
    biases = made.in_proj_bias.chunk(3)
    ours = {f"b_{role}": bias for role, bias in zip(("query", "key", "value"), biases, strict=True)}
    ours |= {"n_heads": N_HEADS, "b_output": made.out_proj.bias}
    return made, [each.T for each in (*matrices, made.out_proj.weight)], ours


@pytest.mark.parametrize("front", [(), (N_TEXTS,)], ids=["one text", "batch"])
def test_self_attention_is_torch_s_own_layer(front):
    theirs, matrices, ours = layer()
    vectors = random(*front, N_TOKENS, D_MODEL, seed=9)
    hidden = torch.ones(N_TOKENS, N_TOKENS, dtype=torch.bool).triu(1)
    want, weights = theirs(vectors, vectors, vectors, attn_mask=hidden, average_attn_weights=False)
    trace = attend_vectors(vectors, *matrices, **ours, causal=True)
    same(trace["output"].value, want)
    same(trace["head_weights"].value, weights)


def test_cross_attention_with_padding_is_torch_s_own_layer():
    theirs, matrices, ours = layer(kdim=D_OTHER, vdim=D_OTHER)
    vectors = random(N_TEXTS, N_TOKENS, D_MODEL, seed=9)
    others = random(N_TEXTS, N_OTHERS, D_OTHER, seed=10)
    padding = torch.arange(N_OTHERS) >= torch.tensor([[4], [6]])
    want, _ = theirs(vectors, others, others, key_padding_mask=padding)
    trace = attend_vectors(vectors, *matrices, **ours, others=others, lengths=[4, 6])
    same(trace["output"].value, want)


def grouped(n_kv):
    widths = (6 * D_HEAD, n_kv * D_HEAD, n_kv * D_HEAD)
    matrices = [random(13, width, seed=at) / 3 for at, width in enumerate(widths)]
    return [*matrices, random(6 * D_HEAD, 17, seed=5)]


@pytest.mark.parametrize("n_kv", [1, 2, 6])
@pytest.mark.parametrize("front", [(), (N_TEXTS,)], ids=["one text", "batch"])
def test_what_was_there_before_and_other_texts_change_no_grouped_heads_that_are_turned(n_kv, front):
    vectors, matrices = random(*front, N_TOKENS, 13, seed=9), grouped(n_kv)
    options = {"n_heads": 6, "n_kv_heads": n_kv, "rotary_base": 50.0, "causal": True}
    whole = attend_vectors(vectors, *matrices, **options)
    past = {
        "past_keys": whole["turned_keys"].value[..., :3, :],
        "past_values": whole["head_values"].value[..., :3, :],
    }
    last = attend_vectors(vectors[..., 3:, :], *matrices, **options, **past)
    same(last["output"].value, whole["output"].value[..., 3:, :])
    for text in range(len(vectors) if front else 0):
        alone = attend_vectors(vectors[text], *matrices, **options)
        same(alone["output"].value, whole["output"].value[text])


def test_every_step_can_be_taken_apart_and_runs_anew():
    biases = {f"b_{role}": random(n) for role, n in {"query": 24, "key": 8, "output": 17}.items()}
    past = {"past_keys": random(2, 2, 3, D_HEAD), "past_values": random(2, 2, 3, D_HEAD)}
    options = {"n_heads": 6, "n_kv_heads": 2, "rotary_base": 50.0, "causal": True}
    vectors = random(2, 3, 13, seed=9)
    trace = attend_vectors(vectors, *grouped(2), **options, **past, **biases, tokens=list("abc"))
    assert trace.labels("query") == ("a", "b", "c")
    taken_apart_and_run_anew(trace, every=11)


X, W = torch.ones(5, 3), torch.ones(3, 4)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_in_16_bits_vectors_are_turned_in_float32_and_rounded_once(dtype):
    """As Llama's own code has it: xq.float() times e^(i·angle), then type_as(xq)."""
    shapes = [(5, 7), (7, 8), (7, 8), (7, 8)]
    vectors, *matrices = (random(*shape, seed=at).to(dtype) for at, shape in enumerate(shapes))
    trace = attend_vectors(vectors, *matrices, n_heads=2, rotary_base=50.0, causal=True)
    pairs = torch.complex(*trace["head_queries"].value.float().chunk(2, dim=-1))
    angles = torch.outer(torch.arange(5), 50.0 ** (-torch.arange(2) / 2))
    rotated = torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles))
    want = torch.cat(rotated.unbind(-1), dim=-1)
    eps = torch.finfo(dtype).eps
    assert trace["turned_queries"].value.dtype == dtype
    assert torch.allclose(trace["turned_queries"].value.float(), want, rtol=eps, atol=1e-5)
    given = (trace[name].value for name in ("turned_queries", "turned_keys", "head_values"))
    context = torch.nn.functional.scaled_dot_product_attention(*given, is_causal=True)
    ours = trace["head_context_vectors"].value
    assert ours.dtype == dtype
    assert torch.allclose(ours, context, rtol=8 * eps, atol=8 * eps)
    run_anew(trace)


REFUSED = [
    ("W_query is None, but must be a tensor or a list", (X, None, W, W), {}),
    ("W_query is 4 × 3, but the vectors before it are 3", (X, torch.ones(4, 3), W, W), {}),
    ("W_key is 3 × 4, but the vectors", (X, W, W, W), {"others": torch.ones(5, 7)}),
    ("a head's query is 4 wide and its key 2: they are", (X, W, torch.ones(3, 2), W), {}),
    ("4 columns of queries cannot be shared evenly among", (X, W, W, W), {"n_heads": 3}),
    ("5 columns of values cannot be shared evenly among 2 heads", (X, W, W, torch.ones(3, 5)),
     {"n_heads": 2}),
    ("4 query heads cannot be shared", (X, W, W, W), {"n_heads": 4, "n_kv_heads": 3}),
    ("n_heads is 0, but must be a whole number of 1", (X, W, W, W), {"n_heads": 0}),
    ("W_output is 3 × 2, but the vectors before it", (X, W, W, W, torch.ones(3, 2)), {}),
    ("b_key has 1 numbers, but W_key has 4 columns", (X, W, W, W), {"b_key": [1.0]}),
    ("b_output is there without W_output: a bias", (X, W, W, W), {"b_output": [1.0]}),
    ("b_key is 1 × 1: it needs 1 axis, not 2", (X, W, W, W), {"b_key": [[1.0]]}),
    ("rotary positions turn pairs of col", (X, W[:, :3], W[:, :3], W), {"rotary_base": 9.0}),
    ("rotary_base is 0.0, but must be a number from 1e-6", (X, W, W, W), {"rotary_base": 0.0}),
    ("embeddings are 2 × 5 × 3 and other_embeddings 5 × 3: both need the same batch in front",
     (torch.ones(2, 5, 3), W, W, W), {"others": X}),
    ("embeddings has numbers of float16 and W_query of float32", (X.half(), W, W, W), {}),
    ("past keys and past values belong together: give", (X, W, W, W), {"past_keys": W}),
    ("past_keys is 5 × 3, but must fit the new ones, 5 × 4, in all but their number", (X, W, W, W),
     {"past_keys": X, "past_values": X}),
    ("norm_epsilon is there without query_gain and key_gain", (X, W, W, W), {"norm_epsilon": 1e-3}),
    ("rotary_columns are there without a rotary_base", (X, W, W, W), {"rotary_columns": 2}),
    ("100000 in sink_logits is more than float16 holds", (X.half(), *[W.half()] * 3),
     {"sink_logits": 1e5}),
    ("1e+39 in sink_logits is more than float32 holds", (X, W, W, W), {"sink_logits": 1e39}),
    ("there are 2 sink_logits, but 1 head: each has", (X, W, W, W), {"sink_logits": [0, 1]}),
    ("sink_logits is 'high', but must be a finite number, or one for each head", (X, W, W, W),
     {"sink_logits": "high"}),
    *((f"rotary_columns is {columns}, but must be an even number from 2 to 3, the width of a head",
       (X, *[torch.ones(3, 6)] * 3), {"n_heads": 2, "rotary_base": 7.0, "rotary_columns": columns})
      for columns in (3, 4, 0)),
    ("query_gain and key_gain belong together", (X, W, W, W), {"query_gain": [1.0] * 4}),
    ("query_gain has 2 numbers, but a head is 4 wide", (X, W, W, W),
     {"query_gain": [1.0, 1.0], "key_gain": [1.0, 1.0]}),
    ("W_gate has 3 columns, but what it opens and closes is 4 wide", (X, W, W, W),
     {"W_gate": W[:, :3]}),
    ("W_gate is 4 × 4, but the vectors before it are 3", (X, W, W, W),
     {"W_gate": torch.ones(4, 4)}),
    ("norm_epsilon is -1, but must be 0 or a small", (X, W, W, W), {"norm_epsilon": -1}),
    ("there is no option 'heads': there are scale, mask,", (X, W, W, W), {"heads": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("said", "given", "options"), REFUSED)
def test_what_does_not_fit_is_refused_in_words(said, given, options):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}"):
        attend_vectors(*given, **options)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("size", [1, 300])
def test_heads_of_16_bits_are_normed_as_by_qwen3_itself(dtype, size):
    """In float32, so that no square is larger than what float16 holds."""
    qwen3 = pytest.importorskip("transformers.models.qwen3.modeling_qwen3")
    vectors = (size * random(N_TOKENS, D_MODEL)).to(dtype)
    matrices = [random(D_MODEL, D_MODEL, seed=at).to(dtype) for at in range(3)]
    norm = qwen3.Qwen3RMSNorm(D_HEAD).to(dtype)
    norm.weight.data = random(D_HEAD).to(dtype)
    gains = dict.fromkeys(("query_gain", "key_gain"), norm.weight)
    trace = attend_vectors(vectors, *matrices, n_heads=N_HEADS, **gains, rotary_base=9.0)
    for each in ("queries", "keys"):
        assert trace[f"normed_{each}"].value.equal(norm(trace[f"head_{each}"].value))
    taken_apart_and_run_anew(trace)
    told(trace, trace["concat"])
    learned = ("embeddings", "W_query", "key_norm_gain")
    found = backward(trace, "loss", learned)
    assert {found[f"grad_{each}"].value.dtype for each in learned} == {dtype}
