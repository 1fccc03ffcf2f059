"""A transformer block: torch's own layers with the same weights, each cell, the residual stream."""

import itertools
import re

import pytest
import torch
from torch import nn

from attention_core import add_block, contributions, decode_block, encode_block, from_torch_layer
from attention_core.experiments.depth import gradient_norms, stack
from attention_core.mechanism.block import ORDERS, BlockOptions
from attention_core.mechanism.block_weights import axes_of_weights
from attention_core.mechanism.options import Options
from attention_core.recipes import ROLES
from checks import by_autograd, random, taken_apart_and_run_anew

N_TEXTS, N_TOKENS, N_OTHERS, N_HEADS, D_HEAD, D_HIDDEN = 2, 5, 11, 3, 7, 13
D_MODEL = N_HEADS * D_HEAD
BUILT = list(itertools.product(["after", "before"], ["relu", "gelu"]))
PADDED = (4, 2)


def largest_gap(left, right):
    assert left.shape == right.shape
    return (left - right).abs().max().item()


def torch_s_layer(kind, norm="after", activation="relu", **more):
    """One of torch's layers, of which no parameter is 0 or 1, and no two are alike."""
    more |= {"activation": activation, "batch_first": True, "norm_first": norm == "before"}
    layer = kind(D_MODEL, N_HEADS, D_HIDDEN, dropout=0.0, **more)
    with torch.no_grad():
        for at, parameter in enumerate(layer.parameters()):
            parameter.copy_(random(*parameter.shape, seed=at) / 3)
    return layer  # not in eval mode, in which torch leaves padded rows at 0


VECTORS = random(N_TEXTS, N_TOKENS, D_MODEL, seed=97)
MEMORY = random(N_TEXTS, N_OTHERS, D_MODEL, seed=98)
FUTURE = torch.ones(N_TOKENS, N_TOKENS, dtype=torch.bool).triu(1)
PADDING = torch.arange(N_TOKENS) >= torch.tensor(PADDED)[:, None]
MEMORY_PADDING = torch.arange(N_OTHERS) >= torch.tensor([[10], [3]])


# --- torch's own layers ---------------------------------------------------------------------------
@torch.no_grad()
@pytest.mark.parametrize(("norm", "activation"), BUILT)
def test_an_encoder_s_block_is_torch_s_own_layer(norm, activation):
    layer = torch_s_layer(nn.TransformerEncoderLayer, norm, activation)
    ours = from_torch_layer(layer)
    made = encode_block(VECTORS, **ours)["output"]
    assert largest_gap(made.value, layer(VECTORS)) < 1e-5
    assert made.axes == ("batch", "token", "d_model")
    made = encode_block(VECTORS, **ours, causal=True, lengths=PADDED)
    want = layer(VECTORS, src_mask=FUTURE, src_key_padding_mask=PADDING)
    assert largest_gap(made["output"].value, want) < 1e-5
    assert made["mask"].axes == ("batch", "one_head", "query", "key")
    single = encode_block(VECTORS[0], **ours, mask=~FUTURE.T)
    assert largest_gap(single["output"].value, layer(VECTORS[0], src_mask=FUTURE.T)) < 1e-5


@torch.no_grad()
@pytest.mark.parametrize(("norm", "activation"), BUILT)
def test_a_decoder_s_block_is_torch_s_own_layer(norm, activation):
    layer = torch_s_layer(nn.TransformerDecoderLayer, norm, activation)
    ours = from_torch_layer(layer)
    made = decode_block(VECTORS, MEMORY, **ours)
    assert largest_gap(made["output"].value, layer(VECTORS, MEMORY, tgt_mask=FUTURE)) < 1e-5
    made = decode_block(
        VECTORS, MEMORY, **ours, causal=False, lengths=PADDED, memory_lengths=[10, 3]
    )
    want = layer(VECTORS, MEMORY, None, None, PADDING, MEMORY_PADDING)
    assert largest_gap(made["output"].value, want) < 1e-5
    seen = random(N_TOKENS, N_OTHERS) > -0.5
    single = decode_block(VECTORS[1], MEMORY[1], **ours, memory_mask=seen)
    want = layer(VECTORS[1], MEMORY[1], tgt_mask=FUTURE, memory_mask=~seen)
    assert largest_gap(single["output"].value, want) < 1e-5
    assert single["cross_head_weights"].axes == ("head", "query", "other_key")


@torch.no_grad()
@pytest.mark.parametrize("approximate", ["tanh", "none"])
def test_a_layer_without_biases_another_epsilon_and_a_module_as_its_activation(approximate):
    gelu = nn.GELU(approximate=approximate)
    layer = torch_s_layer(
        nn.TransformerEncoderLayer, "before", gelu, bias=False, layer_norm_eps=0.25
    )
    ours = from_torch_layer(layer)
    assert not [name for name in ours["weights"] if name.startswith("b_") or "bias" in name]
    assert largest_gap(encode_block(VECTORS, **ours)["output"].value, layer(VECTORS)) < 1e-5


@torch.no_grad()
def test_blocks_one_after_another_are_torch_s_encoder_and_their_stream_is_one_sum():
    layers = [torch_s_layer(nn.TransformerEncoderLayer, "before") for _ in range(2)]
    layers[1].linear1.weight.mul_(-1)
    first = encode_block(VECTORS[0], **from_torch_layer(layers[0]))
    of_second = encode_block(VECTORS[0], **from_torch_layer(layers[1]))
    weights = {
        name: first.step(f"next_{name}", step.operation, axes=step.axes)
        for name, step in of_second.items()
        if name in axes_of_weights()
    }
    shape = BlockOptions(N_HEADS, "before")
    last = add_block(first, first["output"], weights, shape, Options(), prefix="next_")
    assert largest_gap(last.value, layers[1](layers[0](VECTORS[:1]))[0]) < 1e-5
    found = contributions(first, 3, "next_output")
    parts = ["attention_output", "feed_forward_output"]
    assert list(found) == ["embeddings", *parts, *(f"next_{part}" for part in parts)]
    assert largest_gap(sum(found.values()), last.value[3].double()) < 1e-5


# --- every cell, the program, the stream ----------------------------------------------------------
def small(kind="decoder", norm="after", **more):
    """A block with as few cells as prime and unequal sizes allow."""
    given = {"n_heads": 2, "d_hidden": 7, "norm": norm, "activation": "gelu", "seed": 5} | more
    vectors = random(3, 4, seed=1)
    if kind == "encoder":
        return encode_block(vectors, **given, tokens=list("abc"))
    memory = random(5, 4, seed=2)
    return decode_block(vectors, memory, **given, tokens=list("abc"), other_tokens=list("vwxyz"))


TRACES = {
    "decoder": lambda: small(dropout=0.25),
    "encoder": lambda: small("encoder", "before", activation="gelu_tanh"),
    "batch": lambda: encode_block(VECTORS, n_heads=N_HEADS, d_hidden=2, lengths=PADDED),
}


@pytest.mark.parametrize("name", TRACES)
def test_every_step_can_be_taken_apart_and_runs_anew(name):
    taken_apart_and_run_anew(TRACES[name](), every=5 if name == "batch" else 1)


def test_the_keys_of_a_block_are_named_by_their_sentence():
    assert small().labels("key") == ("a", "b", "c")
    assert small().labels("other_key") == ("v", "w", "x", "y", "z")


@pytest.mark.parametrize("norm", ["after", "before"])
@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_what_the_parts_brought_adds_up_to_the_output(kind, norm):
    trace = small(kind, norm)
    added = ["attention", "cross", "feed_forward"] if kind == "decoder" else []
    added = added or ["attention", "feed_forward"]
    found = contributions(trace, 2)
    wanted = [f"{part}_output" for part in added]
    assert [name for name in found if not name.endswith("_bias")] == ["embeddings", *wanted]
    assert (len(found) > 1 + len(added)) == (norm == "after")  # norms on the way have a bias
    assert largest_gap(sum(found.values()), trace["output"].value[2].double()) < 1e-6
    if norm == "before":
        assert torch.equal(found["attention_output"], trace["attention_output"].value[2].double())
    read = "embeddings"  # the stream that a part is added to
    for name in added:
        is_last_sum = norm == "before" and name == added[-1]
        stream, part = trace["output" if is_last_sum else f"after_{name}"].inputs
        assert (stream.name, part.name) == (read, f"{name}_output")
        read = f"after_{name}" if norm == "before" else f"{name}_normed"
    gains = from_torch_layer(torch_s_layer(nn.TransformerEncoderLayer, norm))
    batch = encode_block(VECTORS, **gains)
    parts = contributions(batch, (1, 4))
    assert largest_gap(sum(parts.values()), batch["output"].value[1, 4].double()) < 1e-5


def test_drawn_weights_follow_their_seed_and_dropout_is_off_until_asked_for():
    one, same, other = small(), small(), small(seed=6)
    assert torch.equal(one["output"].value, same["output"].value)
    assert not torch.equal(one["output"].value, other["output"].value)
    assert not [name for name in one if "kept" in name or "dropped" in name]
    fan_in = {"W_1": 4, "b_1": 4, "W_2": 7, "b_2": 7}
    for name, width in fan_in.items():
        assert 0 < one[name].value.abs().max() <= width**-0.5
    start = nn.MultiheadAttention(4, 2)
    assert not start.in_proj_bias.any()
    assert not start.out_proj.bias.any()
    biases = [f"{prefix}b_{role}" for prefix in ("", "cross_") for role in (*ROLES, "output")]
    assert not any(one[name].value.any() for name in biases), "as torch starts them"
    dropped = small(dropout=0.5, dropout_seed=3)
    names = ["head_weights", "cross_head_weights", "attention_output", "cross_output"]
    for name in [*names, "activated", "feed_forward_output"]:
        own = name.replace("head_weights", "head_dropped_weights")
        own = own if own != name else f"dropped_{name}"
        left = dropped[own].value
        kept = left != 0
        assert torch.allclose(left[kept], 2 * dropped[name].value[kept])
        assert not kept.all()
    draws = [step.value for name, step in dropped.items() if "kept" in name]
    firsts = [draw.flatten()[0].item() for draw in draws]
    assert len(set(firsts)) == len(draws) == 6


# --- what does not fit ----------------------------------------------------------------------------
GOOD = {name: torch.ones(4, 4) for name in ("W_query", "W_key", "W_value", "W_output")}
GOOD |= {"W_1": torch.ones(4, 7), "W_2": torch.ones(7, 4)}
REFUSED = {
    "no matrix": ({"weights": {**GOOD, "W_1": None}}, "W_1 is no tensor"),
    "missing": ({"weights": {k: v for k, v in GOOD.items() if k != "W_2"}}, "W_2 is missing"),
    "unknown": ({"weights": GOOD | {"W_3": torch.ones(4)}}, "a block has no weights 'W_3'"),
    "of a decoder": ({"weights": GOOD | {"cross_W_key": torch.ones(4, 4)}}, "no weights 'cross_W"),
    "rows": (
        {"weights": GOOD | {"W_1": torch.ones(5, 7)}},
        "axis 'd_model' is 5 long in 'W_1' but 4",
    ),
    "a lone bias": ({"weights": GOOD | {"attention_norm_bias": torch.ones(4)}}, "the gain comes"),
    "double": ({"weights": GOOD | {"W_1": torch.ones(4, 7).half()}}, "W_1 has numbers of float16"),
    "heads": ({"weights": GOOD, "n_heads": 3}, "4 columns of queries cannot be shared evenly"),
    "drawn heads": ({"n_heads": 3}, "d_model = 4 cannot be shared evenly among 3 heads"),
    "no heads": ({"n_heads": 0}, "n_heads is 0"),
    "hidden": ({"d_hidden": 0}, "d_hidden is 0"),
    "two sources": ({"weights": GOOD, "d_hidden": 7}, "d_hidden is for weights that are drawn"),
    "order": ({"norm": "pre"}, "norm is 'pre', but must be 'after' or 'before'"),
    "activation": ({"activation": "swish"}, "activation is 'swish', but must be 'relu' or 'gelu'"),
    "epsilon": ({"epsilon": -1.0}, "epsilon is -1"),
    "dropout": ({"dropout": 1.0}, "dropout of 1.0"),
    "option": ({"casual": True}, "Options has no argument 'casual'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_in_words(name):
    given, words = REFUSED[name]
    with pytest.raises(ValueError, match=re.escape(words)):
        encode_block(torch.ones(3, 4), **given)


def test_layers_that_are_computed_in_another_way_are_refused_in_words():
    with pytest.raises(ValueError, match="this is a Linear: give an nn"):
        from_torch_layer(nn.Linear(3, 3))
    with pytest.raises(ValueError, match="the layer's activation is tanh"):
        from_torch_layer(torch_s_layer(nn.TransformerEncoderLayer, activation=torch.tanh))
    layer = torch_s_layer(nn.TransformerDecoderLayer)
    layer.norm2.eps = 0.5
    with pytest.raises(ValueError, match="different numbers for eps"):
        from_torch_layer(layer)
    layer.norm2 = nn.RMSNorm(D_MODEL)
    with pytest.raises(ValueError, match="has a RMSNorm"):
        from_torch_layer(layer)
    with pytest.raises(ValueError, match="memory is 1 × 2 × 3: it needs 2 axes"):
        decode_block(torch.ones(3, 4), torch.ones(1, 2, 3))


# --- a stack of blocks, and what of a gradient comes back through it ------------------------------
FEW = torch.randn(5, 6, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("norm", ORDERS)
def test_what_comes_back_is_as_autograd(norm, residual):
    shape = BlockOptions(n_heads=2, norm=norm, residual=residual)
    trace, streams = stack(FEW, 3, shape, d_hidden=7, causal=True, seed=11)
    found = gradient_norms(FEW, 3, shape, d_hidden=7, causal=True, seed=11)
    assert len(found[residual]) == len(streams) == 4
    gradients = by_autograd(trace, "loss", [each.name for each in streams])
    norms = torch.stack([each.double().norm() for each in gradients])
    assert found[residual] == pytest.approx((norms / norms[-1]).tolist(), rel=1e-4)


def test_a_stack_of_one_token_has_a_gradient_and_one_of_no_block_is_refused():
    found = gradient_norms(FEW[:1], 2, BlockOptions(), seed=1)
    assert found[True][-1] == found[False][-1] == 1.0
    with pytest.raises(ValueError, match="0 blocks"):
        stack(FEW, 0, BlockOptions())


def test_each_block_of_a_stack_has_matrices_of_a_seed_of_its_own():
    shape = BlockOptions(2, "before")
    trace, _ = stack(FEW, 3, shape, d_hidden=7, seed=11)
    for at in range(3):
        alone, _ = stack(FEW, 1, shape, d_hidden=7, seed=11 + at)
        names = [name for name in alone if "W_" in name]
        assert len(names) == 6
        for name in names:
            mine = trace[name.replace("block_1_", f"block_{at + 1}_")]
            assert mine.value.equal(alone[name].value)
